"""What may never happen, written apart from the core, on the history of the world."""
