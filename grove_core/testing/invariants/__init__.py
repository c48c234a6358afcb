"""The invariants of gang termination, written from the specification: no decision of the core is imported here."""
