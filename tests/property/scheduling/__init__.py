"""Laws of the scheduling area (SC)."""
