"""Topologies: which one a set uses, the constraints of its PodGangs, and changes of topologies (specs/topology.md)."""
