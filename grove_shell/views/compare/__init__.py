"""Pages of two rule sets, or two states, side by side."""
