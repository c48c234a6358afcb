"""The API server in memory against a real one: the same requests, and what both made of them, as it was recorded."""
