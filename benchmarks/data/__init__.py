"""Synthetic clusters for benchmarks: their objects as facts, as objects of the API, as lists."""
