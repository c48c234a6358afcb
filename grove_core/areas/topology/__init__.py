"""Topologies: which one a set uses, what its gangs are told of it, and who may change it (specs/topology.md)."""
