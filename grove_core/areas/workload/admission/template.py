"""Validates the template as a whole (WL-120 to WL-138) and its pod specs (WL-129 to WL-133), and warns about these."""

from collections.abc import Iterator

from grove_core.areas.workload.rules import Refuse, Warn
from grove_core.resources.manifest import CLIQUES, GROUPS, TEMPLATE, Container, Manifest, Violation
from grove_core.resources.names import is_variable_name
from grove_core.resources.newer_release import NEWEST_KNOWN, STRATEGIES
from grove_core.resources.template import STARTUP_TYPES, UPDATE_STRATEGIES, AutoScaling, CliqueTemplate, GroupTemplate


def template_violations(manifest: Manifest) -> Iterator[Violation]:
    """Return unknown types, repeated roles and invalid autoscaling (WL-120, WL-126, WL-128, WL-135 to WL-138)."""
    spec, template = manifest.spec, manifest.spec.template
    if template.clique_startup_type not in STARTUP_TYPES:
        facts = {"allowed": ", ".join(STARTUP_TYPES)}
        yield Violation(
            f"{TEMPLATE}.cliqueStartupType", template.clique_startup_type, Refuse.STARTUP_TYPE_UNKNOWN, facts
        )
    if spec.update_strategy.type in STRATEGIES:
        facts = {"newest": NEWEST_KNOWN}
        yield Violation("spec.updateStrategy.type", spec.update_strategy.type, Refuse.OF_A_NEWER_RELEASE, facts)
    elif spec.update_strategy.type not in UPDATE_STRATEGIES:
        facts = {"allowed": ", ".join(UPDATE_STRATEGIES)}
        yield Violation("spec.updateStrategy.type", spec.update_strategy.type, Refuse.UPDATE_STRATEGY_UNKNOWN, facts)
    homes = template.groups_by_clique
    roles: dict[str, str] = {}
    for index, clique in enumerate(template.cliques):
        path, role = f"{CLIQUES}[{index}].spec", clique.spec.role_name
        if role and role in roles:
            yield Violation(f"{path}.roleName", role, Refuse.ROLE_REPEATED, {"clique": roles[role]})
        roles.setdefault(role, clique.name)
        if clique.spec.auto_scaling_config is not None:
            yield from _clique_scaling(clique, clique.spec.auto_scaling_config, path, homes.get(clique.name))
    for index, group in enumerate(template.pod_clique_scaling_groups):
        if group.scale_config is not None:
            yield from _group_scaling(group, group.scale_config, f"{GROUPS}[{index}].scaleConfig")


def _clique_scaling(
    clique: CliqueTemplate, scaling: AutoScaling, above: str, home: GroupTemplate | None
) -> Iterator[Violation]:
    path, replicas = f"{above}.autoScalingConfig", clique.spec.replicas
    if home is not None:
        yield Violation(path, scaling.model_dump(exclude_unset=True), Refuse.MEMBER_SCALES_ITSELF, {"group": home.name})
    floor = replicas if scaling.min_replicas is None else scaling.min_replicas
    needed = clique.min_available
    if floor < needed <= replicas:  # a threshold above the replicas is to blame itself
        yield Violation(f"{path}.minReplicas", floor, Refuse.FLOOR_BELOW_THRESHOLD, {"least": needed})
    least = max(floor, replicas)
    if scaling.max_replicas < least:
        yield Violation(f"{path}.maxReplicas", scaling.max_replicas, Refuse.CEILING_TOO_LOW, {"least": least})


def _group_scaling(group: GroupTemplate, scaling: AutoScaling, path: str) -> Iterator[Violation]:
    floor = group.replicas if scaling.min_replicas is None else scaling.min_replicas
    needed = group.min_available
    if floor < needed <= group.replicas:  # as above
        yield Violation(f"{path}.minReplicas", floor, Refuse.FLOOR_BELOW_THRESHOLD, {"least": needed})
    if scaling.max_replicas < floor:
        yield Violation(f"{path}.maxReplicas", scaling.max_replicas, Refuse.GROUP_CEILING_TOO_LOW, {"least": floor})


def pod_spec_violations(manifest: Manifest) -> Iterator[Violation]:
    """Return different schedulers and invalid environment variables (WL-129, WL-132, WL-133).

    An empty scheduler name stands for the operator's default, which is not known here, so only written names are
    compared.
    """
    first = _first_scheduler(manifest)
    for index, pod in enumerate(manifest.pods):
        path = _path(index)
        if first is not None and pod.scheduler_name not in {"", first[0]}:
            facts = {"other": first[0], "clique": first[1]}
            yield Violation(f"{path}.schedulerName", pod.scheduler_name, Refuse.SCHEDULERS_DIFFER, facts)
        for container in pod.containers:
            yield from _variables(container, f"{path}.{container.path}")


def placement_violations(manifest: Manifest) -> Iterator[Violation]:
    """Return spread constraints and node names; only new sets are checked for them (WL-130, WL-131)."""
    for index, pod in enumerate(manifest.pods):
        if pod.spread_constraints:
            spread = manifest.spec.template.cliques[index].spec.pod_spec["topologySpreadConstraints"]
            yield Violation(f"{_path(index)}.topologySpreadConstraints", spread, Refuse.SPREAD_CONSTRAINTS, {})
        if pod.node_name:
            yield Violation(f"{_path(index)}.nodeName", pod.node_name, Refuse.NODE_NAME, {})


def pod_spec_warnings(manifest: Manifest) -> Iterator[Violation]:
    """Return pod templates that are valid and probably not intended (WL-180, WL-181, WL-185)."""
    first = _first_scheduler(manifest)
    for index, pod in enumerate(manifest.pods):
        if not any(container.path.startswith("containers[") for container in pod.containers):
            yield Violation(f"{_path(index)}.containers", None, Warn.CONTAINERS_MISSING, {})
        if pod.restart_policy not in {"", "Always"}:
            yield Violation(f"{_path(index)}.restartPolicy", pod.restart_policy, Warn.RESTART_POLICY_NOT_ALWAYS, {})
        if first is not None and not pod.scheduler_name:
            facts = {"other": first[0], "clique": first[1]}
            yield Violation(f"{_path(index)}.schedulerName", None, Warn.SCHEDULER_LEFT_OUT, facts)


def _first_scheduler(manifest: Manifest) -> tuple[str, str] | None:
    """Return the first named scheduler and the clique that names it; None where none is named."""
    pairs = zip(manifest.pods, manifest.spec.template.cliques, strict=True)
    return next(((pod.scheduler_name, clique.name) for pod, clique in pairs if pod.scheduler_name), None)


def _variables(container: Container, path: str) -> Iterator[Violation]:
    seen: set[str] = set()
    for index, name in enumerate(container.env):
        place = f"{path}.env[{index}].name"
        if not is_variable_name(name):
            yield Violation(place, name or None, Refuse.VARIABLE_NAME_INVALID, {})
        elif name in seen:
            yield Violation(place, name, Refuse.VARIABLE_REPEATED, {})
        seen.add(name)


def _path(index: int) -> str:
    return f"{CLIQUES}[{index}].spec.podSpec"
