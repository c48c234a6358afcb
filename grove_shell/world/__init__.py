"""Worlds: what can be observed and acted upon."""
