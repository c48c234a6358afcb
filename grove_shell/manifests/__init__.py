"""The manifests of an installation, made from the models that parse user input.

``definitions`` has the custom resource definitions, made of ``spec_schemas`` and ``status_schemas``; ``schemas``
converts models to schemas; ``validation_rules`` lists what the API server checks itself; ``schema_validation``
validates manifests.

``pod_spec.json`` is the PodSpec of Kubernetes 1.35 (Apache-2.0), reduced; see ``tests/manifests/reduce_pod_spec.py``.
"""
