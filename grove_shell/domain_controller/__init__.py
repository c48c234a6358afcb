"""The controller of ComputeDomains: left-over entries go, the summary and the status are kept."""
