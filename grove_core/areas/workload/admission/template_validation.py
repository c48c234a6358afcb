"""Validates the template as a whole (WL-120 to WL-138), its start-up order and its pod specs."""

from collections.abc import Iterator, Mapping, Sequence

from grove_core.areas.workload.rules import WorkloadDenial
from grove_core.resources.naming_rules import is_environment_variable_name, name_list_text
from grove_core.resources.newer_release_fields import NEWEST_KNOWN, STRATEGIES
from grove_core.resources.podcliqueset_manifest import (
    CLIQUES,
    GROUPS,
    TEMPLATE,
    BadField,
    ManifestContainer,
    PodCliqueSetManifest,
)
from grove_core.resources.podcliqueset_spec import (
    EXPLICIT,
    STARTUP_TYPES,
    UPDATE_STRATEGIES,
    AutoScalingConfiguration,
    CliqueTemplate,
    ScalingGroupTemplate,
    SetSpec,
)

Waits = Mapping[str, Sequence[str]]
"""Clique -> the cliques that it waits for; every name is a key."""


def set_template_violations(manifest: PodCliqueSetManifest) -> Iterator[BadField]:
    """Yield unknown types, repeated roles and invalid autoscaling (WL-120, WL-126, WL-128, WL-135 to WL-138)."""
    spec, template = manifest.spec, manifest.spec.template
    if template.clique_startup_type not in STARTUP_TYPES:
        facts = {"allowed": ", ".join(STARTUP_TYPES)}
        yield BadField(
            f"{TEMPLATE}.cliqueStartupType", template.clique_startup_type, WorkloadDenial.STARTUP_TYPE_UNKNOWN, facts
        )
    if spec.update_strategy.type in STRATEGIES:
        facts = {"newest": NEWEST_KNOWN}
        yield BadField("spec.updateStrategy.type", spec.update_strategy.type, WorkloadDenial.OF_A_NEWER_RELEASE, facts)
    elif spec.update_strategy.type not in UPDATE_STRATEGIES:
        facts = {"allowed": ", ".join(UPDATE_STRATEGIES)}
        yield BadField(
            "spec.updateStrategy.type", spec.update_strategy.type, WorkloadDenial.UPDATE_STRATEGY_UNKNOWN, facts
        )
    groups_by_clique = template.groups_by_clique
    roles: dict[str, str] = {}
    for index, clique in enumerate(template.cliques):
        path, role = f"{CLIQUES}[{index}].spec", clique.spec.role_name
        if role and role in roles:
            yield BadField(f"{path}.roleName", role, WorkloadDenial.ROLE_REPEATED, {"clique": roles[role]})
        roles.setdefault(role, clique.name)
        if clique.spec.auto_scaling_config is not None:
            yield from _clique_scaling(clique, clique.spec.auto_scaling_config, path, groups_by_clique.get(clique.name))
    for index, group in enumerate(template.pod_clique_scaling_groups):
        if group.scale_config is not None:
            yield from _group_scaling(group, group.scale_config, f"{GROUPS}[{index}].scaleConfig")


def _clique_scaling(
    clique: CliqueTemplate, scaling: AutoScalingConfiguration, above: str, group: ScalingGroupTemplate | None
) -> Iterator[BadField]:
    path, replicas = f"{above}.autoScalingConfig", clique.spec.replicas
    if group is not None:
        yield BadField(
            path, scaling.model_dump(exclude_unset=True), WorkloadDenial.MEMBER_SCALES_ITSELF, {"group": group.name}
        )
    floor = replicas if scaling.min_replicas is None else scaling.min_replicas
    needed = clique.min_available
    if floor < needed <= replicas:  # a threshold above the replicas is to blame itself
        yield BadField(f"{path}.minReplicas", floor, WorkloadDenial.FLOOR_BELOW_THRESHOLD, {"least": needed})
    least = max(floor, replicas)
    if scaling.max_replicas < least:
        yield BadField(f"{path}.maxReplicas", scaling.max_replicas, WorkloadDenial.CEILING_TOO_LOW, {"least": least})


def _group_scaling(group: ScalingGroupTemplate, scaling: AutoScalingConfiguration, path: str) -> Iterator[BadField]:
    floor = group.replicas if scaling.min_replicas is None else scaling.min_replicas
    needed = group.min_available
    if floor < needed <= group.replicas:  # as above
        yield BadField(f"{path}.minReplicas", floor, WorkloadDenial.FLOOR_BELOW_THRESHOLD, {"least": needed})
    if scaling.max_replicas < floor:
        yield BadField(
            f"{path}.maxReplicas", scaling.max_replicas, WorkloadDenial.GROUP_CEILING_TOO_LOW, {"least": floor}
        )


def pod_spec_violations(manifest: PodCliqueSetManifest) -> Iterator[BadField]:
    """Yield different schedulers and invalid environment variables (WL-129, WL-132, WL-133).

    An empty scheduler name stands for the operator's default, which is not known here, so only written names are
    compared.
    """
    first = first_named_scheduler(manifest)
    for index, pod in enumerate(manifest.pods):
        path = clique_pod_spec_path(index)
        if first is not None and pod.scheduler_name not in {"", first[0]}:
            facts = {"other": first[0], "clique": first[1]}
            yield BadField(f"{path}.schedulerName", pod.scheduler_name, WorkloadDenial.SCHEDULERS_DIFFER, facts)
        for container in pod.containers:
            yield from _variables(container, f"{path}.{container.path}")


def spread_and_node_name_violations(manifest: PodCliqueSetManifest) -> Iterator[BadField]:
    """Yield spread constraints and node names; only new sets are checked for them (WL-130, WL-131)."""
    for index, pod in enumerate(manifest.pods):
        if pod.spread_constraints:
            spread = manifest.spec.template.cliques[index].spec.pod_spec["topologySpreadConstraints"]
            yield BadField(
                f"{clique_pod_spec_path(index)}.topologySpreadConstraints",
                spread,
                WorkloadDenial.SPREAD_CONSTRAINTS,
                {},
            )
        if pod.node_name:
            yield BadField(f"{clique_pod_spec_path(index)}.nodeName", pod.node_name, WorkloadDenial.NODE_NAME, {})


def first_named_scheduler(manifest: PodCliqueSetManifest) -> tuple[str, str] | None:
    """Return the first named scheduler and the clique that names it; None where none is named."""
    pairs = zip(manifest.pods, manifest.spec.template.cliques, strict=True)
    return next(((pod.scheduler_name, clique.name) for pod, clique in pairs if pod.scheduler_name), None)


def _variables(container: ManifestContainer, path: str) -> Iterator[BadField]:
    seen: set[str] = set()
    for index, name in enumerate(container.env):
        place = f"{path}.env[{index}].name"
        if not is_environment_variable_name(name):
            yield BadField(place, name or None, WorkloadDenial.VARIABLE_NAME_INVALID, {})
        elif name in seen:
            yield BadField(place, name, WorkloadDenial.VARIABLE_REPEATED, {})
        seen.add(name)


def clique_pod_spec_path(index: int) -> str:
    """Return the path of the pod spec of a clique, by its place in the template."""
    return f"{CLIQUES}[{index}].spec.podSpec"


def starts_after_violations(spec: SetSpec) -> Iterator[BadField]:
    """Yield invalid parents and cycles; none without explicit start-up (WL-121 to WL-125)."""
    cliques = spec.template.cliques
    if spec.template.clique_startup_type != EXPLICIT:
        return
    names = {clique.name for clique in cliques}
    known = name_list_text(names)
    for index, clique in enumerate(cliques):
        yield from _parent_violations(clique, f"{CLIQUES}[{index}].spec.startsAfter", names, known)
    yield from _cycle_violations(cliques, names)


def startup_cycles_in(waits: Waits) -> list[list[str]]:
    """Return cycles, each as its names without repeating the first; no two of them share a name.

    There is none exactly if there is an order. The walk has no recursion: a chain may be longer than the call stack.
    """
    found: list[list[str]] = []
    in_a_cycle: set[str] = set()
    visited: set[str] = set()
    for root in waits:
        path = {root: iter(waits[root])} if root not in visited else {}  # down to the clique whose parents are visited
        visited.add(root)
        while path:
            name = next(reversed(path))
            parent = next(path[name], None)
            if parent is None:
                del path[name]
            elif parent not in visited:
                visited.add(parent)
                path[parent] = iter(waits[parent])
            elif parent in path and not in_a_cycle & {parent, name}:
                names = list(path)
                cycle = names[names.index(parent) :]
                if in_a_cycle.isdisjoint(cycle):
                    in_a_cycle.update(cycle)
                    found.append(cycle)
    return found


def _parent_violations(clique: CliqueTemplate, path: str, names: set[str], known: str) -> Iterator[BadField]:
    seen: set[str] = set()
    for index, name in enumerate(clique.spec.starts_after):
        place = f"{path}[{index}]"
        if not name:
            yield BadField(place, name, WorkloadDenial.STARTS_AFTER_NOTHING, {})
        elif name in seen:
            yield BadField(place, name, WorkloadDenial.STARTS_AFTER_TWICE, {})
        elif name == clique.name:
            yield BadField(place, name, WorkloadDenial.STARTS_AFTER_ITSELF, {})
        elif name not in names:
            yield BadField(place, name, WorkloadDenial.STARTS_AFTER_UNKNOWN, {"known": known})
        seen.add(name)


def _cycle_violations(cliques: Sequence[CliqueTemplate], names: set[str]) -> Iterator[BadField]:
    places = {clique.name: index for index, clique in reversed(list(enumerate(cliques)))}
    waits = {
        name: [other for other in cliques[index].spec.starts_after if other in names and other != name]
        for name, index in places.items()
    }
    for cycle in startup_cycles_in(waits):
        first = min(range(len(cycle)), key=lambda position: places[cycle[position]])
        cycle_from_first = [*cycle[first:], *cycle[:first], cycle[first]]
        index = places[cycle_from_first[0]]
        position = cliques[index].spec.starts_after.index(cycle_from_first[1])
        path = f"{CLIQUES}[{index}].spec.startsAfter[{position}]"
        yield BadField(
            path, cycle_from_first[1], WorkloadDenial.STARTUP_CYCLE, {"cycle": " -> ".join(cycle_from_first)}
        )
