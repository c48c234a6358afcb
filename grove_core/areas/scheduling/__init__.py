"""Scheduling (SC): what places the gangs of a set, and gangs as groups of the Workload API (specs/scheduling.md).

- ``rules``: reasons; ``verdicts``: the back end of each gang; ``judge``: which one it is.
- ``suitability``: why a set keeps PodGangs; ``admit``: warnings at admission.
- ``workload_api_limits``: whether the parts of a set fit into one Workload, and the names of its templates.
- ``groups``: the groups of one gang as a tree; ``manifests``: Workload, CompositePodGroups and PodGroups;
  ``group_changes``: how stored ones differ; ``wants``: what is created, changed and deleted.
"""
