"""The manifests that install Grove: custom resource definitions, and where their pod specs come from."""
