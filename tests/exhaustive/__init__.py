"""Every state of a small scope: the decisions of gang termination, compared with a specification of their own."""
