"""One daemon of a ComputeDomain as a process: the decisions of the core, carried out against a real API server."""
