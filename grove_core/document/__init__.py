"""The JSON plan: its format, writing and reading."""
