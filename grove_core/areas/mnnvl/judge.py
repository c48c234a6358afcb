"""Which replicas have a ComputeDomain, need one, or do without (MN-001 to MN-043). Linear in what a set consists of."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final, NamedTuple, assert_never

from grove_core.areas.mnnvl.eligibility import cliques_with_gpus, opts_out
from grove_core.areas.mnnvl.rules import Why
from grove_core.areas.mnnvl.verdicts import CliqueDomains, DomainState, MnnvlJudgement, ReplicaDomain, SiblingUse
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

_RETRIED: Final = frozenset({DomainState.AWAITED, DomainState.RESTORED, DomainState.LEAVING})
LEAVING_TIMEOUT: Final = timedelta(seconds=60)  # decision D39


def judge_mnnvl(snapshot: Snapshot) -> MnnvlJudgement:
    """What becomes of the ComputeDomains of a set.

    Args:
        snapshot: of the set, own writes counted as seen.
    """
    wanted, criterion = _criterion_of(snapshot)
    if snapshot.root.deleting or not snapshot.root.uid:
        return MnnvlJudgement(criterion, wanted, failure=None)
    if is_too_large(snapshot):
        return MnnvlJudgement(criterion, wanted, failure=None)  # it stays as it is, and so does what it says
    scene = _SetDomains(snapshot)
    indices = range(max(snapshot.root.spec.replicas, 0)) if wanted else scene.joined
    replicas = tuple(scene.replica(index) for index in indices)
    failure = scene.failure(replicas) if (scene.knows and not scene.unseen) or not scene.is_on else None
    return MnnvlJudgement(criterion, wanted, replicas, failure)


def clique_domains_of(snapshot: Snapshot, judgement: MnnvlJudgement) -> CliqueDomains:
    """The part of a judgement that concerns who makes cliques and groups."""
    name = snapshot.root.ref.name
    return CliqueDomains(
        {one.index: domain_claim_template_name(name, one.index) for one in judgement.replicas if one.joins_new_parts},
        {one.index: one.because for one in judgement.replicas if one.withholds_parts},
    )


def domain_ref(snapshot: Snapshot, replica: int) -> Ref:
    """Where the domain of a replica stands."""
    root = snapshot.root.ref
    api_version = domain_format_of(snapshot.configuration, snapshot.served).api_version
    return Ref(api_version, DOMAIN_KIND, root.namespace, domain_name(root.name, replica))


def _criterion_of(snapshot: Snapshot) -> tuple[bool, Reason]:
    """Whether the set is to have domains, by the first criterion that says no, else by the last."""
    root = snapshot.root
    if not snapshot.configuration.mnnvl.in_mode(MnnvlMode.OPERATOR):
        return False, Why.MNNVL_OFF.because(root.ref, setting=_disabled_by(snapshot.configuration.mnnvl))
    if opts_out(root.annotations):
        value = f'"{root.annotations[MNNVL_ENABLED]}"'
        return False, Why.OPTED_OUT.because(root.ref, annotation=MNNVL_ENABLED, value=value)
    cliques = cliques_with_gpus(root.spec.template)
    if not cliques:
        return False, Why.NO_GPUS_ASKED.because(root.ref, resource=GPU)
    return True, Why.GPUS_ASKED.because(root.ref, cliques=listed(cliques))


def _disabled_by(told: Mnnvl) -> str:
    """What of the configuration keeps the operator from making domains of its own."""
    return "MNNVL is by annotations" if told.enabled else "MNNVL is off"


class _Replica(NamedTuple):
    """One replica: where its domain stands, and what lives of the replica."""

    index: int  # type: ignore[assignment]  # hides tuple.index, which nobody looks for here
    ref: Ref
    siblings: SiblingUse

    def is_so(self, fate: DomainState, because: Reason, *, error: str = "") -> ReplicaDomain:
        """The answer about it, where nobody else holds the domain's name."""
        return ReplicaDomain(self.index, self.siblings, fate, (because,), error=error)

    def is_taken(
        self, fate: DomainState, because: Reason, *, until: datetime | None = None, error: str = ""
    ) -> ReplicaDomain:
        """The answer about it, where somebody does."""
        return ReplicaDomain(self.index, self.siblings, fate, (because,), until, name_is_taken=True, error=error)


class _SetDomains:
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
        self.siblings: dict[int, SiblingUse] = {}
        self._snapshot = snapshot
        self._root = snapshot.root
        self._before = creation_failure_in(snapshot.root.status.conditions)
        refused = refusals(snapshot, Create)
        self._refused = {name: error for (kind, name), error in refused.items() if kind == DOMAIN_KIND}
        parts: tuple[ScalingGroup | PodClique, ...] = (*snapshot.groups, *snapshot.cliques, *made_parts(snapshot))
        for part in parts:
            if not part.deleting and self.siblings.get(part.replica_index) is not SiblingUse.JOINED:
                self.siblings[part.replica_index] = (
                    SiblingUse.JOINED if DOMAIN_TEMPLATE in part.annotations else SiblingUse.WITHOUT
                )

    @property
    def joined(self) -> list[int]:
        """The replicas that use a domain, in order."""
        return sorted(index for index, kin in self.siblings.items() if kin is SiblingUse.JOINED)

    def replica(self, index: int) -> ReplicaDomain:
        """What becomes of one replica."""
        ref = domain_ref(self._snapshot, index)
        found = self._snapshot.named_domains.get((ref.namespace, ref.name))
        place = _Replica(index, ref, self.siblings.get(index, SiblingUse.NONE))
        if found is not None and found.owner_uid == self._root.uid and not found.deleting:
            if place.siblings is SiblingUse.WITHOUT:
                return self._without(place)
            return place.is_so(DomainState.JOINED, Why.DOMAIN_EXISTS.because(found.ref, domain=ref.name))
        if not self.knows:
            fate = {
                SiblingUse.NONE: DomainState.UNKNOWN,
                SiblingUse.JOINED: DomainState.JOINED,
                SiblingUse.WITHOUT: DomainState.WITHOUT,
            }[place.siblings]
            return place.is_so(fate, Why.DOMAINS_NOT_COLLECTED.because(ref, domain=ref.name))
        if place.siblings is SiblingUse.NONE and self.unseen:
            because = Why.SIBLINGS_NOT_COLLECTED.because(ref, kinds=listed(self.unseen), replica=index)
            return place.is_so(DomainState.UNKNOWN, because)
        if not self.is_on:
            setting = _disabled_by(self._snapshot.configuration.mnnvl)
            return place.is_so(DomainState.MISSED, Why.MISSED_WHILE_OFF.because(ref, replica=index, setting=setting))
        if (
            place.siblings is SiblingUse.WITHOUT
            and index not in self._before.replicas
            and ref.name not in self._refused
        ):
            return self._without(place)
        return self._missing(place) if found is None else self._taken(place, found)

    def failure(self, replicas: Iterable[ReplicaDomain]) -> CreationFailure:
        """What the set's condition has to say (MN-012); what failed and is tried again stays until it is there."""
        failed = [
            one
            for one in replicas
            if one.state is DomainState.FAILED or (one.state in _RETRIED and one.index in self._before.replicas)
        ]
        if not failed:
            return CreationFailure()
        stored = self._before.error if failed[0].index in self._before.replicas[:1] else ""
        errors = (failed[0].error, stored, *(one.error for one in failed), self._before.error)
        error = next((words for words in errors if words), "")
        return CreationFailure(tuple(one.index for one in failed), error)

    def _missing(self, place: _Replica) -> ReplicaDomain:
        """Of a domain that should be there, where nobody holds its name."""
        ref = place.ref
        if ref.name in self._refused:
            error = self._refused[ref.name]
            because = Why.RUNS_WITHOUT_DOMAIN.because(ref, domain=ref.name, error=error)
            return place.is_so(DomainState.FAILED, because, error=error)
        match place.siblings:
            case SiblingUse.NONE:
                return place.is_so(DomainState.AWAITED, Why.WAITS_FOR_DOMAIN.because(ref, domain=ref.name))
            case SiblingUse.JOINED:
                return place.is_so(DomainState.RESTORED, Why.MADE_AGAIN.because(ref, replica=place.index))
            case SiblingUse.WITHOUT:
                return place.is_so(DomainState.FAILED, Why.TRIED_AGAIN.because(ref))
            case _:
                assert_never(place.siblings)

    def _taken(self, place: _Replica, found: ComputeDomain) -> ReplicaDomain:
        """Of a domain whose name is held by another, or by one that goes."""
        until = self._leaves_by(found)
        if until is not None and self._snapshot.now < until:
            because = Why.EARLIER_DOMAIN.because(found.ref, domain=found.ref.name, until=format_time(until))
            return place.is_taken(
                DomainState.FAILED if place.siblings is SiblingUse.WITHOUT else DomainState.LEAVING,
                because,
                until=until,
            )
        holder = f"{found.owner_kind} {found.owner_name}" if found.owner_uid else "somebody else; it has no controller"
        if found.deleting:
            holder = f"{holder}, is being deleted, and does not go"
        elif until is not None:
            holder = f"an earlier {holder}, and does not go"
        because = Why.NAME_IS_TAKEN.because(found.ref, domain=found.ref.name, holder=holder)
        return place.is_taken(DomainState.FAILED, because, error=because.sentence)

    def _without(self, place: _Replica) -> ReplicaDomain:
        subject = self._root.ref.at_replica(place.index)
        return place.is_so(DomainState.WITHOUT, Why.REPLICA_RUNS_WITHOUT.because(subject, replica=place.index))

    def _leaves_by(self, found: ComputeDomain) -> datetime | None:
        """Until when a domain that is on its way out is waited for; None for one that stays (MN-041)."""
        if found.deleting:
            return (found.deleted_at or self._snapshot.now) + LEAVING_TIMEOUT
        of_name = (found.owner_kind, found.owner_name) == (self._root.ref.kind, self._root.ref.name)
        if of_name and found.owner_uid != self._root.uid:
            return (self._root.created_at or self._snapshot.now) + LEAVING_TIMEOUT
        return None
