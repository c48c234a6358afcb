"""Laws: what holds for every world that Hypothesis can think of."""
