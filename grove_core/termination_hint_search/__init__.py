"""Hints at what would avert a termination, each verified by a new judgement (PL-040), and what is behind it."""
