"""Random events for a scenario, drawn from a seed."""
