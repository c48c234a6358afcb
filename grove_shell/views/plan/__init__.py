"""Pages of a plan and of what an edit does, and the picture of its terminations."""
