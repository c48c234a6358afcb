"""Decision logs: what an operator saw and decided, written so that it can be decided again, anywhere."""
