"""One daemon of a ComputeDomain as a process, which carries out the decisions of the core against an API server."""
