"""How daemons of a ComputeDomain register, choose indices and exchange peer maps, and how stale entries are removed."""
