"""Nouns: the only place where the JSON of a cluster becomes objects. Everything behind this line is trusted."""
