"""Decision logs: snapshots and plans of an operator, recorded so that they can be replayed."""
