"""Runs on a real API server: real daemons with real watches, counted by the daemons and by the server."""
