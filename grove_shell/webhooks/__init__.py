"""Admission in a cluster: the defaults of a PodCliqueSet, and whether it is taken, over HTTPS.

``review`` reads and writes what an API server and a webhook say to each other, ``judging`` decides by the core alone,
``names`` is the copy of the other sets. ``certificates`` makes certificates, ``chains`` says when they are due,
``keeping`` has them shown and trusted.
"""
