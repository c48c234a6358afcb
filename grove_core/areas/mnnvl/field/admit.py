"""Admission of the MNNVL annotations of a set by the Go operator (NF-070 to NF-077). It fills in no default."""

from collections.abc import Iterator
from typing import Final

from grove_core.areas.mnnvl.field.rules import GoOperatorMnnvlDenial, GoOperatorMnnvlWarning
from grove_core.kernel.admission import AdmissionWarning, DenialReason
from grove_core.kernel.frozen import FrozenMap, list_at
from grove_core.kernel.refs import Ref
from grove_core.resources.api_names import MNNVL_CLAIM, MNNVL_GROUP
from grove_core.resources.configuration import Configuration
from grove_core.resources.domain_sharing import MNNVL_ANNOTATIONS
from grove_core.resources.json_field_reader import short_json
from grove_core.resources.mnnvl_groups import OPT_OUT, MnnvlGroupDomain, mnnvl_groups_of_cliques
from grove_core.resources.naming_rules import LONGEST_LABEL, is_dns_label
from grove_core.resources.pod_spec_gpus import GPU, requests_gpus
from grove_core.resources.podcliqueset_manifest import (
    CLIQUES,
    GROUPS,
    METADATA,
    BadField,
    PodCliqueSetManifest,
    annotated_manifest_parts,
)

AUTO_MNNVL: Final = "grove.io/auto-mnnvl"
"""What releases before v0.1.0-alpha.8 read."""


def group_annotation_objections(
    subject: Ref, new: PodCliqueSetManifest, old: PodCliqueSetManifest | None, configuration: Configuration
) -> Iterator[DenialReason]:
    """Yield the objections to the MNNVL groups of a new set, or to their change in an update.

    Args:
        subject: the set.
        new: the manifest.
        old: the manifest before the update; None for a new set.
        configuration: of the operator.
    """
    found = _invalid_groups(new, configuration) if old is None else _changed_groups(new, old)
    return (one.as_objection(subject) for one in found)


def _invalid_groups(new: PodCliqueSetManifest, configuration: Configuration) -> Iterator[BadField]:
    for element in annotated_manifest_parts(new):
        value = element.annotations.get(MNNVL_GROUP)
        if value is None or value == OPT_OUT:
            continue
        path = element.annotation_path(MNNVL_GROUP)
        if not is_dns_label(str(value)):
            yield BadField(path, value, GoOperatorMnnvlDenial.GROUP_INVALID, {})
        if not configuration.mnnvl.is_on_by_go_operator:
            yield BadField(path, value, GoOperatorMnnvlDenial.GROUP_WHILE_OFF, {})


def _changed_groups(new: PodCliqueSetManifest, old: PodCliqueSetManifest) -> Iterator[BadField]:
    """Yield the groups that differ; cliques and scaling groups are compared by name, new ones with nothing."""
    before = {(one.level, one.name): one for one in annotated_manifest_parts(old)}
    for element in annotated_manifest_parts(new):
        earlier = before.get((element.level, element.name))
        if earlier is None:
            continue
        was, now = (one.annotations.get(MNNVL_GROUP) for one in (earlier, element))
        if was != now:
            facts = {"before": short_json(was) if was is not None else "absent"}
            yield BadField(element.annotation_path(MNNVL_GROUP), now, GoOperatorMnnvlDenial.GROUP_IMMUTABLE, facts)


def mnnvl_group_annotation_warnings(
    subject: Ref, new: PodCliqueSetManifest, configuration: Configuration
) -> Iterator[AdmissionWarning]:
    """Yield warnings on what the operator admits and what is probably a mistake."""
    found = [*_not_read(new)]
    if configuration.mnnvl.is_on_by_go_operator:
        found += [] if configuration.mnnvl.enabled else [*_on_by_assumption(new)]
        found += [*_without_gpus(new), *_own_claims(new), *_too_long(new)]
    return (one.as_warning(subject) for one in found)


def _not_read(new: PodCliqueSetManifest) -> Iterator[BadField]:
    """Annotations of other releases and of the design, which the operator does not read (NF-074)."""
    for element in annotated_manifest_parts(new):
        for key in (AUTO_MNNVL, *MNNVL_ANNOTATIONS):
            if key in element.annotations:
                yield BadField(
                    element.annotation_path(key),
                    element.annotations[key],
                    GoOperatorMnnvlWarning.ANNOTATION_NOT_READ,
                    {"key": MNNVL_GROUP},
                )


def _on_by_assumption(new: PodCliqueSetManifest) -> Iterator[BadField]:
    """Groups of which it is not known whether the operator refuses them (NF-078)."""
    for element in annotated_manifest_parts(new):
        value = element.annotations.get(MNNVL_GROUP)
        if value not in {None, OPT_OUT}:
            yield BadField(element.annotation_path(MNNVL_GROUP), value, GoOperatorMnnvlWarning.ON_BY_ASSUMPTION, {})


def _without_gpus(new: PodCliqueSetManifest) -> Iterator[BadField]:
    """Groups that no clique with GPUs is in by the annotation (NF-075)."""
    deciding = set(_deciding_elements(new))
    for element in annotated_manifest_parts(new):
        value = element.annotations.get(MNNVL_GROUP)
        if value not in {None, OPT_OUT} and (element.level, element.name) not in deciding:
            path = element.annotation_path(MNNVL_GROUP)
            yield BadField(path, value, GoOperatorMnnvlWarning.GROUP_WITHOUT_GPUS, {"resource": GPU})


def _deciding_elements(new: PodCliqueSetManifest) -> Iterator[tuple[str, str]]:
    """Yield level and name of the element whose annotation decides the group of each clique with GPUs."""
    groups = new.spec.template.groups_by_clique
    for clique in new.spec.template.cliques:
        group = groups.get(clique.name)
        of_group = [(GROUPS, group.name, group.annotations)] if group is not None else []
        levels = [(CLIQUES, clique.name, clique.annotations), *of_group, (METADATA, "", new.annotations)]
        if requests_gpus(clique.spec.pod_spec):
            yield from [(level, name) for level, name, annotations in levels if MNNVL_GROUP in annotations][:1]


def _own_claims(new: PodCliqueSetManifest) -> Iterator[BadField]:
    """Claims of users under the name of the operator's claim (NF-076)."""
    groups = mnnvl_groups_of_cliques(new.annotations, new.spec.template)
    for index, clique in enumerate(new.spec.template.cliques):
        for place, claim in enumerate(list_at(clique.spec.pod_spec, "resourceClaims")):
            if clique.name in groups and isinstance(claim, FrozenMap) and claim.get("name") == MNNVL_CLAIM:
                path = f"{CLIQUES}[{index}].spec.podSpec.resourceClaims[{place}].name"
                facts = {"group": groups[clique.name]}
                yield BadField(path, MNNVL_CLAIM, GoOperatorMnnvlWarning.OWN_CLAIM, facts)


def _too_long(new: PodCliqueSetManifest) -> Iterator[BadField]:
    """Groups whose domain has a name that is too long for its label (NF-077)."""
    replicas = max(new.spec.replicas, 1)
    for element in annotated_manifest_parts(new):
        value = element.annotations.get(MNNVL_GROUP)
        name = MnnvlGroupDomain(replicas - 1, str(value)).name_in(new.name)
        if value not in {None, OPT_OUT} and len(name) > LONGEST_LABEL:
            path, rule = element.annotation_path(MNNVL_GROUP), GoOperatorMnnvlWarning.GROUP_NAME_TOO_LONG
            yield BadField(path, value, rule, {"domain": name, "most": LONGEST_LABEL})
