"""The JSON plan, written and read back."""
