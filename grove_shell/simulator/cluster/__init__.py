"""The simulated cluster: an API server in memory, its admission, its nodes, and the changes of its objects."""
