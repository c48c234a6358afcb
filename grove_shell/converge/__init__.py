"""How long the daemons of a ComputeDomain need to find each other: experiments, their results, and who runs them."""
