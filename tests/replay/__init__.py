"""Decision logs: written, read, and decided again."""
