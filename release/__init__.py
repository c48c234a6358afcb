"""Makes what is released: a package of the repository, and of no wheel. ``python -m release`` makes all of it."""
