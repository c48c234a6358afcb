"""Workload (WL): the objects that a PodCliqueSet consists of, their updates, and their deletion (specs/workload.md).

The pipeline is that of every area: ``rules`` (clauses), ``verdicts`` (result types), ``judge`` (the entry point for
plans), ``wants`` (all wants of a set), ``findings`` (pods that wait for their start-up order), ``status`` (status
fields), ``admit`` (the entry point for admission). Three modules stand beside it: ``context`` indexes a snapshot,
``teardown`` deletes a set in order, ``size_limit`` withholds changes of a set that is too large.

- ``template``: what follows from the template alone. ``expected_replicas`` (the tree of expected objects),
  ``startup_parents`` (which clique starts after which), ``env_variables``, ``template_hash``, ``revision`` (is a clique
  of the present template), ``pod_spec_normal_form`` (pod specs that mean the same are equal).
- ``objects``: manifests by kind. ``manifests`` (what all have in common), ``podcliques_and_groups``, ``podgangs`` and
  their ``gang_placement``, ``service_and_rbac``, ``resource_claims``, ``autoscalers``.
- ``pods``: ``slots`` (free indices, excess pods), ``creation`` (which pods are created now), ``manifest``,
  ``scheduling_gates``.
- ``expansion``: ``set_objects`` (every object that a set should have), ``wants`` (those that are missing or differ),
  ``surplus`` (objects that are too many).
- ``rolling_update``: ``judge`` (the update of a set), ``clique`` and ``scaling_group`` (of one part), ``step`` (one
  round of it), ``findings`` (what is still of an old template).
- ``admission``: ``metadata``, ``derived_names``, ``name_collisions`` (with other sets), ``template``, ``pod_specs``,
  ``resource_sharing``, ``startup_order``, ``changes`` (updates of a set), ``defaults``, ``kubectl_apply`` (what an
  applied manifest becomes).
"""
