"""Laws of the planner, part by part."""
