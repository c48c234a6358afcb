"""Literal kubectl output of a cluster that runs the existing Grove operator, in nine states."""
