"""Laws of the workload area."""
