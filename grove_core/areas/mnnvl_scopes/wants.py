"""What MNNVL by annotation wishes: what is shared is there and belongs to the gang, and goes when nobody uses it."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from grove_core.areas.mnnvl.verdicts import QUESTION
from grove_core.areas.mnnvl_scopes.entry import (
    Clashes,
    Joins,
    Passes,
    Surroundings,
    Waits,
    judge_entry,
    member_in,
    opted_in,
)
from grove_core.areas.mnnvl_scopes.manifests import Maker, is_waited_for_by
from grove_core.areas.mnnvl_scopes.rules import Why
from grove_core.areas.mnnvl_scopes.verdicts import Lot, ScopeJudgement
from grove_core.kernel.decisions import Finding
from grove_core.kernel.frozen import FrozenMap, part_of
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Ensure
from grove_core.kernel.wants import Absent, Applied, Desired, Ensured, Present, Want, Withheld
from grove_core.resources.api_names import MNNVL_ADOPTED, SET_REPLICA
from grove_core.resources.configuration import MnnvlMode
from grove_core.resources.domain_sharing import CliquePosition, LabelledClique, scope_of, shared_claim_entry
from grove_core.resources.names import index_from, listed
from grove_core.resources.owner_reference import owner_reference_to
from grove_core.snapshot.coming import refusals
from grove_core.snapshot.snapshot import Snapshot

_HELD: Final = frozenset({Lot.WAITED_FOR, Lot.TAKEN, Lot.KEPT, Lot.UNKNOWN})


def wants_of_scopes(snapshot: Snapshot, judgement: ScopeJudgement) -> Desired:
    """What exists and is to belong to another, to go, or to come again."""
    return Desired.of(_wishes(snapshot, judgement))


def _wishes(snapshot: Snapshot, judgement: ScopeJudgement) -> Iterator[Want | Withheld]:
    for fate in judgement.fates:
        found = fate.found
        if fate.lot is Lot.MADE_AGAIN and fate.member is not None:
            maker = Maker(snapshot.configuration, snapshot.served, snapshot.root.ref.namespace)
            yield maker.ensured(fate.kind, fate.member, fate.owner, fate.because)
        elif found is not None and fate.lot is Lot.HANDED_OVER:
            owners = (owner_reference_to(fate.owner, blocks=is_waited_for_by(fate.owner)),)
            fields = FrozenMap({"metadata": FrozenMap({"ownerReferences": owners})})
            yield Applied(found.ref, found.guard, fields, (fate.because,))
        elif found is not None and fate.lot is Lot.SURPLUS:
            yield Absent(found.ref, found.guard, (fate.because,))
        elif fate.lot in _HELD:
            yield Withheld(fate.because.subject, (fate.because,))


def as_admitted(snapshot: Snapshot, desired: Desired) -> Desired:
    """Wishes as the webhooks leave them: PodCliques with the claim to what they share, PodGangs with their stamp.

    What a PodClique needs and is not there comes before it, once for all who share it; one that admission would refuse
    now is held back (specs/decisions/0013). Linear in what is made.
    """
    if not snapshot.configuration.mnnvl.in_mode(MnnvlMode.ANNOTATIONS):
        return desired
    around = _around(snapshot)
    taken = {want.target for want in desired.wants if isinstance(want, Ensured)}
    ensures: list[Want] = []
    wants: list[Want] = []
    held = list(desired.held_back)
    for want in desired.wants:
        if not isinstance(want, Present):
            wants.append(want)
        elif want.target.kind == "PodGang":
            wants.append(Present(want.target, stamped(want.manifest), want.because, want.is_foundation))
        elif want.target.kind == "PodClique":
            entry = judge_entry(_newcomer(want), around, taken)
            if isinstance(entry, Waits | Clashes):
                held.append(Withheld(want.target, (entry.because, *want.because)))
            elif isinstance(entry, Joins):
                ensures += entry.ensures
                taken.update(one.target for one in entry.ensures)
                because = (*want.because, entry.because)
                wants.append(Present(want.target, _with_pod_spec(want.manifest, entry.pod_spec), because))
            else:
                wants.append(want)
        else:
            wants.append(want)
    return Desired((*ensures, *wants), tuple(held))


class _Newcomer(NamedTuple):
    """A PodClique that is to be made, as admission looks at it."""

    ref: Ref
    replica_index: int
    labels: FrozenMap
    annotations: FrozenMap
    pod_spec: FrozenMap


def _newcomer(want: Present) -> _Newcomer:
    metadata = part_of(want.manifest, "metadata")
    labels = part_of(metadata, "labels")
    index = index_from(str(labels.get(SET_REPLICA[0], "")))
    pod_spec = part_of(part_of(want.manifest, "spec"), "podSpec")
    return _Newcomer(want.target, -1 if index is None else index, labels, part_of(metadata, "annotations"), pod_spec)


def _with_pod_spec(manifest: FrozenMap, pod_spec: FrozenMap) -> FrozenMap:
    """A PodClique with another pod spec."""
    return FrozenMap({**manifest, "spec": FrozenMap({**part_of(manifest, "spec"), "podSpec": pod_spec})})


def stamped(manifest: FrozenMap) -> FrozenMap:
    """A PodGang with the word that it adopts what its members share (MS-044)."""
    metadata = part_of(manifest, "metadata")
    annotations = FrozenMap({**part_of(metadata, "annotations"), MNNVL_ADOPTED: "true"})
    return FrozenMap({**manifest, "metadata": FrozenMap({**metadata, "annotations": annotations})})


def findings_of_scopes(snapshot: Snapshot, judgement: ScopeJudgement, desired: Desired) -> Iterator[Finding]:
    """Which criterion decided of each PodClique, and what becomes of what they share.

    Args:
        snapshot: of the set.
        judgement: of what exists.
        desired: as the webhooks leave it.
    """
    for fate in judgement.fates:
        yield Finding(fate.because.subject, QUESTION, fate.lot.value, (fate.because,))
    is_on = snapshot.configuration.mnnvl.in_mode(MnnvlMode.ANNOTATIONS)
    if is_on:
        sharing = [name for name, told in judgement.annotations.items() if scope_of(told) is not None]
        because = Why.CLIQUES_OPT_IN.because(snapshot.root.ref, cliques=listed(sharing))
        yield Finding(snapshot.root.ref, QUESTION, "Wanted" if sharing else "NotWanted", (because,))
    if is_on or judgement.fates:
        stored = (clique for clique in snapshot.cliques if not clique.deleting)
        yield from (_of_clique(clique, judgement.positions.get(clique.ref.name)) for clique in stored)
    again = {fate.because.subject for fate in judgement.fates if fate.lot is Lot.MADE_AGAIN}
    for want in desired.wants if is_on else ():
        if isinstance(want, Ensured) and want.target not in again:
            yield Finding(want.target, QUESTION, "Ensured", want.because)
        elif isinstance(want, Present) and want.target.kind == "PodClique":
            yield _of_clique(_newcomer(want))


def _of_clique(clique: LabelledClique, position: CliquePosition | None = None) -> Finding:
    """What a PodClique shares, by what it holds; by its labels where its place is not told (MS-046)."""
    member = member_in(clique, position)
    if isinstance(member, Passes):
        return Finding(clique.ref, QUESTION, "JoinsNothing", (member.because,))
    if shared_claim_entry(clique.pod_spec) is None:
        return Finding(clique.ref, QUESTION, "LetInWithout", (Why.LET_IN_WITHOUT.because(clique.ref),))
    return Finding(clique.ref, QUESTION, "Joins", (opted_in(clique, member),))


def _around(snapshot: Snapshot) -> Surroundings:
    """A snapshot as admission looks at it."""
    return Surroundings(
        configuration=snapshot.configuration,
        served=snapshot.served,
        owner=snapshot.root,
        domains=snapshot.named_domains,
        claims=snapshot.named_claims,
        refused=refusals(snapshot, Ensure),
    )
