"""The gap: wants against what is. Knows no area."""
