"""Laws of the workload of a set by the Go operator (WF)."""
