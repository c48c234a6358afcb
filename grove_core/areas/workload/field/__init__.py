"""The workload of a set by the rules of the Go operator (WF). Read specs/workload_field.md first."""
