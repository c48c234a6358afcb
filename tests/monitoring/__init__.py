"""Alert rules and the dashboard."""
