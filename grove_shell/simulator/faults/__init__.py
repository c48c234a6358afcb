"""Fault injection: what goes wrong between the operator and the API server, and what other clients write."""
