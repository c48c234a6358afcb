"""The admission webhooks: they default and validate PodCliqueSets, and more kinds where a feature needs it, over HTTPS.

``admission_review`` parses and writes AdmissionReviews, and ``handlers`` has one function for each webhook.
``caches`` holds what they compare with. ``certificates`` makes certificates, ``certificate_chain`` decides when to
renew them, and ``certificate_rotation`` shares them between replicas and registers the authority.
"""
