"""MNNVL made by the operator: one ComputeDomain for each replica of a set (specs/mnnvl.md)."""
