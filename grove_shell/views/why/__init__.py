"""The page of past deletions and their causes."""
