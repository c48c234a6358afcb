"""Laws of the existing operator's gang termination (GF)."""
