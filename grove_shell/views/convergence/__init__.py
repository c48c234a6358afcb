"""Results of convergence runs as tables and pictures."""
