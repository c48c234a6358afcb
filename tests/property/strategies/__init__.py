"""Clusters by construction: one module for each noun, all of them decoded from a tape of bytes."""
