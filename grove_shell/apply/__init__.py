"""Writes: steps as requests to an API server, and its responses as attempts."""
