"""Which objects a set should consist of, which of them are missing, and which objects are too many."""
