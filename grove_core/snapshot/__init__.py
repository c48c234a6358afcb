"""Snapshots: everything that a decision may look at, and the indexed cluster that they are taken from."""
