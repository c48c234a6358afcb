"""Validates the template as a whole: enums, roles and autoscaling (WL-120 to WL-138)."""

from collections.abc import Iterator

from grove_core.areas.workload.rules import Refuse
from grove_core.resources.manifest import Manifest
from grove_core.resources.manifest_paths import CLIQUES, GROUPS, TEMPLATE
from grove_core.resources.newer_release import NEWEST_KNOWN, STRATEGIES
from grove_core.resources.template import STARTUP_TYPES, UPDATE_STRATEGIES, AutoScaling, CliqueTemplate, GroupTemplate
from grove_core.resources.violation import Violation


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
