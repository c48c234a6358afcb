"""Laws: what holds for every cluster that Hypothesis generates."""
