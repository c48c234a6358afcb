"""What follows from the template of a set: expected replicas, names, hashes, start-up order, environment."""
