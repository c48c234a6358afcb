"""A cluster in virtual time: actors, events and faults, and what may never happen on the way."""
