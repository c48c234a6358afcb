"""The manifests of an installation.

``definitions.json`` has the custom resource definitions; ``crd_definitions`` completes them with the schemas of models,
and ``schema_validation`` validates manifests by them. ``installation`` has options and roles, ``deployments`` the
rest. ``pod_spec.json`` is the PodSpec of Kubernetes 1.35 (Apache-2.0), see ``tests/manifests/reduce_pod_spec.py``.
"""
