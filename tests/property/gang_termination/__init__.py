"""Laws of gang termination."""
