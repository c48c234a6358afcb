"""Updates of a set to a changed template: which pods and replicas are replaced next."""
