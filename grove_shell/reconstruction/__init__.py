"""Rebuilds past states of sets from audit logs and dumps, and names the causes of deletions (AF)."""
