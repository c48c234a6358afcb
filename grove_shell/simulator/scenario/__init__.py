"""The scenario file: its format, its reader, and the check of the names in it."""
