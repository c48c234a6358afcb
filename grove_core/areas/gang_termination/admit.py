"""Admission rules of gang termination: which PodCliqueSets are refused (GT-091 to GT-101)."""

from collections.abc import Iterable, Iterator
from datetime import timedelta

from grove_core.areas.gang_termination.rules import GangTerminationDenial
from grove_core.kernel.admission import DenialReason
from grove_core.kernel.reasons import Fact
from grove_core.kernel.refs import Ref
from grove_core.resources.naming_rules import name_list_text
from grove_core.resources.podcliqueset_manifest import CLIQUES, GROUPS, TEMPLATE, BadField
from grove_core.resources.podcliqueset_spec import CliqueTemplate, ScalingGroupTemplate, SetSpec


def gang_termination_objections(subject: Ref, new: SetSpec, old: SetSpec | None) -> Iterator[DenialReason]:
    """Yield every objection to a set, and, where there is an old one, to the change (GT-101)."""
    for found in (*_to_spec(new), *(_to_change(old, new) if old is not None else ())):
        yield found.as_objection(subject)


def _to_spec(spec: SetSpec) -> Iterator[BadField]:
    template, zero = spec.template, timedelta()
    if spec.replicas < 0:
        yield BadField("spec.replicas", spec.replicas, GangTerminationDenial.COUNT_OUT_OF_RANGE, {"least": 0})
    delay = template.termination_delay
    if delay is not None and delay <= zero:
        yield BadField(f"{TEMPLATE}.terminationDelay", delay, GangTerminationDenial.DELAY_NOT_POSITIVE, {})
    if not template.cliques:
        yield BadField(CLIQUES, [], GangTerminationDenial.NO_CLIQUES, {})
    names: set[str] = set()
    for index, clique in enumerate(template.cliques):
        yield from _to_clique(clique, f"{CLIQUES}[{index}]", names)
        names.add(clique.name)
    known = name_list_text(names)
    group_names: set[str] = set()
    homes: dict[str, str] = {}
    for index, group in enumerate(template.pod_clique_scaling_groups):
        path = f"{GROUPS}[{index}]"
        if group.name in group_names:
            yield BadField(f"{path}.name", group.name, GangTerminationDenial.NAME_REPEATED, {})
        group_names.add(group.name)
        yield from _to_group(group, path, delay)
        yield from _to_membership(group, path, names, known, homes)


def _to_clique(clique: CliqueTemplate, path: str, names: set[str]) -> Iterator[BadField]:
    if clique.name in names:
        yield BadField(f"{path}.name", clique.name, GangTerminationDenial.NAME_REPEATED, {})
    replicas = clique.spec.replicas
    if replicas < 1:
        yield BadField(f"{path}.spec.replicas", replicas, GangTerminationDenial.COUNT_OUT_OF_RANGE, {"least": 1})
    needed = clique.spec.min_available
    if needed is not None and (needed < 1 or needed > replicas >= 1):
        yield BadField(
            f"{path}.spec.minAvailable",
            needed,
            GangTerminationDenial.CLIQUE_THRESHOLD_OUT_OF_RANGE,
            {"replicas": replicas},
        )


def _to_group(group: ScalingGroupTemplate, path: str, delay: timedelta | None) -> Iterator[BadField]:
    if group.replicas < 1:
        yield BadField(f"{path}.replicas", group.replicas, GangTerminationDenial.COUNT_OUT_OF_RANGE, {"least": 1})
    if group.min_available < 1 or group.min_available > group.replicas >= 1:
        facts: dict[str, Fact] = {"replicas": group.replicas}
        yield BadField(
            f"{path}.minAvailable", group.min_available, GangTerminationDenial.GROUP_THRESHOLD_OUT_OF_RANGE, facts
        )
    own = group.termination_delay
    if own is not None and delay is None:
        yield BadField(f"{path}.terminationDelay", own, GangTerminationDenial.OVERRIDE_WITHOUT_DELAY, {})
    if own is not None and own <= timedelta():
        yield BadField(f"{path}.terminationDelay", own, GangTerminationDenial.OVERRIDE_NOT_POSITIVE, {})


def _to_membership(
    group: ScalingGroupTemplate, path: str, names: set[str], known: str, homes: dict[str, str]
) -> Iterator[BadField]:
    for position, name in enumerate(group.clique_names):
        place = f"{path}.cliqueNames[{position}]"
        if name not in names:
            yield BadField(place, name, GangTerminationDenial.CLIQUE_UNKNOWN, {"known": known})
        elif name in homes:
            yield BadField(place, name, GangTerminationDenial.CLIQUE_IN_TWO_GROUPS, {"group": homes[name]})
        homes.setdefault(name, group.name)


def _to_change(old: SetSpec, new: SetSpec) -> Iterator[BadField]:
    before = {clique.name: clique for clique in old.template.cliques}
    after = {clique.name for clique in new.template.cliques}
    if before.keys() != after:
        yield BadField(CLIQUES, _names(after), GangTerminationDenial.IMMUTABLE, {"before": _names(before)})
    for index, clique in enumerate(new.template.cliques):
        was = before.get(clique.name)
        if was is not None and was.min_available != clique.min_available:
            path = f"{CLIQUES}[{index}].spec.minAvailable"
            yield BadField(path, clique.min_available, GangTerminationDenial.IMMUTABLE, {"before": was.min_available})
    groups = {group.name: group for group in old.template.pod_clique_scaling_groups}
    kept = {group.name for group in new.template.pod_clique_scaling_groups}
    if groups.keys() != kept:
        yield BadField(GROUPS, _names(kept), GangTerminationDenial.IMMUTABLE, {"before": _names(groups)})
    for index, group in enumerate(new.template.pod_clique_scaling_groups):
        held = groups.get(group.name)
        if held is None:
            continue
        path = f"{GROUPS}[{index}]"
        if held.min_available != group.min_available:
            facts: dict[str, Fact] = {"before": held.min_available}
            yield BadField(f"{path}.minAvailable", group.min_available, GangTerminationDenial.IMMUTABLE, facts)
        if held.clique_names != group.clique_names:
            facts = {"before": ", ".join(held.clique_names)}
            yield BadField(f"{path}.cliqueNames", ", ".join(group.clique_names), GangTerminationDenial.IMMUTABLE, facts)


def _names(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "none"
