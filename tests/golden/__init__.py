"""Stories: folders a user could have sent us, with the plan they must give, and the trace from rule to test."""
