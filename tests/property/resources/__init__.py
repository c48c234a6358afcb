"""Reading of the objects of a cluster, and the report of their problems."""
