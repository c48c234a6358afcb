"""MNNVL by the Go operator: a ComputeDomain for each replica and group of cliques (specs/mnnvl_field.md)."""
