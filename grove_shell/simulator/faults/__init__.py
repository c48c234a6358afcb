"""Fault injection: faults of the operator, its caches and its connection, and writes of other clients."""
