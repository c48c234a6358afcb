"""The objects of a set as a tree."""
