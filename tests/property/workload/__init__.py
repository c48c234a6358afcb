"""Laws of the workload area (specs/workload.md)."""
