"""Laws of the Go operator's gang termination (GF)."""
