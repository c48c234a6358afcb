"""Manifests of the objects of a set as the Go operator writes them (WF-100).

- ``labels_and_annotations``: labels that it writes, and labels or annotations that it replaces as a whole.
- ``podcliques_and_groups``, ``podgangs``, ``services_rbac_and_claims``, ``pods``: one kind each, with what is
  changed in an existing object. ``template_by_name_suffix`` finds the template that a PodClique is made from.
"""
