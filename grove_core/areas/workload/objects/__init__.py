"""Manifests of the objects that a set consists of, except pods: one module for each kind."""
