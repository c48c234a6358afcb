"""Convergence on a real API server: a control plane is started, runs are made, and what the server counted is kept."""
