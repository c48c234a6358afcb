"""Whether the parts of a set fit into one Workload, and the names of its templates (SC-010, SC-020)."""

from collections.abc import Iterator
from typing import Final

from grove_core.areas.scheduling.rules import SchedulingReason
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.resources.naming_rules import scaling_group_name
from grove_core.resources.podcliqueset_spec import SetSpec, first_templates_by_name
from grove_core.snapshot.expected_replicas import ExpectedGang, ExpectedSetReplicas

MAX_PARTS: Final = 8
"""The number of templates that a Workload admits at each level (scheduling.k8s.io/v1beta1)."""
BASE: Final = "base"
"""The name of the template of base gangs."""


def clique_template_name(clique: str, *, is_scaled: bool) -> str:
    """Return the name of the template of a clique, by its name in the set; unique in the Workload."""
    return f"scaled-clique-{clique}" if is_scaled else f"clique-{clique}"


def workload_template_name_of_group(group: str, *, is_scaled: bool) -> str:
    """Return the name of the template of a replica of a scaling group, by its name in the set."""
    return f"scaled-group-{group}" if is_scaled else f"group-{group}"


def gangs_of_template(set_name: str, spec: SetSpec) -> tuple[ExpectedGang, ...]:
    """Return one gang of each kind that a set can have: a base gang, then a scaled gang of each scaling group."""
    groups = first_templates_by_name(spec.template.pod_clique_scaling_groups).values()
    counts = {scaling_group_name(set_name, 0, group.name): group.min_available + 1 for group in groups}
    return tuple(ExpectedSetReplicas(set_name, spec, counts).replica(0).gangs)


def workload_limit_reasons(subject: Ref, spec: SetSpec) -> Iterator[Reason]:
    """Yield a reason for each level of a set that has more parts than a Workload admits. Linear in the template."""
    template = spec.template
    groups = first_templates_by_name(template.pod_clique_scaling_groups).values()
    levels = [
        ("the set", 1 + len(groups)),
        ("its base gang: PodCliques", len(spec.standalone_cliques)),
        ("its base gang: scaling groups", sum(group.min_available > 0 for group in groups)),
        *((f"scaling group {group.name}", len(dict.fromkeys(group.clique_names))) for group in groups),
    ]
    for level, parts in levels:
        if parts > MAX_PARTS:
            yield SchedulingReason.TOO_MANY_PARTS.because(subject, level=level, parts=parts, limit=MAX_PARTS)
