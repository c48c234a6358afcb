"""Workload (WL): what a PodCliqueSet becomes, how it changes, and how it ends. Read specs/workload.md first.

``desire`` is the door for wishes, ``admit`` for admission; ``rules`` has the clauses, ``verdicts`` the answers. The
other files, by what they are about:

- Admission and defaults: ``admit`` gathers ``admit_metadata`` (labels, one by one), ``admit_names`` (what names
  become), ``admit_pods`` and ``admit_template`` (pod specs, and the template as a whole), ``admit_sharing`` (claims),
  ``admit_change`` (updates); ``edit`` is what an edit is stored as; ``startup`` is the order of starting as it
  may be written, ``neighbours`` what other sets are called, ``defaults`` what a manifest means where it says nothing.
- What a set consists of: ``blueprint`` (a tree of names and places), ``walk`` (over all of it), ``expansion`` (from
  what was met to wishes), ``completion`` (the whole of it while the set is wanted), ``oversize`` (of a set that is too
  large for that), ``scene`` (a snapshot by name),
  ``ordering`` (who starts after whom, by full names). Manifests: ``manifests`` (what all have), ``cliques``, ``pods``,
  ``environment``, ``access``, ``claims``, ``scalers``.
- Gangs and gates: ``gangs`` (who is placed as one), ``placing`` (where), ``gates`` (when a pod may be placed),
  ``starting`` (why placed pods do not start).
- Pods of a clique: ``crew`` (places that are free, pods that are too many), ``births`` (which are made now).
- Updates: ``rollout`` (of a set), ``roll`` (of one part in one round) with ``rolling_clique`` and ``rolling_group``,
  ``revision`` (is this of the present template), ``template_hash`` and ``typed`` (how that is told), ``lagging``
  (what is still old).
- Scaling and ending: ``surplus`` (replicas beyond the wanted number), ``teardown`` (what is being deleted, in order).
- Statuses: ``status``.
"""
