"""Observe, reconcile, act, again."""
