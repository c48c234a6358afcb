"""Validates names, labels and annotations, and the names of the objects that are derived from a set (WL-100 to WL-115).

Each error of a derived name is reported once: a set name that is too long by itself, else a combination of names that
is too long, else the longest derived name.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from grove_core.areas.workload.rules import WorkloadDenial
from grove_core.kernel.reasons import Fact
from grove_core.resources.json_field_reader import short_json
from grove_core.resources.naming_rules import (
    LONGEST_LABEL,
    MOST_ANNOTATION_BYTES,
    is_annotation_key,
    is_dns_label,
    is_dns_subdomain,
    is_label_key,
    is_label_value,
    member_clique_name,
    pod_hostname,
    rbac_role_label,
    scaled_gang_name,
    scaling_group_name,
    shared_claim_name,
    standalone_clique_name,
    total_annotation_bytes,
)
from grove_core.resources.podcliqueset_manifest import CLIQUES, GROUPS, TEMPLATE, BadField, PodCliqueSetManifest
from grove_core.resources.podcliqueset_spec import (
    PER_REPLICA,
    CliqueTemplate,
    ResourceSharing,
    ScalingGroupTemplate,
    maximum_replicas,
)

MAX_COMBINED_NAME: Final = 45
"""What the Go operator leaves for the names of set, group and clique."""
_LONGEST_QUOTED: Final = 100
_INSIDE: Final = re.compile(r"-(?=([0-9]{1,10})-)")


def metadata_violations(manifest: PodCliqueSetManifest) -> Iterator[BadField]:
    """Yield invalid names, labels and annotations of the set, its cliques and its groups (WL-100 to WL-108)."""
    if manifest.name and not is_dns_subdomain(manifest.name):
        yield BadField("metadata.name", manifest.name, WorkloadDenial.SET_NAME_INVALID, {})
    if manifest.namespace and not is_dns_label(manifest.namespace):
        yield BadField("metadata.namespace", manifest.namespace, WorkloadDenial.NAMESPACE_INVALID, {})
    yield from _labels(manifest.labels, "metadata.labels")
    yield from _annotations(manifest.annotations, "metadata.annotations")
    for index, clique in enumerate(manifest.spec.template.cliques):
        path = f"{CLIQUES}[{index}]"
        if not is_dns_subdomain(clique.name):
            yield BadField(f"{path}.name", clique.name, WorkloadDenial.CLIQUE_NAME_INVALID, {})
        yield from _labels(clique.labels, f"{path}.labels")
        yield from _annotations(clique.annotations, f"{path}.annotations")
    for index, group in enumerate(manifest.spec.template.pod_clique_scaling_groups):
        path = f"{GROUPS}[{index}]"
        if not is_dns_subdomain(group.name):
            yield BadField(f"{path}.name", group.name, WorkloadDenial.GROUP_NAME_INVALID, {})
        yield from _annotations(group.annotations, f"{path}.annotations")


def _labels(labels: Mapping[str, object], path: str) -> Iterator[BadField]:
    for key, value in labels.items():
        if not is_label_key(key):
            yield BadField(path, value, WorkloadDenial.LABEL_KEY_INVALID, {"key": short_json(key)})
        if not is_label_value(str(value)):
            yield BadField(path, value, WorkloadDenial.LABEL_VALUE_INVALID, {"key": short_json(key)})


def _annotations(annotations: Mapping[str, object], path: str) -> Iterator[BadField]:
    for key, value in annotations.items():
        if not is_annotation_key(key):
            yield BadField(path, value, WorkloadDenial.ANNOTATION_KEY_INVALID, {"key": short_json(key)})
    size = total_annotation_bytes(annotations)
    if size > MOST_ANNOTATION_BYTES:
        yield BadField(path, size, WorkloadDenial.ANNOTATIONS_TOO_LARGE, {"most": MOST_ANNOTATION_BYTES})


def name_length_violations(manifest: PodCliqueSetManifest) -> Iterator[BadField]:
    """Yield combined names that are too long (WL-110, WL-111); none where the set's name alone is (WL-112)."""
    name, spec = manifest.name, manifest.spec
    if not name or _role_excess(name) > 0:
        return
    groups_by_clique = spec.template.groups_by_clique
    for index, clique in enumerate(spec.template.cliques):
        excess = len(name) + len(clique.name) - MAX_COMBINED_NAME
        if clique.name not in groups_by_clique and excess > 0:
            facts: dict[str, Fact] = {"excess": excess, "most": MAX_COMBINED_NAME}
            yield BadField(f"{CLIQUES}[{index}].name", clique.name, WorkloadDenial.STANDALONE_NAMES_TOO_LONG, facts)
    for index, group in enumerate(spec.template.pod_clique_scaling_groups):
        for position, member in enumerate(group.clique_names):
            excess = len(name) + len(group.name) + len(member) - MAX_COMBINED_NAME
            if excess > 0:
                facts = {"excess": excess, "most": MAX_COMBINED_NAME, "group": _quoted(group.name)}
                path = f"{GROUPS}[{index}].cliqueNames[{position}]"
                yield BadField(path, member, WorkloadDenial.MEMBER_NAMES_TOO_LONG, facts)


def derived_name_violations(manifest: PodCliqueSetManifest) -> Iterator[BadField]:
    """Yield derived names that are invalid, too long or not unique (WL-106, WL-109, WL-112 to WL-115)."""
    yield from _host_names(manifest)
    if not manifest.name:
        return
    if _role_excess(manifest.name) > 0:
        yield _too_long("metadata.name", manifest.name, "label of the Role", rbac_role_label(manifest.name))
        return
    last = max(manifest.spec.replicas, 1) - 1
    template = manifest.spec.template
    yield from _claims(manifest.name, last, template.resource_sharing, TEMPLATE)
    groups_by_clique = template.groups_by_clique
    for index, clique in enumerate(template.cliques):
        yield from _clique_names(manifest, last, clique, f"{CLIQUES}[{index}]", groups_by_clique.get(clique.name))
    for index, group in enumerate(template.pod_clique_scaling_groups):
        yield from _group_names(manifest, last, group, f"{GROUPS}[{index}]")
    yield from _collisions(manifest, groups_by_clique)


def _role_excess(set_name: str) -> int:
    """Return by how many characters the set's name alone is too long; negative where it is not.

    The label of the Role is the longest name that contains only the set's name: Services and PodGangs add an index of
    at most ten digits, the Secret fewer characters.
    """
    return len(rbac_role_label(set_name)) - LONGEST_LABEL


def _host_names(manifest: PodCliqueSetManifest) -> Iterator[BadField]:
    if is_dns_subdomain(manifest.name) and ("." in manifest.name or manifest.name[0].isdigit()):
        yield BadField("metadata.name", manifest.name, WorkloadDenial.SET_NAME_UNFIT_FOR_SERVICES, {})
    template = manifest.spec.template
    named = (
        *((f"{CLIQUES}[{index}].name", clique.name) for index, clique in enumerate(template.cliques)),
        *((f"{GROUPS}[{index}].name", group.name) for index, group in enumerate(template.pod_clique_scaling_groups)),
    )
    for path, name in named:
        if "." in name and is_dns_subdomain(name):
            yield BadField(path, name, WorkloadDenial.PART_NAME_UNFIT_FOR_HOSTS, {})


def _clique_names(
    manifest: PodCliqueSetManifest,
    last: int,
    clique: CliqueTemplate,
    path: str,
    group_template: ScalingGroupTemplate | None,
) -> Iterator[BadField]:
    """Yield the violations of a clique's longest host name and of its shared claims."""
    together = len(manifest.name) + len(clique.name) + (len(group_template.name) if group_template is not None else 0)
    if together > MAX_COMBINED_NAME:
        return
    last_pod = maximum_replicas(clique.spec.replicas, clique.spec.auto_scaling_config) - 1
    if group_template is None:
        name = standalone_clique_name(manifest.name, last, clique.name)
    else:
        group_name = scaling_group_name(manifest.name, last, group_template.name)
        name = member_clique_name(
            group_name, maximum_replicas(group_template.replicas, group_template.scale_config) - 1, clique.name
        )
    host = pod_hostname(name, last_pod)
    if len(host) > LONGEST_LABEL:
        yield _too_long(f"{path}.name", clique.name, "host name of a pod", host)
    else:
        yield from _claims(name, last_pod, clique.resource_sharing, path)


def _group_names(
    manifest: PodCliqueSetManifest, last: int, group: ScalingGroupTemplate, path: str
) -> Iterator[BadField]:
    """Yield violations of a scaling group's longest derived name and of its shared claims."""
    name = scaling_group_name(manifest.name, last, group.name)
    most = maximum_replicas(group.replicas, group.scale_config)
    derived = "PodCliqueScalingGroup"
    longest = name
    if most > group.min_available > 0:
        derived, longest = "PodGang", scaled_gang_name(name, most - group.min_available - 1)
    members = max((len(member) for member in group.clique_names), default=0)
    if members and len(manifest.name) + len(group.name) + members > MAX_COMBINED_NAME:
        return
    if len(longest) > LONGEST_LABEL:
        yield _too_long(f"{path}.name", group.name, derived, longest)
    else:
        yield from _claims(name, most - 1, group.resource_sharing, path)


def _claims(owner: str, last: int, entries: Iterable[ResourceSharing], above: str) -> Iterator[BadField]:
    """Yield violations of the names of shared claims; ``last`` is the largest index of what shares them."""
    for index, entry in enumerate(entries):
        path = f"{above}.resourceSharing[{index}].name"
        name = shared_claim_name(owner, last if entry.scope == PER_REPLICA else None, entry.name)
        if len(name) > LONGEST_LABEL:
            yield _too_long(path, entry.name, "ResourceClaim", name)
        elif entry.name and not is_dns_label(entry.name):
            yield BadField(path, entry.name, WorkloadDenial.CLAIM_NAME_INVALID, {"name": _quoted(name)})


def _collisions(
    manifest: PodCliqueSetManifest, groups_by_clique: dict[str, ScalingGroupTemplate]
) -> Iterator[BadField]:
    """Yield pairs of objects of the set that would have the same kind and name (WL-114, WL-115)."""
    template = manifest.spec.template
    scaling = {
        clique.name for clique in template.cliques if clique.spec.auto_scaling_config is not None
    } - groups_by_clique.keys()
    for index, group in enumerate(template.pod_clique_scaling_groups):
        if group.scale_config is not None and group.name in scaling:
            yield BadField(f"{GROUPS}[{index}].name", group.name, WorkloadDenial.AUTOSCALERS_COLLIDE, {})
    for index, clique in enumerate(template.cliques):
        # Longer names are refused anyhow, and only short ones are cheap to take apart at every place.
        if clique.name in groups_by_clique or len(clique.name) > MAX_COMBINED_NAME:
            continue
        for match in _INSIDE.finditer(clique.name):
            digits = match[1]
            replica, member = int(digits), clique.name[match.end() + len(digits) + 1 :]
            group_template = groups_by_clique.get(member)
            if group_template is None or (group_template.name, str(replica)) != (clique.name[: match.start()], digits):
                continue
            if replica < maximum_replicas(group_template.replicas, group_template.scale_config):
                facts: dict[str, Fact] = {"replica": replica, "group": group_template.name, "clique": member}
                yield BadField(f"{CLIQUES}[{index}].name", clique.name, WorkloadDenial.CLIQUES_COLLIDE, facts)


def _too_long(path: str, got: str, derived: str, name: str) -> BadField:
    excess = len(name) - LONGEST_LABEL
    facts: dict[str, Fact] = {"excess": excess, "derived": derived, "name": _quoted(name), "most": LONGEST_LABEL}
    return BadField(path, got, WorkloadDenial.DERIVED_NAME_TOO_LONG, facts, excess)


def _quoted(name: str) -> str:
    return name if len(name) <= _LONGEST_QUOTED else short_json(name)
