"""Pods of a PodClique: free indices, creation, manifests, scheduling gates."""
