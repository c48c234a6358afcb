"""ComputeDomains for replicas by the design documents (specs/mnnvl.md)."""
