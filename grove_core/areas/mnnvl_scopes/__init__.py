"""MNNVL by annotation: sets choose who shares a ComputeDomain, and the claim to it (specs/mnnvl_scopes.md)."""
