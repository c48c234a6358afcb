"""Experiments: how long the daemons of a ComputeDomain need to find each other."""
