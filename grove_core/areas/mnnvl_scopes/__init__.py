"""MNNVL by annotation: sets choose which PodCliques share a ComputeDomain and its claim (specs/mnnvl_scopes.md)."""
