"""Manifests of the objects of a set as the Go operator writes them: one module for each kind."""
