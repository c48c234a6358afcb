"""Words: no Kubernetes client, no Grove policy; imports nothing of ours."""
