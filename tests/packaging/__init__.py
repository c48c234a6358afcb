"""The distribution: its files and its version."""
