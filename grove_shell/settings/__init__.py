"""How the operator is set up, as people write it: strict, all mistakes at once."""
