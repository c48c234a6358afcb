"""The page of one object: its state, its steps and where its pods are."""
