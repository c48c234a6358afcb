"""From judgements to wishes: entries that should be gone, and what the domain's status should say."""

from collections import defaultdict
from collections.abc import Iterator

from grove_core.areas.domain_cliques.domain_snapshot import DomainSnapshot
from grove_core.areas.domain_cliques.domain_status import DomainStatus, domain_status_of, kept_fabricless_entries
from grove_core.areas.domain_cliques.entry_requests import IN_DOMAIN, entries_without, entry_path
from grove_core.areas.domain_cliques.rules import Why
from grove_core.areas.domain_cliques.stale_entries import EntryVerdict, JudgedEntry, judge_entries
from grove_core.kernel.decisions import Finding
from grove_core.kernel.frozen import Json, frozen
from grove_core.kernel.refs import Ref
from grove_core.kernel.wants import Applied, Desired, Status, Want, Withheld
from grove_core.resources.compute_domain import NODE_NAME
from grove_core.resources.compute_domain_clique import ComputeDomainClique
from grove_core.resources.names import listed


def wants_of_domain(moment: DomainSnapshot) -> tuple[Desired, tuple[Finding, ...]]:
    """What should change about a domain and its cliques, and every verdict behind it (DC-070 to DC-089).

    Where entries leave the domain itself, its status is written in a later round: one write for each object (PL-005).
    """
    if moment.domain.deleting:
        because = (Why.DOMAIN_BEING_DELETED.because(moment.domain.ref),)
        return Desired(), (Finding(moment.domain.ref, "status", "Keep", because),)
    judged = judge_entries(moment)
    summary = domain_status_of(moment, judged)
    removals = tuple(_removals(judged))
    wants: list[Want] = [*removals]
    if all(want.target != moment.domain.ref for want in removals) and not moment.unreadable_cliques:
        wants += _status(moment, judged, summary)
    held = list(_unread(moment)) + [
        Withheld(found.registry.ref, found.decision.because)
        for found in judged
        if found.decision is not None and found.fate is EntryVerdict.UNKNOWN
    ]
    once = {unsure.target: unsure for unsure in reversed(held)}
    return Desired(tuple(wants), tuple(once.values())), tuple(_findings(moment, judged, summary))


def _unread(moment: DomainSnapshot) -> Iterator[Withheld]:
    """A clique that cannot be read is one nonetheless: the status would say that it is gone (DC-089)."""
    if moment.unreadable_cliques:
        because = Why.CLIQUES_UNREAD.because(moment.domain.ref, cliques=moment.unreadable_cliques)
        yield Withheld(moment.domain.ref, (because,))


def _removals(judged: tuple[JudgedEntry, ...]) -> Iterator[Want]:
    """Whole entries go, in one write for each object that was judged; none is edited (DC-075)."""
    leftovers = defaultdict[Ref, list[JudgedEntry]](list)
    for found in judged:
        if found.fate is EntryVerdict.REMOVE:
            leftovers[found.registry.ref].append(found)
    for ref, gone in leftovers.items():
        registry = gone[0].registry
        place = entry_path(sharded=isinstance(registry, ComputeDomainClique))
        left = entries_without(registry, place, (found.entry.node for found in gone))
        fields = frozen({place.above: {place.key: left}} if place.above else {place.key: left})
        because = tuple(reason for found in gone if found.decision is not None for reason in found.decision.because)
        yield Applied(ref, registry.guard, fields, because)


def _status(
    moment: DomainSnapshot, judged: tuple[JudgedEntry, ...], summary: DomainStatus
) -> Iterator[Applied | Status]:
    """All of what the controller says of the domain, where anything of it differs from what is stored (DC-086)."""
    domain, records = moment.domain, summary.records
    theirs = kept_fabricless_entries(judged, summary.fabricless)
    if any(found.fate is EntryVerdict.UNKNOWN for found in theirs):
        return  # an apply that does not hold an entry of the controller's own takes it away (DC-072)
    kept = {found.entry.node for found in theirs}
    stored = tuple(entry for entry in domain.nodes if not entry.clique and entry.node not in kept)
    if (domain.readiness, domain.cliques, stored) == (summary.status.verdict, records, summary.fabricless):
        return
    because = (*summary.status.because, *(reason for _, decision in summary.cliques for reason in decision.because))
    fields: dict[str, Json] = {
        "status": summary.status.verdict,
        "cliques": tuple(frozen({"id": told.id, "status": told.status}) for told in records),
    }
    strange = sorted({told.id for told in domain.cliques} - {told.id for told in records})
    if strange:  # another manager may own them, whose records no apply takes away
        because = (Why.RECORD_STALE.because(domain.ref, cliques=listed(strange)), *because)
        yield Applied(domain.ref, domain.guard, frozen({IN_DOMAIN.above: fields}), because)
    else:
        fields["nodes"] = tuple(entry.as_json(NODE_NAME) for entry in summary.fabricless)
        yield Status(domain.ref, domain.guard, frozen(fields), because)


def _findings(moment: DomainSnapshot, judged: tuple[JudgedEntry, ...], summary: DomainStatus) -> Iterator[Finding]:
    yield Finding(moment.domain.ref, "status", summary.status.verdict, summary.status.because)
    for clique, (_, decision) in zip(sorted(moment.cliques, key=lambda one: one.clique), summary.cliques, strict=True):
        yield Finding(clique.ref, "status", decision.verdict, decision.because)
    for found in judged:
        if found.decision is not None:
            question = f"entry of {found.entry.node}"
            yield Finding(found.registry.ref, question, found.decision.verdict.value, found.decision.because)
