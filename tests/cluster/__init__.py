"""A real control plane, and what is tested against it: see README.md beside this file."""
