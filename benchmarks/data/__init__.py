"""Synthetic clusters for benchmarks: who is in them, as facts, as objects of the API, as lists."""
