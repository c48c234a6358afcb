"""Configuration files of the operator and the webhooks: strict, with all mistakes reported at once."""
