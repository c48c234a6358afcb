"""The operator's cache of the cluster, by the PodCliqueSet that an object belongs to."""
