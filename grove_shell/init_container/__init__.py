"""The program of the init container that makes a pod wait for the PodCliques it starts after."""
