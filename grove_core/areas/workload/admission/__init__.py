"""Admission of a PodCliqueSet: one module for each part of the manifest, and the defaults that are filled in."""
