"""The objects of a PodCliqueSet, their updates and their deletion by the design documents (specs/workload.md)."""
