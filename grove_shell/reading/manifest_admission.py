"""Admits manifests of PodCliqueSets: new sets, and edits of sets in the input.

Dumps of clusters have no manifests, so admission is imported only if there is one.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from grove_core.kernel.errors import ProblemKind
from grove_core.kernel.frozen import EMPTY
from grove_core.kernel.structs import replace
from grove_core.plan.forecast import SetsOfSameName
from grove_core.resources.api_names import CLAIM_TEMPLATE_KIND
from grove_core.resources.configuration import Configuration
from grove_core.resources.object_metadata import metadata_in, with_default_namespace
from grove_core.resources.podcliqueset import PlannedSetChange, PodCliqueSet, podcliqueset_from_json
from grove_core.resources.podcliqueset_spec import SetSpec
from grove_core.snapshot.cluster import IndexedCluster
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.reading.input_items import InputItem, item_display_name
from grove_shell.reading.input_objects import InputObjects

if TYPE_CHECKING:
    from grove_core.areas.topology.admit import KnownTopologiesForAdmission
    from grove_core.areas.workload.admission.manifest_defaults import StoredManifestAfterApply
    from grove_core.areas.workload.admission.name_collisions import NamesUsedBySets
    from grove_core.rule_sets.rule_set import RuleSet

_PLACED: Final = frozenset({"PodCliqueSet", CLAIM_TEMPLATE_KIND})
Note = Callable[[InputItem, str, str, str, ProblemKind], None]
ChooseRules: TypeAlias = Callable[[IndexedCluster, tuple[str, ...]], "RuleSet"]
"""From the sets and PodCliques of an input, and its marks of a newer release, to the operator that admits manifests."""


class SetAssumedStored(NamedTuple):
    """A set that counts as stored although no file has it as such (ED-008).

    Attributes:
        manifest: as stored.
        snapshot: the set with everything that it consists of.
    """

    manifest: Mapping[str, Any]
    snapshot: Snapshot


class ManifestAdmissionOptions(NamedTuple):
    """How manifests are admitted.

    Attributes:
        by_topologies: whether by the topologies of the input too.
        choose_rules: returns the operator that admits, given what recognises the operator of the input; None for the
            one of the design.
        running: sets that count as stored, besides those of the files.
    """

    by_topologies: bool = True
    choose_rules: ChooseRules | None = None
    running: tuple[SetAssumedStored, ...] = ()


def manifest_with_namespace(item: InputItem, namespace: str | None) -> InputItem:
    """Return a manifest with the namespace of ``-n`` if it has none, as with ``kubectl apply -n`` (IN-039)."""
    kind = item.value.get("kind")
    if not isinstance(kind, str) or kind not in _PLACED or metadata_in(item.value).uid:
        return item
    return item._replace(value=with_default_namespace(item.value, namespace or ""))


def manifests_by_name(manifests: Iterable[InputItem], found: InputObjects) -> dict[tuple[str, str], InputItem]:
    """Return manifests by namespace and name; manifests of one name that differ are faults and left out (IN-032).

    A manifest without a namespace belongs to the only set of its name in the cluster, if there is one (IN-041).
    """
    conflicting = found.conflicting_keys_of_kind("PodCliqueSet")
    every: dict[tuple[str, str], list[InputItem]] = {}
    for item in manifests:
        namespace, name, *_ = metadata_in(item.value)
        alike_named = [
            key for key in found.running.keys() | conflicting if key[1] == name and namespace in {"", key[0]}
        ]
        key = alike_named[0] if len(alike_named) == 1 else (namespace or "default", name)
        alike = every.setdefault(key, [])
        if all(item.value != other.value for other in alike):
            alike.append(item)
    for items in every.values():
        for item in items if len(items) > 1 else ():
            found.add_fault(item, "metadata.name", "one manifest of this name", f"{len(items)} that differ")
            found.mark_kind_incomplete("PodCliqueSet", item.value)
    return {key: items[0] for key, items in every.items() if len(items) == 1 and key not in conflicting}


def sets_of_same_name(
    manifest: Mapping[str, Any], key: tuple[str, str], running: Collection[tuple[str, str]]
) -> SetsOfSameName | None:
    """Return the stored sets that the manifest of a new set may have been meant for (IN-086); None where none is.

    Args:
        manifest: as it is written, with the namespace of ``-n``.
        key: namespace and name of the new set.
        running: namespaces and names of the stored sets.
    """
    alike = sorted(f"{namespace}/{name}" for namespace, name in running if name == key[1])
    return SetsOfSameName(tuple(alike), bool(metadata_in(manifest).namespace)) if alike else None


def names_used_by_sets(
    manifests: Collection[Mapping[str, Any]], running: Mapping[tuple[str, str], Mapping[str, Any]]
) -> "NamesUsedBySets":
    """The names that sets of an input use: manifests, and those of a cluster that none of them replaces (WL-117)."""
    from grove_core.admit import index_names_used_by_sets  # noqa: PLC0415 - see above

    replaced = {metadata_in(raw)[:2] for raw in manifests}
    kept = (raw for (namespace, name), raw in running.items() if not {(namespace, name), ("", name)} & replaced)
    return index_names_used_by_sets((*manifests, *kept))


def admit_manifest(
    item: InputItem,
    running: Mapping[str, Any] | None,
    *,
    used_names: "NamesUsedBySets",
    configuration: Configuration,
    around: "KnownTopologiesForAdmission",
    rules: "RuleSet",
    note: Note,
    warn: Callable[[str], None],
) -> "StoredManifestAfterApply | None":
    """Return a manifest as it would be stored; None if admission refuses it, with a fault for each objection (IN-039).

    Args:
        running: the set of that name as a cluster has it, if it is an edit (IN-041).
        rules: the operator that admits.
        note: called with item, field path, expectation and value of each fault.
    """
    from grove_core.admit import admit, manifest_with_defaults_of  # noqa: PLC0415 - see above
    from grove_core.areas.workload.admission.manifest_defaults import (  # noqa: PLC0415 - see above
        StoredManifestAfterApply,
        manifest_after_kubectl_apply,
    )
    from grove_core.kernel.admission import Deny  # noqa: PLC0415 - see above
    from grove_shell.manifests.schema_validation import verdict_with_schema_objections  # noqa: PLC0415 - see above

    stored = partial(manifest_with_defaults_of, rules=rules)
    applied = (
        StoredManifestAfterApply(stored(item.value), ())
        if running is None
        else manifest_after_kubectl_apply(item.value, running, defaults=stored)
    )
    given = item.value if running is None else applied.manifest
    decision = admit(given, running, used_names, configuration, around=around, rules=rules, written=item.value)
    verdict = verdict_with_schema_objections(rules.admission.defaults(item.value), decision, running).verdict
    for warning in verdict.warnings:
        warn(f"{item_display_name(item)}: {warning}")
    if not isinstance(verdict, Deny):
        return applied
    for objection in verdict.objections:
        expected = expected_text_of_objection(objection.reason.sentence)
        note(item, objection.path, expected, objection.got, objection.kind)
    return None


def lacks_claim_templates(
    item: InputItem, manifest: Mapping[str, Any], templates: Collection[tuple[str, str]], note: Note
) -> bool:
    """Return whether the set shares claims without a template, inline or in the input; each is a fault (IN-039).

    Args:
        templates: namespaces and names of the ResourceClaimTemplates in the input.
    """
    root = podcliqueset_from_json(manifest)
    template = root.spec.template
    inline = {one.name for one in template.resource_claim_templates}
    levels = [
        ("spec.template", template.resource_sharing),
        *((f"spec.template.cliques[{n}]", one.resource_sharing) for n, one in enumerate(template.cliques)),
        *(
            (f"spec.template.podCliqueScalingGroups[{n}]", one.resource_sharing)
            for n, one in enumerate(template.pod_clique_scaling_groups)
        ),
    ]
    lacking = False
    for path, entries in levels:
        for place, entry in enumerate(entries):
            where = entry.namespace or root.ref.namespace
            if (entry.namespace or entry.name not in inline) and (where, entry.name) not in templates:
                expected = (
                    f"an inline template of that name, or the ResourceClaimTemplate {where}/{entry.name} in the input"
                )
                note(
                    item, f"{path}.resourceSharing[{place}].name", expected, f'"{entry.name}"', ProblemKind.WRONG_VALUE
                )
                lacking = True
    return lacking


def set_with_manifest_applied(running: PodCliqueSet, manifest: Mapping[str, Any]) -> PodCliqueSet:
    """Return the set just after the manifest was applied to it; its status is unchanged (IN-041).

    Raises:
        MalformedObject: the manifest cannot be parsed.
    """
    new = podcliqueset_from_json(manifest)
    if (new.spec, new.labels, new.annotations) == (running.spec, running.labels, running.annotations):
        return replace(running, edit=PlannedSetChange.OF_NUMBERS)
    return replace(
        running,
        spec=new.spec,
        edit=classify_manifest_edit(running.spec, new.spec),
        labels=new.labels,
        annotations=new.annotations,
        generation=None if running.generation is None else running.generation + 1,
        resource_version=f"{running.resource_version}+1",
    )


def classify_manifest_edit(before: SetSpec, after: SetSpec) -> PlannedSetChange:
    """Return whether an edit changes more than numbers of replicas and the delay."""
    from grove_core.areas.workload.template_revision import normalized_pod_spec  # noqa: PLC0415 - see above

    is_same = _besides_numbers(after) == _besides_numbers(before) and all(
        normalized_pod_spec(one.spec.pod_spec) == normalized_pod_spec(other.spec.pod_spec)
        for one, other in zip(after.template.cliques, before.template.cliques, strict=True)
    )
    return PlannedSetChange.OF_NUMBERS if is_same else PlannedSetChange.OF_MORE


def _besides_numbers(spec: SetSpec) -> SetSpec:
    """The spec without the number of replicas, the delay and the pod specs, of which quantities have several forms."""
    cliques = tuple(
        one.model_copy(update={"spec": one.spec.model_copy(update={"pod_spec": EMPTY})})
        for one in spec.template.cliques
    )
    template = spec.template.model_copy(update={"termination_delay": None, "cliques": cliques})
    return spec.model_copy(update={"replicas": 0, "template": template})


def expected_text_of_objection(sentence: str) -> str:
    """Return the expectation of a fault for the sentence of an objection."""
    if sentence.startswith("must be "):
        return sentence.removeprefix("must be ")
    return f"it to {sentence.removeprefix('must ')}" if sentence.startswith("must ") else sentence
