"""Which replicas have a ComputeDomain, need one, or do without (MN-001 to MN-043). Linear in what a set consists of."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final, NamedTuple, assert_never

from grove_core.areas.mnnvl.criterion import asking, opts_out
from grove_core.areas.mnnvl.rules import Why
from grove_core.areas.mnnvl.verdicts import Fabric, FabricJudgement, Fate, Kin, ReplicaFabric
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Create
from grove_core.kernel.times import format_time
from grove_core.resources.api_formats import domain_format_of
from grove_core.resources.api_names import DOMAIN_TEMPLATE, MNNVL_ENABLED
from grove_core.resources.compute_domain import DOMAIN_KIND, ComputeDomain
from grove_core.resources.configuration import Mnnvl, MnnvlMode
from grove_core.resources.domains_ready_condition import CreationFailure, creation_failure_in
from grove_core.resources.gpus import GPU
from grove_core.resources.names import domain_claim_template_name, domain_name, listed
from grove_core.resources.podclique import PodClique
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.snapshot.coming import made_parts, refusals
from grove_core.snapshot.size import is_too_large
from grove_core.snapshot.snapshot import Snapshot
from grove_core.snapshot.users import parts_not_collected

_TRIED_AGAIN: Final = frozenset({Fate.AWAITED, Fate.RESTORED, Fate.LEAVING})
PATIENCE: Final = timedelta(seconds=60)  # decision D39


def judge_fabric(snapshot: Snapshot) -> FabricJudgement:
    """What becomes of the ComputeDomains of a set.

    Args:
        snapshot: of the set, own writes counted as seen.
    """
    wanted, criterion = _criterion_of(snapshot)
    if snapshot.root.deleting or not snapshot.root.uid:
        return FabricJudgement(criterion, wanted, failure=None)
    if is_too_large(snapshot):
        return FabricJudgement(criterion, wanted, failure=None)  # it stays as it is, and so does what it says
    scene = _Scene(snapshot)
    indices = range(max(snapshot.root.spec.replicas, 0)) if wanted else scene.joined
    replicas = tuple(scene.replica(index) for index in indices)
    failure = scene.failure(replicas) if (scene.knows and not scene.unseen) or not scene.is_on else None
    return FabricJudgement(criterion, wanted, replicas, failure)


def fabric_of(snapshot: Snapshot, judgement: FabricJudgement) -> Fabric:
    """The part of a judgement that concerns who makes cliques and groups."""
    name = snapshot.root.ref.name
    return Fabric(
        {one.index: domain_claim_template_name(name, one.index) for one in judgement.replicas if one.is_used},
        {one.index: one.because for one in judgement.replicas if one.is_waited_for},
    )


def address_of(snapshot: Snapshot, replica: int) -> Ref:
    """Where the domain of a replica stands."""
    root = snapshot.root.ref
    api_version = domain_format_of(snapshot.configuration, snapshot.served).api_version
    return Ref(api_version, DOMAIN_KIND, root.namespace, domain_name(root.name, replica))


def _criterion_of(snapshot: Snapshot) -> tuple[bool, Reason]:
    """Whether the set is to have domains, by the first criterion that says no, else by the last."""
    root = snapshot.root
    if not snapshot.configuration.mnnvl.in_mode(MnnvlMode.OPERATOR):
        return False, Why.MNNVL_OFF.because(root.ref, setting=_off_by(snapshot.configuration.mnnvl))
    if opts_out(root.annotations):
        value = f'"{root.annotations[MNNVL_ENABLED]}"'
        return False, Why.OPTED_OUT.because(root.ref, annotation=MNNVL_ENABLED, value=value)
    cliques = asking(root.spec.template)
    if not cliques:
        return False, Why.NO_GPUS_ASKED.because(root.ref, resource=GPU)
    return True, Why.GPUS_ASKED.because(root.ref, cliques=listed(cliques))


def _off_by(told: Mnnvl) -> str:
    """What of the configuration keeps the operator from making domains of its own."""
    return "MNNVL is by annotations" if told.enabled else "MNNVL is off"


class _Place(NamedTuple):
    """One replica: where its domain stands, and what lives of the replica."""

    index: int  # type: ignore[assignment]  # hides tuple.index, which nobody looks for here
    ref: Ref
    kin: Kin

    def is_so(self, fate: Fate, because: Reason, *, error: str = "") -> ReplicaFabric:
        """The answer about it, where nobody else holds the domain's name."""
        return ReplicaFabric(self.index, self.kin, fate, (because,), error=error)

    def is_taken(self, fate: Fate, because: Reason, *, until: datetime | None = None, error: str = "") -> ReplicaFabric:
        """The answer about it, where somebody does."""
        return ReplicaFabric(self.index, self.kin, fate, (because,), until, is_taken=True, error=error)


class _Scene:
    """A set as it is looked at here, with what is asked again and again found once.

    Attributes:
        is_on: whether domains are made in this mode.
        knows: whether every ComputeDomain is in the snapshot.
        unseen: kinds of siblings that may be there and not in the snapshot.
        kin: by replica.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self.is_on = snapshot.configuration.mnnvl.in_mode(MnnvlMode.OPERATOR)
        self.knows = DOMAIN_KIND in snapshot.complete
        self.unseen = parts_not_collected(snapshot)
        self.kin: dict[int, Kin] = {}
        self._snapshot = snapshot
        self._root = snapshot.root
        self._before = creation_failure_in(snapshot.root.status.conditions)
        refused = refusals(snapshot, Create)
        self._refused = {name: error for (kind, name), error in refused.items() if kind == DOMAIN_KIND}
        parts: tuple[ScalingGroup | PodClique, ...] = (*snapshot.groups, *snapshot.cliques, *made_parts(snapshot))
        for part in parts:
            if not part.deleting and self.kin.get(part.replica_index) is not Kin.JOINED:
                self.kin[part.replica_index] = Kin.JOINED if DOMAIN_TEMPLATE in part.annotations else Kin.WITHOUT

    @property
    def joined(self) -> list[int]:
        """The replicas that use a domain, in order."""
        return sorted(index for index, kin in self.kin.items() if kin is Kin.JOINED)

    def replica(self, index: int) -> ReplicaFabric:
        """What becomes of one replica."""
        ref = address_of(self._snapshot, index)
        found = self._snapshot.named_domains.get((ref.namespace, ref.name))
        place = _Place(index, ref, self.kin.get(index, Kin.NONE))
        if found is not None and found.owner_uid == self._root.uid and not found.deleting:
            if place.kin is Kin.WITHOUT:
                return self._without(place)
            return place.is_so(Fate.JOINED, Why.DOMAIN_EXISTS.because(found.ref, domain=ref.name))
        if not self.knows:
            fate = {Kin.NONE: Fate.UNKNOWN, Kin.JOINED: Fate.JOINED, Kin.WITHOUT: Fate.WITHOUT}[place.kin]
            return place.is_so(fate, Why.DOMAINS_NOT_COLLECTED.because(ref, domain=ref.name))
        if place.kin is Kin.NONE and self.unseen:
            because = Why.SIBLINGS_NOT_COLLECTED.because(ref, kinds=listed(self.unseen), replica=index)
            return place.is_so(Fate.UNKNOWN, because)
        if not self.is_on:
            setting = _off_by(self._snapshot.configuration.mnnvl)
            return place.is_so(Fate.MISSED, Why.MISSED_WHILE_OFF.because(ref, replica=index, setting=setting))
        if place.kin is Kin.WITHOUT and index not in self._before.replicas and ref.name not in self._refused:
            return self._without(place)
        return self._missing(place) if found is None else self._taken(place, found)

    def failure(self, replicas: Iterable[ReplicaFabric]) -> CreationFailure:
        """What the set's condition has to say (MN-012); what failed and is tried again stays until it is there."""
        failed = [
            one
            for one in replicas
            if one.fate is Fate.FAILED or (one.fate in _TRIED_AGAIN and one.index in self._before.replicas)
        ]
        if not failed:
            return CreationFailure()
        stored = self._before.error if failed[0].index in self._before.replicas[:1] else ""
        errors = (failed[0].error, stored, *(one.error for one in failed), self._before.error)
        error = next((words for words in errors if words), "")
        return CreationFailure(tuple(one.index for one in failed), error)

    def _missing(self, place: _Place) -> ReplicaFabric:
        """Of a domain that should be there, where nobody holds its name."""
        ref = place.ref
        if ref.name in self._refused:
            error = self._refused[ref.name]
            because = Why.RUNS_WITHOUT_DOMAIN.because(ref, domain=ref.name, error=error)
            return place.is_so(Fate.FAILED, because, error=error)
        match place.kin:
            case Kin.NONE:
                return place.is_so(Fate.AWAITED, Why.WAITS_FOR_DOMAIN.because(ref, domain=ref.name))
            case Kin.JOINED:
                return place.is_so(Fate.RESTORED, Why.MADE_AGAIN.because(ref, replica=place.index))
            case Kin.WITHOUT:
                return place.is_so(Fate.FAILED, Why.TRIED_AGAIN.because(ref))
            case _:
                assert_never(place.kin)

    def _taken(self, place: _Place, found: ComputeDomain) -> ReplicaFabric:
        """Of a domain whose name is held by another, or by one that goes."""
        until = self._leaves_by(found)
        if until is not None and self._snapshot.now < until:
            because = Why.EARLIER_DOMAIN.because(found.ref, domain=found.ref.name, until=format_time(until))
            return place.is_taken(Fate.FAILED if place.kin is Kin.WITHOUT else Fate.LEAVING, because, until=until)
        holder = f"{found.owner_kind} {found.owner_name}" if found.owner_uid else "somebody else; it has no controller"
        if found.deleting:
            holder = f"{holder}, is being deleted, and does not go"
        elif until is not None:
            holder = f"an earlier {holder}, and does not go"
        because = Why.NAME_IS_TAKEN.because(found.ref, domain=found.ref.name, holder=holder)
        return place.is_taken(Fate.FAILED, because, error=because.sentence)

    def _without(self, place: _Place) -> ReplicaFabric:
        subject = self._root.ref.at_replica(place.index)
        return place.is_so(Fate.WITHOUT, Why.REPLICA_RUNS_WITHOUT.because(subject, replica=place.index))

    def _leaves_by(self, found: ComputeDomain) -> datetime | None:
        """Until when a domain that is on its way out is waited for; None for one that stays (MN-041)."""
        if found.deleting:
            return (found.deleted_at or self._snapshot.now) + PATIENCE
        of_name = (found.owner_kind, found.owner_name) == (self._root.ref.kind, self._root.ref.name)
        if of_name and found.owner_uid != self._root.uid:
            return (self._root.created_at or self._snapshot.now) + PATIENCE
        return None
