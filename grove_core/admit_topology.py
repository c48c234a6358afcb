"""Admission of ClusterTopologies, on one page: a topology (and what it was before) goes in, a verdict comes out."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from grove_core.areas.topology.admit import NOTHING_KNOWN, TopologyView
from grove_core.areas.topology.admit_levels import level_violations, level_warnings, users_text
from grove_core.areas.topology.rules import Refuse, Warn
from grove_core.areas.workload.defaults import with_defaults
from grove_core.kernel.admission import AdmissionVerdict, Caution, Objection, verdict_of
from grove_core.kernel.decisions import Decision
from grove_core.kernel.errors import MalformedObject
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.resources.api_names import TOPOLOGY_FINALIZER
from grove_core.resources.cluster_topology import (
    TOPOLOGY_KIND,
    ClusterTopology,
    cluster_topology_of,
    effective_topologies,
    topology_ref,
    unreadable_names,
)
from grove_core.resources.configuration import DEFAULT_CONFIGURATION, Configuration
from grove_core.resources.fields import Fields, shown
from grove_core.resources.manifest import manifest_of
from grove_core.resources.podclique import PodClique
from grove_core.resources.template import read_spec
from grove_core.resources.topology_usage import SET_KIND, bound_pods_by_set, topology_use_of, users_by_topology


def admit_topology(
    new: Mapping[str, Any],
    old: Mapping[str, Any] | None = None,
    around: TopologyView = NOTHING_KNOWN,
    configuration: Configuration = DEFAULT_CONFIGURATION,
) -> Decision[AdmissionVerdict]:
    """Judge a ClusterTopology, as an update where the old one is given; all objections at once.

    Total and pure: one that does not read is refused (TP-087), and an old one that does not read had no levels.
    """
    subject = _subject(new)
    admitted = Refuse.TOPOLOGY_ADMITTED.because(subject)
    try:
        topology = cluster_topology_of(new)
    except MalformedObject as fault:
        unread = (
            Objection(problem.path, problem.got, Refuse.TOPOLOGY_UNREADABLE.because(subject, expected=problem.expected))
            for problem in fault.problems
        )
        return verdict_of(unread, (), admitted)
    before = _topology_before(old)
    found = (fault.objection(subject) for fault in level_violations(topology, before, configuration, around))
    return verdict_of(found, level_warnings(subject, topology, before, around), admitted)


def admit_topology_deletion(old: Mapping[str, Any], around: TopologyView = NOTHING_KNOWN) -> Decision[AdmissionVerdict]:
    """Judge the deletion of a ClusterTopology: it may be, and its finalizer holds it while it is used (TP-086)."""
    subject = _subject(old)
    cautions = (
        Caution("metadata.name", shown(subject.name), reason) for reason in _deletion_warnings(subject, old, around)
    )
    return verdict_of((), cautions, Refuse.TOPOLOGY_ADMITTED.because(subject))


def topology_view_of(
    topologies: Iterable[Mapping[str, Any]],
    sets: Iterable[Mapping[str, Any]],
    cliques: Collection[PodClique],
    partial: Iterable[str] = (),
) -> TopologyView:
    """What manifests are judged by, from objects of an input; None for kinds of which it has none.

    Args:
        topologies, sets: as they are written.
        cliques: those that read.
        partial: kinds of which some object was left out, for it does not read.

    What does not read is reported where it is judged; whatever depends on it is not known.
    """
    known, unread = _read_all(topologies)
    read = [manifest_of(with_defaults(raw))[0] for raw in sets]
    manifests = [one for one in read if one is not None]
    bound = bound_pods_by_set(cliques)
    users = users_by_topology(((one.namespace or "default", one.name, one.spec.template) for one in manifests), bound)
    placed = bound if cliques else None
    return TopologyView(
        effective_topologies(known) if known else None,
        placed,
        users if cliques else None,
        unreadable_names(unread, known),
        frozenset(partial) | frozenset({SET_KIND} if len(manifests) < len(read) else ()),
    )


def topology_used_in(raw: Mapping[str, Any]) -> str | None:
    """The topology that a PodCliqueSet uses, be it named or not; empty for none, None where it does not read. Total."""
    spec, _ = read_spec(raw.get("spec"))
    return topology_use_of(spec.template).topology if spec is not None else None


def _read_all(topologies: Iterable[Mapping[str, Any]]) -> tuple[list[ClusterTopology], list[Ref]]:
    """Those that read, and where the others stand."""
    known: list[ClusterTopology] = []
    unread: list[Ref] = []
    for raw in topologies:
        try:
            known.append(cluster_topology_of(raw))
        except MalformedObject:
            unread.append(topology_ref(_subject(raw).name, str(raw.get("kind") or TOPOLOGY_KIND)))
    return known, unread


def _deletion_warnings(subject: Ref, old: Mapping[str, Any], around: TopologyView) -> Iterator[Reason]:
    """Whom a deletion concerns, and whether it waits for them; only what has the finalizer waits."""
    users = (around.users or {}).get(subject.name, ())
    if around.users is None:
        yield Warn.USERS_NOT_KNOWN.because(subject)
    elif users and TOPOLOGY_FINALIZER in Fields(old, "", []).part("metadata").texts("finalizers"):
        yield Warn.STILL_USED.because(subject, users=users_text(users))
    elif users:
        yield Warn.USED_AND_NOT_HELD.because(subject, users=users_text(users), finalizer=TOPOLOGY_FINALIZER)


def _topology_before(old: Mapping[str, Any] | None) -> ClusterTopology | None:
    if old is None:
        return None
    try:
        return cluster_topology_of(old)
    except MalformedObject:
        return cluster_topology_of({"metadata": {"name": _subject(old).name or "unnamed"}})


def _subject(raw: Mapping[str, Any]) -> Ref:
    return topology_ref(Fields(raw, "", []).part("metadata").text("name"))
