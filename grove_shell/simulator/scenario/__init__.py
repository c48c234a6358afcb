"""The scenario file: its format, its reader, and the check of its names."""
