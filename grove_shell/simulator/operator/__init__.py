"""The simulated operator process: its caches, its rounds, its connection to the API server."""
