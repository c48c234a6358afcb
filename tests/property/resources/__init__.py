"""The nouns of the core: what is read from the objects of a cluster, and how their faults are reported."""
