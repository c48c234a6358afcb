"""From judgements to wishes: entries that should be gone, and what the domain's status should say."""

from collections import defaultdict
from collections.abc import Iterator

from grove_core.areas.domain_cliques.entries import Fate, Judged, judge_entries
from grove_core.areas.domain_cliques.moment import DomainMoment
from grove_core.areas.domain_cliques.rules import Why
from grove_core.areas.domain_cliques.summary import Summary, summary_of
from grove_core.areas.domain_cliques.writing import place_of, without
from grove_core.kernel.decisions import Finding
from grove_core.kernel.frozen import frozen
from grove_core.kernel.refs import Ref
from grove_core.kernel.wants import Applied, Desired, HeldBack, Status, Want
from grove_core.resources.compute_domain import NODE_NAME
from grove_core.resources.compute_domain_clique import ComputeDomainClique


def wants_of_domain(moment: DomainMoment) -> tuple[Desired, tuple[Finding, ...]]:
    """What should change about a domain and its cliques, and every verdict behind it (DC-070 to DC-087).

    Where entries leave the domain itself, its status is written in a later round: one write for each object (PL-005).
    """
    if moment.domain.deleting:
        because = (Why.DOMAIN_BEING_DELETED.because(moment.domain.ref),)
        return Desired(), (Finding(moment.domain.ref, "status", "Keep", because),)
    judged = judge_entries(moment)
    summary = summary_of(moment, judged)
    wants: list[Want] = [*_removals(judged), *_status(moment, summary)]
    held = [
        HeldBack(found.register.ref, found.decision.because)
        for found in judged
        if found.decision is not None and found.fate is Fate.UNKNOWN
    ]
    once = {unsure.target: unsure for unsure in reversed(held)}
    return Desired.union((Desired(tuple(wants), tuple(once.values())),)), tuple(_findings(moment, judged, summary))


def _removals(judged: tuple[Judged, ...]) -> Iterator[Want]:
    """Whole entries go, in one write for each object that was judged; none is edited (DC-075)."""
    leftovers = defaultdict[Ref, list[Judged]](list)
    for found in judged:
        if found.fate is Fate.REMOVE:
            leftovers[found.register.ref].append(found)
    for ref, gone in leftovers.items():
        register = gone[0].register
        place = place_of(sharded=isinstance(register, ComputeDomainClique))
        left = without(register, place, (found.entry.node for found in gone))
        fields = frozen({place.above: {place.key: left}} if place.above else {place.key: left})
        because = tuple(reason for found in gone if found.decision is not None for reason in found.decision.because)
        yield Applied(ref, register.guard, fields, because)


def _status(moment: DomainMoment, summary: Summary) -> Iterator[Want]:
    """All of what the controller says of the domain, where anything of it differs from what is stored (DC-086)."""
    domain = moment.domain
    cliques = tuple(told for told, _ in summary.cliques)
    stored = tuple(entry for entry in domain.nodes if not entry.clique)
    if (domain.readiness, domain.cliques, stored) == (summary.status.verdict, cliques, summary.fabricless):
        return
    fields = {
        "status": summary.status.verdict,
        "cliques": tuple({"id": told.id, "status": told.status} for told in cliques),
        "nodes": tuple(entry.as_json(NODE_NAME) for entry in summary.fabricless),
    }
    because = (*summary.status.because, *(reason for _, decision in summary.cliques for reason in decision.because))
    yield Status(domain.ref, domain.guard, frozen(fields), because)


def _findings(moment: DomainMoment, judged: tuple[Judged, ...], summary: Summary) -> Iterator[Finding]:
    yield Finding(moment.domain.ref, "status", summary.status.verdict, summary.status.because)
    for clique, (_, decision) in zip(sorted(moment.cliques, key=lambda one: one.clique), summary.cliques, strict=True):
        yield Finding(clique.ref, "status", decision.verdict, decision.because)
    for found in judged:
        if found.decision is not None:
            question = f"entry of {found.entry.node}"
            yield Finding(found.register.ref, question, found.decision.verdict.value, found.decision.because)
