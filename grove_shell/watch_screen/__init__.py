"""The screen of ``grove watch``: the plan of a cluster or of files that are followed, with clocks that run."""
