"""Talking to a real API server: credentials, requests, lists and watches. Payloads travel as raw JSON."""
