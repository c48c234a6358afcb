"""Nouns: the only place where JSON becomes objects. Everything behind this line is trusted."""
