"""Is the API server in memory honest? The same requests to it and to a real one, and what both made of them."""
