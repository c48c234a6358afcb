"""A client of the Kubernetes API: credentials, requests, lists and watches. Payloads travel as raw JSON."""
