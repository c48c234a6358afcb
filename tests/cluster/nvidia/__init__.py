"""What a cluster with NVIDIA's driver for ComputeDomains has and ours has not: kinds, a controller, devices."""
