"""The admission webhooks: they default and validate PodCliqueSets, and more kinds where a feature needs it, over HTTPS.

``admission_review`` parses and writes AdmissionReviews, and ``handlers`` has one function for each webhook.
``admission_cache`` holds what their verdicts depend on.
``certificates`` makes, reads and serves certificates; ``certificate_rotation`` shares them and registers the authority.
"""
