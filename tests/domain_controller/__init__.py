"""The cache and the reconcile loop of the domain controller."""
