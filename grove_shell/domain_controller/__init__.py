"""The controller of ComputeDomains: it removes stale entries and writes the status of each domain."""
