"""The operator: caches that follow a cluster, rounds that act on it, one leader, and what it says of itself."""
