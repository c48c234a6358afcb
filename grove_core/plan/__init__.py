"""Plans: the difference between wants and a snapshot, and forecasts of several rounds. Depends on no area."""
