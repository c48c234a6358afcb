"""Laws of the cluster in memory."""
