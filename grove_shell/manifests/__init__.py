"""What has to be in a cluster before Grove is: manifests made from the models that read what people write.

``definitions`` has the custom resource definitions, made of ``specs`` and ``statuses``; ``structural`` turns models
into schemas; ``rules`` says what the API server can check by itself; ``strictness`` judges a manifest by these schemas.

``pod_spec.json`` is the PodSpec of Kubernetes 1.35 (Apache-2.0), reduced; see ``tests/manifests/reduce_pod_spec.py``.
"""
