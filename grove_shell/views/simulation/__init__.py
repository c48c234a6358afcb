"""Pages and pictures of a simulated run, and the lines of any history."""
