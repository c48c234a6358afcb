"""The domain controller as a process: what it knows, and when it looks again."""
