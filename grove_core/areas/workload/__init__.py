"""Workload (WL): the objects that a PodCliqueSet consists of, their updates, and their deletion (specs/workload.md).

The pipeline is that of every area: ``rules`` (clauses), ``verdicts`` (result types), ``judge`` (the entry point for
plans), ``wants`` (all wants of a set), ``findings`` (pods that wait for their start-up order), ``status`` (status
fields), ``teardown`` (deletes a set in order), ``admit`` (the entry point for admission). Beside it:

- ``context`` indexes a snapshot. ``expected_replicas`` is the tree of expected objects, ``set_objects`` every object
  that a set should have, ``surplus`` those that are too many.
- ``template_hash`` and ``revision``: is a clique of the present template?
- ``objects``: ``manifests`` (what all have in common), ``podcliques_and_groups``, ``podgangs``, ``service_and_rbac``,
  ``resource_claims``.
- ``pods``: ``slots`` (free indices, excess pods), ``creation`` (which pods are created now), ``manifest``,
  ``scheduling_gates``.
- ``rolling_update``: ``judge`` (the update of a set), ``clique`` and ``scaling_group`` (one round of one part).
- ``admission``: ``names``, ``name_collisions`` (with other sets), ``template``, ``resource_sharing``, ``changes``
  (updates of a set), ``defaults`` (and what an applied manifest becomes).
"""
