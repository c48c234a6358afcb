"""A moment: all that a decision may look at."""
