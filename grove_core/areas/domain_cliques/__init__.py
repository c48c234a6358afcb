"""How the daemons of a ComputeDomain find each other: registration, indices, peer maps, and who cleans up."""
