"""Validates shared ResourceClaims and their templates (WL-140 to WL-149)."""

from collections.abc import Iterator
from typing import NamedTuple

from grove_core.areas.workload.rules import WorkloadDenial
from grove_core.resources.naming_rules import name_list_text
from grove_core.resources.podcliqueset_manifest import CLIQUES, GROUPS, TEMPLATE, BadField, PodCliqueSetManifest
from grove_core.resources.podcliqueset_spec import SCOPES, ResourceSharing, SharingFilter


class _Sharers(NamedTuple):
    """One list of ``resourceSharing``: of the template, a clique or a scaling group.

    Attributes:
        cliques: names allowed in the filter; None where no filter is allowed.
        groups: scaling groups allowed in the filter; None where they are not allowed.
    """

    path: str
    entries: tuple[ResourceSharing, ...]
    cliques: frozenset[str] | None
    groups: frozenset[str] | None


def resource_sharing_violations(manifest: PodCliqueSetManifest) -> Iterator[BadField]:
    """Yield invalid claim templates and entries of ``resourceSharing`` (WL-140 to WL-149)."""
    inline: set[str] = set()
    for index, template in enumerate(manifest.spec.template.resource_claim_templates):
        path = f"{TEMPLATE}.resourceClaimTemplates[{index}]"
        if not template.name:
            yield BadField(f"{path}.name", template.name, WorkloadDenial.CLAIM_TEMPLATE_NAMELESS, {})
        elif template.name in inline:
            yield BadField(f"{path}.name", template.name, WorkloadDenial.CLAIM_TEMPLATE_REPEATED, {})
        inline.add(template.name)
        if not manifest.device_requests[index]:
            yield BadField(f"{path}.templateSpec.spec.devices.requests", (), WorkloadDenial.CLAIM_TEMPLATE_EMPTY, {})
    for sharers in _sharers_in(manifest):
        yield from _entries(sharers, inline)


def _sharers_in(manifest: PodCliqueSetManifest) -> Iterator[_Sharers]:
    """Yield every list of ``resourceSharing``: of the template, its cliques and its scaling groups. Linear."""
    template = manifest.spec.template
    cliques = frozenset(clique.name for clique in template.cliques)
    groups = frozenset(group.name for group in template.pod_clique_scaling_groups)
    yield _Sharers(f"{TEMPLATE}.resourceSharing", template.resource_sharing, cliques, groups)
    for index, clique in enumerate(template.cliques):
        yield _Sharers(f"{CLIQUES}[{index}].resourceSharing", clique.resource_sharing, None, None)
    for index, group in enumerate(template.pod_clique_scaling_groups):
        yield _Sharers(
            f"{GROUPS}[{index}].resourceSharing", group.resource_sharing, frozenset(group.clique_names), None
        )


def _entries(sharers: _Sharers, inline: set[str]) -> Iterator[BadField]:
    seen: set[str] = set()
    for index, entry in enumerate(sharers.entries):
        path = f"{sharers.path}[{index}]"
        if not entry.name:
            yield BadField(f"{path}.name", entry.name, WorkloadDenial.SHARING_NAMELESS, {})
        elif entry.name in seen:
            yield BadField(f"{path}.name", entry.name, WorkloadDenial.SHARING_REPEATED, {})
        seen.add(entry.name)
        if entry.namespace and entry.name in inline:
            yield BadField(f"{path}.namespace", entry.namespace, WorkloadDenial.SHARING_NAMESPACE, {"name": entry.name})
        if entry.scope not in SCOPES:
            yield BadField(f"{path}.scope", entry.scope, WorkloadDenial.SCOPE_UNKNOWN, {"allowed": ", ".join(SCOPES)})
        if entry.filter is not None:
            yield from _filter(entry.filter, f"{path}.filter", sharers)


def _filter(chosen: SharingFilter, path: str, sharers: _Sharers) -> Iterator[BadField]:
    if sharers.cliques is None:
        yield BadField(path, chosen.model_dump(exclude_unset=True), WorkloadDenial.FILTER_OUT_OF_PLACE, {})
        return
    cliques, groups = chosen.child_clique_names, chosen.child_scaling_group_names
    if groups and sharers.groups is None:
        yield BadField(f"{path}.childScalingGroupNames", groups, WorkloadDenial.FILTER_OUT_OF_PLACE, {})
    elif not (cliques or groups):
        yield BadField(path, chosen.model_dump(exclude_unset=True), WorkloadDenial.FILTER_EMPTY, {})
    yield from _unknown_names(cliques, sharers.cliques, f"{path}.childCliqueNames")
    yield from _unknown_names(groups, sharers.groups, f"{path}.childScalingGroupNames")


def _unknown_names(names: tuple[str, ...], known: frozenset[str] | None, path: str) -> Iterator[BadField]:
    unknown = [index for index, name in enumerate(names) if known is not None and name not in known]
    facts = {"known": name_list_text(known or ())} if unknown else {}
    for index in unknown:
        yield BadField(f"{path}[{index}]", names[index], WorkloadDenial.FILTER_NAME_UNKNOWN, facts)
