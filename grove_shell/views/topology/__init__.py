"""Pages of topologies: users, placement, and whether gangs fit."""
