"""Workload (WL): the objects that a PodCliqueSet consists of, their updates, and their deletion (specs/workload.md).

The pipeline is that of every area: ``rules`` (reasons), ``verdicts`` (what it gets and gives), ``judge`` (verdicts on a
set), ``wants`` (wants and findings of them), ``findings`` (what the input shows besides), ``admit`` (the entry point
for admission, and updates of a set). The judge, its verdicts and the wants are in ``design``, those of the Go operator
in ``field``.
Shared by both:

- ``workload_context`` indexes a snapshot; ``object_wants`` compares the objects that a set should have with those that
  exist; ``set_too_large`` and ``deleted_objects`` are about whole sets and about deleted parts; ``startup_order`` is
  the order in which pods start.
- ``template_hash`` and ``template_revision``: is a clique of the present template?
- ``objects``: ``lazy_manifests`` (what all have in common), ``podcliques_and_groups``, ``podgangs``,
  ``services_rbac_and_claims``.
- ``pods``: ``pod_slots`` (free indices, excess pods), ``pod_manifest``, ``scheduling_gates``.

The rest:

- ``design``: ``set_objects`` is every object that a set should have, ``deletions`` what it should no longer have,
  ``statuses`` its status fields, ``pod_creation`` which pods are created now; ``set_update`` is the update of a set,
  ``clique_update`` and ``scaling_group_update`` are one round of one part.
- ``field``: what the Go operator does instead, with rules of its own: ``present_templates`` (which are known and have
  changed), ``set_update``, ``clique_update``, ``scaling_group_update``, ``update_defects``, ``upgrade_restart`` (what
  another release restarts), ``pods``, ``gates``, ``gangs``, ``deletions``, ``statuses``,
  ``service_account_token_wait``, ``releases`` (what they do differently), ``admit`` and ``manifest_defaults`` (its
  admission). Its ``objects``: ``podcliques_and_groups``, ``podgangs``, ``services_rbac_and_claims``, ``pods``, and
  for several of them ``labels_and_annotations``, ``variables`` and ``template_by_name_suffix``.
- ``admission``: ``name_validation``, ``name_collisions`` (with other sets), ``template_validation``,
  ``template_warnings``, ``resource_sharing_validation``, ``autoscaler_minimum`` (autoscalers that may scale below the
  minimum), ``manifest_defaults`` (and what an applied manifest becomes).
"""
