"""The program of the init container that lets pods start in order."""
