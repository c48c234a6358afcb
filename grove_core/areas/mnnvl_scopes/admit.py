"""Cliques that share ComputeDomains by annotation, and objections to the annotations (MS-070 to MS-078, MS-086)."""

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from grove_core.areas.mnnvl_scopes.rules import SharedDomainDenial
from grove_core.kernel.admission import DenialReason
from grove_core.kernel.frozen import FrozenDict, FrozenMap, list_at
from grove_core.kernel.reasons import Fact
from grove_core.kernel.refs import Ref
from grove_core.resources.api_names import MNNVL_DEVICE_CLASS, MNNVL_ENABLED, MNNVL_SCOPE, SHARED_CLAIM
from grove_core.resources.configuration import Configuration, MnnvlMode
from grove_core.resources.domain_sharing import (
    CHOICES,
    CLAIM_SUFFIX,
    DOMAIN_SUFFIX,
    MNNVL_ANNOTATIONS,
    SCOPES,
    DomainSharingScope,
    domain_membership_in_manifest,
)
from grove_core.resources.json_field_reader import short_json
from grove_core.resources.naming_rules import LONGEST_LABEL, is_dns_subdomain, parse_replica_index
from grove_core.resources.podcliqueset_manifest import (
    CLIQUES,
    GROUPS,
    METADATA,
    TEMPLATE,
    AnnotatedManifestPart,
    BadField,
    PodCliqueSetManifest,
    annotated_manifest_parts,
    bad_fields_new_in_update,
)
from grove_core.resources.podcliqueset_spec import CliqueTemplate, ScalingGroupTemplate, maximum_replicas


class DomainSharingGroup(NamedTuple):
    """Cliques of a template whose PodCliques share a domain, in each replica another one.

    Attributes:
        path: of the element that shares: the set (``metadata``), a clique or a scaling group.
        name: of the clique or scaling group; empty for the set.
        group: scaling group of the cliques; empty for standalone cliques and for scope ``replica``.
        cliques: indices of the cliques in the template.
        pods: number of pods in one domain.
        max_replicas: the most replicas that the scaling group may have; 1 without a scaling group.
        highest: base name of the domain with the largest index.
        classes: device class -> path of the annotation that names it, or could; more than one if they differ.
    """

    scope: DomainSharingScope
    path: str
    name: str
    group: str
    cliques: tuple[int, ...]
    pods: int
    max_replicas: int
    highest: str
    classes: FrozenDict[str, str]


def domain_sharing_groups_of(manifest: PodCliqueSetManifest) -> Iterator[DomainSharingGroup]:
    """Yield the sharing groups of a set, in the order of the template. Linear in the template."""
    template, last_replica = manifest.spec.template, max(manifest.spec.replicas, 1) - 1
    groups = {
        name: (index, group)
        for index, group in enumerate(template.pod_clique_scaling_groups)
        for name in group.clique_names
    }
    found: dict[tuple[DomainSharingScope, str], DomainSharingGroup] = {}
    for index, clique in enumerate(template.cliques):
        group_index, group = groups.get(clique.name, (-1, None))
        max_replicas = maximum_replicas(group.replicas, group.scale_config) if group is not None else 1
        member = domain_membership_in_manifest(manifest, clique, group, last_replica, max_replicas - 1)
        if member is None:
            continue
        path, name = METADATA, ""
        if member.scope is DomainSharingScope.CLIQUE:
            path, name = f"{CLIQUES}[{index}]", clique.name
        elif member.scope is DomainSharingScope.GROUP_REPLICA and group is not None:
            path, name = f"{GROUPS}[{group_index}]", group.name
        is_whole_replica = group is not None and member.scope is DomainSharingScope.REPLICA
        pods = clique.spec.replicas * (group.replicas if group is not None and is_whole_replica else 1)
        key = (member.scope, path)
        earlier = found.get(key)
        classes_before = earlier.classes if earlier else {}
        annotation_path = (
            f"{_device_class_path(clique, index, group, group_index) or path}.annotations[{MNNVL_DEVICE_CLASS}]"
        )
        found[key] = DomainSharingGroup(
            scope=member.scope,
            path=path,
            name=name,
            group=group.name if group is not None and not is_whole_replica else "",
            cliques=(*(earlier.cliques if earlier else ()), index),
            pods=(earlier.pods if earlier else 0) + pods,
            max_replicas=max_replicas,
            highest=member.base_name,
            classes=FrozenDict(
                {**classes_before, member.device_class: classes_before.get(member.device_class, annotation_path)}
            ),
        )
    yield from found.values()


def _device_class_path(clique: CliqueTemplate, index: int, group: ScalingGroupTemplate | None, group_index: int) -> str:
    """Return the path of the element that sets the device class; a group overrides its cliques (MS-010)."""
    if group is not None and MNNVL_DEVICE_CLASS in group.annotations:
        return f"{GROUPS}[{group_index}]"
    return f"{CLIQUES}[{index}]" if MNNVL_DEVICE_CLASS in clique.annotations else ""


_ALLOWED: Final[Mapping[str, tuple[DomainSharingScope, ...]]] = MappingProxyType(
    {
        METADATA: (DomainSharingScope.REPLICA,),
        CLIQUES: (DomainSharingScope.REPLICA, DomainSharingScope.CLIQUE),
        GROUPS: (DomainSharingScope.REPLICA, DomainSharingScope.GROUP_REPLICA),
    }
)
_LEVEL_TEXTS: Final[Mapping[str, str]] = MappingProxyType(
    {METADATA: "on a set", CLIQUES: "on a clique", GROUPS: "on a scaling group"}
)


def mnnvl_annotation_objections(
    subject: Ref, new: PodCliqueSetManifest, old: PodCliqueSetManifest | None, configuration: Configuration
) -> Iterator[DenialReason]:
    """Yield every objection to the MNNVL annotations of a set; violations of the old manifest are ignored.

    Args:
        subject: the set.
        new: the manifest.
        old: the manifest before the update; None for a new set.
        configuration: of the operator; there are no objections unless MNNVL is enabled in mode ``annotations``.
    """
    if not configuration.mnnvl.is_enabled_in_mode(MnnvlMode.ANNOTATIONS):
        return
    violations = bad_fields_new_in_update(_violations(new), _violations(old) if old is not None else ())
    for found in (*violations, *(_changes(new, old) if old is not None else ())):
        yield found.as_objection(subject)


def _violations(manifest: PodCliqueSetManifest) -> Iterator[BadField]:
    for element in annotated_manifest_parts(manifest):
        yield from _values(element)
    sharing = tuple(domain_sharing_groups_of(manifest))
    yield from _claim_names(manifest, sharing)
    yield from _sharing_names(manifest) if sharing else ()
    if manifest.name:
        yield from _lengths(manifest, sharing)
        yield from _duplicate_names(manifest, sharing)


def _values(element: AnnotatedManifestPart) -> Iterator[BadField]:
    """Values of the annotations of one element (MS-070 to MS-073, MS-086)."""
    annotations = element.annotations
    choice, scope = annotations.get(MNNVL_ENABLED), annotations.get(MNNVL_SCOPE)
    if choice is not None and choice not in CHOICES and element.level != METADATA:  # for the set: MN-070
        yield BadField(element.annotation_path(MNNVL_ENABLED), choice, SharedDomainDenial.SCOPED_VALUE_INVALID, {})
    allowed = [one.value for one in _ALLOWED[element.level]]
    if scope is not None and scope not in SCOPES:
        yield BadField(
            element.annotation_path(MNNVL_SCOPE),
            scope,
            SharedDomainDenial.MNNVL_SCOPE_UNKNOWN,
            {"known": ", ".join(SCOPES)},
        )
    elif scope is not None and scope not in allowed:
        facts = {"allowed": ", ".join(allowed), "place": _LEVEL_TEXTS[element.level]}
        yield BadField(element.annotation_path(MNNVL_SCOPE), scope, SharedDomainDenial.MNNVL_SCOPE_MISPLACED, facts)
    device_class = annotations.get(MNNVL_DEVICE_CLASS)
    if device_class == "":
        yield BadField(element.annotation_path(MNNVL_DEVICE_CLASS), "", SharedDomainDenial.DEVICE_CLASS_EMPTY, {})
    elif device_class is not None and not is_dns_subdomain(str(device_class)):
        yield BadField(
            element.annotation_path(MNNVL_DEVICE_CLASS), device_class, SharedDomainDenial.DEVICE_CLASS_INVALID, {}
        )


def _claim_names(manifest: PodCliqueSetManifest, sharing: Iterable[DomainSharingGroup]) -> Iterator[BadField]:
    """Claims of the user with the name of the claim to a shared domain (MS-074)."""
    for index in sorted({index for one in sharing for index in one.cliques}):
        pod_spec = manifest.spec.template.cliques[index].spec.pod_spec
        for at, claim in enumerate(list_at(pod_spec, "resourceClaims")):
            if isinstance(claim, FrozenMap) and claim.get("name") == SHARED_CLAIM:
                path = f"{CLIQUES}[{index}].spec.podSpec.resourceClaims[{at}].name"
                yield BadField(path, SHARED_CLAIM, SharedDomainDenial.SHARED_CLAIM_RESERVED, {"name": SHARED_CLAIM})


def _sharing_names(manifest: PodCliqueSetManifest) -> Iterator[BadField]:
    """Claim templates of ``resourceSharing`` whose claims could have the name of a shared claim (MS-078)."""
    template = manifest.spec.template
    lists = (
        (TEMPLATE, template.resource_sharing),
        *((f"{CLIQUES}[{at}]", one.resource_sharing) for at, one in enumerate(template.cliques)),
        *((f"{GROUPS}[{at}]", one.resource_sharing) for at, one in enumerate(template.pod_clique_scaling_groups)),
    )
    for path, entries in lists:
        for at, entry in enumerate(entries):
            if f"-{entry.name}".endswith(CLAIM_SUFFIX):
                facts = {"name": CLAIM_SUFFIX.removeprefix("-")}
                yield BadField(
                    f"{path}.resourceSharing[{at}].name", entry.name, SharedDomainDenial.CLAIM_NAME_RESERVED, facts
                )


def _lengths(manifest: PodCliqueSetManifest, sharing_groups: Iterable[DomainSharingGroup]) -> Iterator[BadField]:
    """Claim names that are too long, by the largest index (MS-076)."""
    for sharing in sharing_groups:
        claim_name = sharing.highest + CLAIM_SUFFIX
        excess = len(claim_name) - LONGEST_LABEL
        if excess > 0:
            facts: dict[str, Fact] = {"excess": excess, "made": claim_name, "most": LONGEST_LABEL}
            yield BadField(
                f"{sharing.path}.name", sharing.name or manifest.name, SharedDomainDenial.SHARED_NAME_TOO_LONG, facts
            )


def _duplicate_names(
    manifest: PodCliqueSetManifest, sharing_groups: tuple[DomainSharingGroup, ...]
) -> Iterator[BadField]:
    """PodCliques with the name of a replica of a scaling group, so that two domains had one name (MS-077)."""
    groups = {sharing.name: sharing for sharing in sharing_groups if sharing.scope is DomainSharingScope.GROUP_REPLICA}
    names_around_index = _names_around_index(groups)
    for sharing in sharing_groups:
        head, _, tail = sharing.name.rpartition("-")
        if sharing.scope is not DomainSharingScope.CLIQUE or parse_replica_index(tail) is None:
            continue
        candidates = names_around_index.get((sharing.group, head), ()) if sharing.group else ((0, head),)
        for index, name in candidates:
            if index < sharing.max_replicas and name in groups and int(tail) < groups[name].max_replicas:
                facts = {
                    "made": f"{manifest.name}-0-{name}-{tail}{DOMAIN_SUFFIX}",
                    "other": f"replica {tail} of group {name}",
                }
                yield BadField(f"{sharing.path}.name", sharing.name, SharedDomainDenial.SHARED_NAME_TWICE, facts)


def _names_around_index(groups: Iterable[str]) -> Mapping[tuple[str, str], list[tuple[int, str]]]:
    """Return (text before, text after) an index in the name of a group -> the index and the name."""
    found: dict[tuple[str, str], list[tuple[int, str]]] = {}
    for name in groups:
        words = name.split("-")
        for at, word in enumerate(words):
            if parse_replica_index(word) is not None:
                key = "-".join(words[:at]), "-".join(words[at + 1 :])
                found.setdefault(key, []).append((int(word), name))
    return found


def _changes(new: PodCliqueSetManifest, old: PodCliqueSetManifest) -> Iterator[BadField]:
    """Changes of the annotations of elements that exist in both manifests (MS-075)."""
    before = {(element.level, element.name): element.annotations for element in annotated_manifest_parts(old)}
    for element in annotated_manifest_parts(new):
        annotations = before.get((element.level, element.name))
        for key in MNNVL_ANNOTATIONS if annotations is not None else ():
            is_checked_elsewhere = element.level == METADATA and key == MNNVL_ENABLED  # MN-071
            if (
                annotations is not None
                and annotations.get(key) != element.annotations.get(key)
                and not is_checked_elsewhere
            ):
                facts = {"before": short_json(annotations[key]) if key in annotations else "absent"}
                yield BadField(
                    element.annotation_path(key),
                    element.annotations.get(key),
                    SharedDomainDenial.SCOPES_IMMUTABLE,
                    facts,
                )
