"""The package for tests of users: its invariants can fail, and our rule sets keep them."""
