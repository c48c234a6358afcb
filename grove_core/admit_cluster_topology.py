"""Admission of ClusterTopologies: a topology and its old version go in, a verdict comes out."""

from collections.abc import Collection, Iterable, Iterator, Mapping

from grove_core.areas.topology.admit import NOTHING_KNOWN, KnownTopologiesForAdmission
from grove_core.areas.topology.rules import TopologyDenial, TopologyWarning
from grove_core.areas.topology.topology_lifecycle import (
    topology_level_change_warnings,
    topology_level_violations,
    topology_users_text,
)
from grove_core.areas.workload.admission.manifest_defaults import podcliqueset_with_defaults
from grove_core.kernel.admission import AdmissionVerdict, AdmissionWarning, DenialReason, admission_decision
from grove_core.kernel.decisions import Decision
from grove_core.kernel.errors import MalformedObject
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.resources.api_names import SET_KIND, TOPOLOGY_FINALIZER, TOPOLOGY_KIND
from grove_core.resources.cluster_topology import (
    ClusterTopology,
    cluster_topology_from_json,
    effective_topologies,
    topology_ref,
    unreadable_topology_names,
)
from grove_core.resources.configuration import DEFAULT_CONFIGURATION, Configuration
from grove_core.resources.json_field_reader import JsonFieldReader, short_json
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset_manifest import read_podcliqueset_manifest
from grove_core.resources.podcliqueset_spec import read_podcliqueset_spec
from grove_core.resources.topology_usage import bound_pod_counts_by_set, sets_by_topology, topology_in_template


def admit_topology(
    new: Mapping[str, object],
    old: Mapping[str, object] | None = None,
    view: KnownTopologiesForAdmission = NOTHING_KNOWN,
    configuration: Configuration = DEFAULT_CONFIGURATION,
) -> Decision[AdmissionVerdict]:
    """Return the verdict on a ClusterTopology that is created or updated, with all objections.

    Pure, and never raises.

    Args:
        new: the manifest; refused if it cannot be parsed (TP-087).
        old: the manifest before the update; None if it is created. One that cannot be parsed counts as without levels.
        view: the users of topologies.
        configuration: of the operator.
    """
    subject = _subject(new)
    admitted = TopologyDenial.TOPOLOGY_ADMITTED.because(subject)
    try:
        topology = cluster_topology_from_json(new)
    except MalformedObject as fault:
        problems = (
            DenialReason(
                problem.path,
                problem.got,
                TopologyDenial.TOPOLOGY_UNREADABLE.because(subject, expected=problem.expected),
                problem.kind,
            )
            for problem in fault.problems
        )
        return admission_decision(problems, (), admitted)
    before = _topology_before(old)
    objections = (one.as_objection(subject) for one in topology_level_violations(topology, before, configuration, view))
    return admission_decision(objections, topology_level_change_warnings(subject, topology, before, view), admitted)


def admit_topology_deletion(
    old: Mapping[str, object], view: KnownTopologiesForAdmission = NOTHING_KNOWN
) -> Decision[AdmissionVerdict]:
    """Return the verdict on the deletion of a ClusterTopology: admitted, with a warning if sets use it (TP-086)."""
    subject = _subject(old)
    cautions = (
        AdmissionWarning("metadata.name", short_json(subject.name), reason)
        for reason in _deletion_warnings(subject, old, view)
    )
    return admission_decision((), cautions, TopologyDenial.TOPOLOGY_ADMITTED.because(subject))


def topology_admission_view_of(
    topologies: Iterable[Mapping[str, object]],
    sets: Iterable[Mapping[str, object]],
    cliques: Collection[PodClique],
    incomplete_kinds: Iterable[str] = (),
) -> KnownTopologiesForAdmission:
    """Return the view that manifests are compared with, from objects of an input; None for kinds without an object.

    Args:
        topologies, sets: as written; those that cannot be parsed are reported elsewhere.
        cliques: the PodCliques.
        incomplete_kinds: kinds of which an object was left out because it cannot be parsed.
    """
    known, unreadable = _read_all(topologies)
    read = [read_podcliqueset_manifest(podcliqueset_with_defaults(raw))[0] for raw in sets]
    manifests = [one for one in read if one is not None]
    bound = bound_pod_counts_by_set(cliques)
    users = sets_by_topology(((one.namespace or "default", one.name, one.spec.template) for one in manifests), bound)
    placed = bound if cliques else None
    return KnownTopologiesForAdmission(
        effective_topologies(known) if known else None,
        placed,
        users if cliques else None,
        unreadable_topology_names(unreadable, known),
        frozenset(incomplete_kinds) | frozenset({SET_KIND} if len(manifests) < len(read) else ()),
    )


def topology_used_by_set(raw: Mapping[str, object]) -> str | None:
    """Return the topology that a PodCliqueSet uses; empty for none, None if its spec cannot be parsed."""
    spec, _ = read_podcliqueset_spec(raw.get("spec"))
    return topology_in_template(spec.template).effective_topology_name if spec is not None else None


def _read_all(topologies: Iterable[Mapping[str, object]]) -> tuple[list[ClusterTopology], list[Ref]]:
    """Return the topologies that can be parsed, and the addresses of the others."""
    known: list[ClusterTopology] = []
    unreadable: list[Ref] = []
    for raw in topologies:
        try:
            known.append(cluster_topology_from_json(raw))
        except MalformedObject:
            unreadable.append(topology_ref(_subject(raw).name, str(raw.get("kind") or TOPOLOGY_KIND)))
    return known, unreadable


def _deletion_warnings(subject: Ref, old: Mapping[str, object], view: KnownTopologiesForAdmission) -> Iterator[Reason]:
    """Yield why a deletion waits for users, or why it does not although there are some."""
    users = (view.users or {}).get(subject.name, ())
    if view.users is None:
        yield TopologyWarning.USERS_NOT_KNOWN.because(subject)
    elif users and TOPOLOGY_FINALIZER in JsonFieldReader(old, "", []).inner_object("metadata").text_list("finalizers"):
        yield TopologyWarning.STILL_USED.because(subject, users=topology_users_text(users))
    elif users:
        yield TopologyWarning.USED_AND_NOT_HELD.because(
            subject, users=topology_users_text(users), finalizer=TOPOLOGY_FINALIZER
        )


def _topology_before(old: Mapping[str, object] | None) -> ClusterTopology | None:
    if old is None:
        return None
    try:
        return cluster_topology_from_json(old)
    except MalformedObject:
        return cluster_topology_from_json({"metadata": {"name": _subject(old).name or "unnamed"}})


def _subject(raw: Mapping[str, object]) -> Ref:
    return topology_ref(JsonFieldReader(raw, "", []).inner_object("metadata").text("name"))
