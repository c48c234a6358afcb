"""Laws of what is known of a set."""
