"""What MNNVL by annotation wishes: what is shared is there and belongs to the gang, and goes when nobody uses it."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from grove_core.areas.mnnvl.verdicts import QUESTION
from grove_core.areas.mnnvl_scopes.clique_admission import (
    ClaimConflict,
    CliqueAdmissionView,
    JoinsDomain,
    LeftUnchanged,
    MustWait,
    judge_clique_admission,
    membership_in,
    opt_in_reason,
)
from grove_core.areas.mnnvl_scopes.manifests import SharedObjectBuilder, blocks_deletion_of
from grove_core.areas.mnnvl_scopes.rules import Why
from grove_core.areas.mnnvl_scopes.verdicts import ScopeJudgement, SharedState
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

_WITHHELD: Final = frozenset({SharedState.WAITED_FOR, SharedState.TAKEN, SharedState.KEPT, SharedState.UNKNOWN})


def wants_of_scopes(snapshot: Snapshot, judgement: ScopeJudgement) -> Desired:
    """What exists and is to belong to another, to go, or to come again."""
    return Desired.of(_wants(snapshot, judgement))


def _wants(snapshot: Snapshot, judgement: ScopeJudgement) -> Iterator[Want | Withheld]:
    for fate in judgement.verdicts:
        found = fate.found
        if fate.state is SharedState.MADE_AGAIN and fate.member is not None:
            maker = SharedObjectBuilder(snapshot.configuration, snapshot.served, snapshot.root.ref.namespace)
            yield maker.ensured(fate.kind, fate.member, fate.owner, fate.because)
        elif found is not None and fate.state is SharedState.HANDED_OVER:
            owners = (owner_reference_to(fate.owner, blocks=blocks_deletion_of(fate.owner)),)
            fields = FrozenMap({"metadata": FrozenMap({"ownerReferences": owners})})
            yield Applied(found.ref, found.guard, fields, (fate.because,))
        elif found is not None and fate.state is SharedState.SURPLUS:
            yield Absent(found.ref, found.guard, (fate.because,))
        elif fate.state in _WITHHELD:
            yield Withheld(fate.because.subject, (fate.because,))


def apply_admission(snapshot: Snapshot, desired: Desired) -> Desired:
    """Wishes as the webhooks leave them: PodCliques with the claim to what they share, PodGangs with their stamp.

    What a PodClique needs and is not there comes before it, once for all who share it; one that admission would refuse
    now is held back (specs/decisions/0013). Linear in what is made.
    """
    if not snapshot.configuration.mnnvl.in_mode(MnnvlMode.ANNOTATIONS):
        return desired
    around = _admission_view(snapshot)
    taken = {want.target for want in desired.wants if isinstance(want, Ensured)}
    ensures: list[Want] = []
    wants: list[Want] = []
    held = list(desired.held_back)
    for want in desired.wants:
        if not isinstance(want, Present):
            wants.append(want)
        elif want.target.kind == "PodGang":
            wants.append(
                Present(want.target, with_adoption_annotation(want.manifest), want.because, want.is_foundation)
            )
        elif want.target.kind == "PodClique":
            entry = judge_clique_admission(_new_clique(want), around, taken)
            if isinstance(entry, MustWait | ClaimConflict):
                held.append(Withheld(want.target, (entry.because, *want.because)))
            elif isinstance(entry, JoinsDomain):
                ensures += entry.ensures
                taken.update(one.target for one in entry.ensures)
                because = (*want.because, entry.because)
                wants.append(Present(want.target, _with_pod_spec(want.manifest, entry.pod_spec), because))
            else:
                wants.append(want)
        else:
            wants.append(want)
    return Desired((*ensures, *wants), tuple(held))


class _NewClique(NamedTuple):
    """A PodClique that is to be made, as admission looks at it."""

    ref: Ref
    replica_index: int
    labels: FrozenMap
    annotations: FrozenMap
    pod_spec: FrozenMap


def _new_clique(want: Present) -> _NewClique:
    metadata = part_of(want.manifest, "metadata")
    labels = part_of(metadata, "labels")
    index = index_from(str(labels.get(SET_REPLICA[0], "")))
    pod_spec = part_of(part_of(want.manifest, "spec"), "podSpec")
    return _NewClique(want.target, -1 if index is None else index, labels, part_of(metadata, "annotations"), pod_spec)


def _with_pod_spec(manifest: FrozenMap, pod_spec: FrozenMap) -> FrozenMap:
    """A PodClique with another pod spec."""
    return FrozenMap({**manifest, "spec": FrozenMap({**part_of(manifest, "spec"), "podSpec": pod_spec})})


def with_adoption_annotation(manifest: FrozenMap) -> FrozenMap:
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
    for fate in judgement.verdicts:
        yield Finding(fate.because.subject, QUESTION, fate.state.value, (fate.because,))
    is_on = snapshot.configuration.mnnvl.in_mode(MnnvlMode.ANNOTATIONS)
    if is_on:
        sharing = [name for name, told in judgement.annotations.items() if scope_of(told) is not None]
        because = Why.CLIQUES_OPT_IN.because(snapshot.root.ref, cliques=listed(sharing))
        yield Finding(snapshot.root.ref, QUESTION, "Wanted" if sharing else "NotWanted", (because,))
    if is_on or judgement.verdicts:
        stored = (clique for clique in snapshot.cliques if not clique.deleting)
        yield from (_of_clique(clique, judgement.positions.get(clique.ref.name)) for clique in stored)
    again = {fate.because.subject for fate in judgement.verdicts if fate.state is SharedState.MADE_AGAIN}
    for want in desired.wants if is_on else ():
        if isinstance(want, Ensured) and want.target not in again:
            yield Finding(want.target, QUESTION, "Ensured", want.because)
        elif isinstance(want, Present) and want.target.kind == "PodClique":
            yield _of_clique(_new_clique(want))


def _of_clique(clique: LabelledClique, position: CliquePosition | None = None) -> Finding:
    """What a PodClique shares, by what it holds; by its labels where its place is not told (MS-046)."""
    member = membership_in(clique, position)
    if isinstance(member, LeftUnchanged):
        return Finding(clique.ref, QUESTION, "JoinsNothing", (member.because,))
    if shared_claim_entry(clique.pod_spec) is None:
        return Finding(clique.ref, QUESTION, "LetInWithout", (Why.LET_IN_WITHOUT.because(clique.ref),))
    return Finding(clique.ref, QUESTION, "Joins", (opt_in_reason(clique, member),))


def _admission_view(snapshot: Snapshot) -> CliqueAdmissionView:
    """A snapshot as admission looks at it."""
    return CliqueAdmissionView(
        configuration=snapshot.configuration,
        served=snapshot.served,
        owner=snapshot.root,
        domains=snapshot.named_domains,
        claims=snapshot.named_claims,
        refused=refusals(snapshot, Ensure),
    )
