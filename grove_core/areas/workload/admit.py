"""Admission of a PodCliqueSet and of its changes, except gang termination (WL-100 to WL-185)."""

from collections.abc import Collection, Iterator
from typing import Final

from grove_core.areas.workload.admission.name_collisions import NamesUsedBySets
from grove_core.areas.workload.admission.name_validation import (
    derived_name_violations,
    metadata_violations,
    name_length_violations,
)
from grove_core.areas.workload.admission.resource_sharing_validation import resource_sharing_violations
from grove_core.areas.workload.admission.template_validation import (
    pod_spec_violations,
    set_template_violations,
    spread_and_node_name_violations,
    starts_after_violations,
)
from grove_core.areas.workload.admission.template_warnings import (
    pod_spec_warnings,
    refused_pod_warnings,
    startup_order_warnings,
)
from grove_core.areas.workload.rules import WorkloadDenial, WorkloadWarning
from grove_core.kernel.admission import AdmissionWarning, DenialReason
from grove_core.kernel.refs import Ref
from grove_core.resources.json_field_reader import short_json
from grove_core.resources.podcliqueset_manifest import CLIQUES, GROUPS, TEMPLATE, BadField, PodCliqueSetManifest
from grove_core.resources.podcliqueset_spec import EXPLICIT, IN_ORDER, CliqueTemplate, ResourceSharing, SetTemplate

_ORDERED: Final = frozenset({IN_ORDER, EXPLICIT})
_MOST_QUOTED: Final = 10


def workload_objections(
    subject: Ref, new: PodCliqueSetManifest, old: PodCliqueSetManifest | None
) -> Iterator[DenialReason]:
    """Yield every objection to a set and, on an update, to the change; all of them, independently of each other."""
    found = (
        metadata_violations(new),
        name_length_violations(new),
        set_template_violations(new),
        starts_after_violations(new.spec),
        pod_spec_violations(new),
        resource_sharing_violations(new),
        _newly_derived(new, old),
        spread_and_node_name_violations(new) if old is None else _change_violations(old, new),
    )
    for faults in found:
        yield from (fault.as_objection(subject) for fault in faults)


def new_name_collisions(
    subject: Ref,
    new: PodCliqueSetManifest,
    old: PodCliqueSetManifest | None,
    used_names: NamesUsedBySets,
    *,
    kinds_not_created: Collection[str] = (),
) -> Iterator[DenialReason]:
    """Yield an objection for each object that another set would have too (WL-117), unless it had before (WL-116).

    Args:
        new: the manifest.
        old: the manifest before the update; None for a new set.
        used_names: of all sets of the cluster, which may include this one.
        kinds_not_created: kinds that no set has objects of.
    """
    known = (
        {(found.kind, found.other) for found in used_names.collisions_with_other_sets(old)}
        if old is not None
        else set()
    )
    for found in used_names.collisions_with_other_sets(new):
        if found.kind not in kinds_not_created and (found.kind, found.other) not in known:
            facts = {"kind": found.kind, "name": found.name, "other": found.other}
            yield DenialReason(
                "metadata.name", short_json(new.name), WorkloadDenial.SETS_COLLIDE.because(subject, **facts)
            )


def workload_warnings(
    subject: Ref, new: PodCliqueSetManifest, old: PodCliqueSetManifest | None
) -> Iterator[AdmissionWarning]:
    """Yield every warning about a set and, on an update, about the change."""
    of_change = _change_warnings(old, new) if old is not None else ()
    for found in (pod_spec_warnings(new), refused_pod_warnings(new), startup_order_warnings(new.spec), of_change):
        yield from (fault.as_warning(subject) for fault in found)


def _newly_derived(new: PodCliqueSetManifest, old: PodCliqueSetManifest | None) -> Iterator[BadField]:
    """Return invalid derived names, except those that were as invalid before: names cannot be changed (WL-116)."""
    before = () if old is None else derived_name_violations(old)
    known = {fault.rule_and_value: fault.excess for fault in before}
    return (fault for fault in derived_name_violations(new) if fault.excess > known.get(fault.rule_and_value, -1))


def _change_violations(old: PodCliqueSetManifest, new: PodCliqueSetManifest) -> Iterator[BadField]:
    """Yield the immutable fields that differ, of cliques and groups that are in both manifests (WL-150 to WL-156).

    Names, thresholds and membership, and added and removed parts, are judged by GT-101.
    """
    before, after = old.spec.template, new.spec.template
    if before.clique_startup_type != after.clique_startup_type:
        facts = {"before": before.clique_startup_type}
        yield BadField(
            f"{TEMPLATE}.cliqueStartupType", after.clique_startup_type, WorkloadDenial.STARTUP_TYPE_IMMUTABLE, facts
        )
    yield from _order(before, after)
    claims = before.resource_claim_templates
    if claims != after.resource_claim_templates:
        path = f"{TEMPLATE}.resourceClaimTemplates"
        facts = {"before": _first_names(tuple(claim.name for claim in claims))}
        yield BadField(path, after.resource_claim_templates, WorkloadDenial.CLAIM_TEMPLATES_IMMUTABLE, facts)
    yield from _sharing(before.resource_sharing, after.resource_sharing, TEMPLATE)
    old_indices = {clique.name: index for index, clique in enumerate(before.cliques)}
    for index, clique in enumerate(after.cliques):
        if clique.name in old_indices:
            was = old_indices[clique.name]
            yield from _clique(before.cliques[was], clique, f"{CLIQUES}[{index}]")
            schedulers = (old.pods[was].scheduler_name, new.pods[index].scheduler_name)
            if schedulers[0] != schedulers[1]:
                path, facts = f"{CLIQUES}[{index}].spec.podSpec.schedulerName", {"before": short_json(schedulers[0])}
                yield BadField(path, schedulers[1], WorkloadDenial.SCHEDULER_IMMUTABLE, facts)
    groups = {group.name: group for group in before.pod_clique_scaling_groups}
    for index, group in enumerate(after.pod_clique_scaling_groups):
        if group.name in groups:
            yield from _sharing(groups[group.name].resource_sharing, group.resource_sharing, f"{GROUPS}[{index}]")


def _change_warnings(old: PodCliqueSetManifest, new: PodCliqueSetManifest) -> Iterator[BadField]:
    """Yield the changed replicas that have no effect on existing objects (WL-184)."""
    cliques = {clique.name: clique.spec.replicas for clique in old.spec.template.cliques}
    for index, clique in enumerate(new.spec.template.cliques):
        before = cliques.get(clique.name, clique.spec.replicas)
        if before != clique.spec.replicas:
            path = f"{CLIQUES}[{index}].spec.replicas"
            yield BadField(path, clique.spec.replicas, WorkloadWarning.REPLICAS_UNUSED, {"before": before})
    groups = {group.name: group.replicas for group in old.spec.template.pod_clique_scaling_groups}
    for index, group in enumerate(new.spec.template.pod_clique_scaling_groups):
        before = groups.get(group.name, group.replicas)
        if before != group.replicas:
            yield BadField(
                f"{GROUPS}[{index}].replicas", group.replicas, WorkloadWarning.REPLICAS_UNUSED, {"before": before}
            )


def _clique(before: CliqueTemplate, after: CliqueTemplate, path: str) -> Iterator[BadField]:
    was, now = before.spec, after.spec
    if was.role_name != now.role_name:
        facts = {"before": short_json(was.role_name)}
        yield BadField(f"{path}.spec.roleName", now.role_name, WorkloadDenial.ROLE_IMMUTABLE, facts)
    if was.starts_after != now.starts_after:
        facts = {"before": _first_names(was.starts_after)}
        yield BadField(
            f"{path}.spec.startsAfter", _first_names(now.starts_after), WorkloadDenial.STARTS_AFTER_IMMUTABLE, facts
        )
    yield from _sharing(before.resource_sharing, after.resource_sharing, path)


def _sharing(before: tuple[ResourceSharing, ...], after: tuple[ResourceSharing, ...], path: str) -> Iterator[BadField]:
    if before != after:
        facts = {"before": _first_names(tuple(entry.name for entry in before))}
        yield BadField(f"{path}.resourceSharing", after, WorkloadDenial.SHARING_IMMUTABLE, facts)


def _order(before: SetTemplate, after: SetTemplate) -> Iterator[BadField]:
    """Yield a violation if the cliques in both manifests have another order, and start in order (WL-156)."""
    if before.clique_startup_type not in _ORDERED:
        return
    old_names, new_names = ({clique.name: None for clique in template.cliques} for template in (before, after))
    was = tuple(name for name in old_names if name in new_names)
    now = tuple(name for name in new_names if name in old_names)
    if was != now:
        yield BadField(CLIQUES, _first_names(now), WorkloadDenial.CLIQUE_ORDER_IMMUTABLE, {"before": _first_names(was)})


def _first_names(names: tuple[str, ...]) -> str:
    """Return the first ten names, in their own order."""
    more = f" and {len(names) - _MOST_QUOTED} more" if len(names) > _MOST_QUOTED else ""
    return (", ".join(names[:_MOST_QUOTED]) or "none") + more
