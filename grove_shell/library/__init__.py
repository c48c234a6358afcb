"""What ``import grove_shell`` gives: the commands as functions that return values. It prints nothing.

- ``arguments``: the errors of wrong arguments.
- ``reading``: reading files, streams, objects and live clusters; ``cluster``: what was read.
- ``objects``: sets, replicas, PodCliques and pods of what was read.
- ``plans``: plans and forecasts; ``terminations``, ``steps``: what is in them.
- ``edits``: what edits do, as plans hold it; ``scheduling_gates``: pods with scheduling gates.
- ``explanations``: every verdict, step and reason about one object.
- ``comparisons``: two rule sets on one cluster.
- ``validation``: which manifests the webhook would refuse.
- ``rule_sets``: the names that ``rules=`` takes.
- ``tables``: rows that know their columns; ``html_tables``: tables for notebooks.
"""
