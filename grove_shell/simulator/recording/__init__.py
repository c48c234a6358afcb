"""What a run records: history entries, the timeline, the state of each PodClique over time."""
