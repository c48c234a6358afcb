"""Judges which replicas have a ComputeDomain, need one, or run without (MN-001 to MN-043). Linear in the objects."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Final, assert_never

from grove_core.areas.mnnvl.design.verdicts import (
    BlockedComputeDomain,
    ComputeDomainNameTaken,
    FailedComputeDomainCreation,
    MissingComputeDomain,
    MnnvlJudgement,
    ReplicaComputeDomain,
    ReplicaComputeDomainState,
    ReplicaUseOfComputeDomain,
    UnchangedComputeDomain,
    WithheldComputeDomain,
)
from grove_core.areas.mnnvl.rules import MnnvlReason
from grove_core.areas.mnnvl.verdicts import ComputeDomainsOfNewParts
from grove_core.kernel.frozen import FrozenDict
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Create
from grove_core.kernel.time_formats import format_time
from grove_core.resources.api_names import DOMAIN_KIND, DOMAIN_TEMPLATE, MNNVL_ENABLED
from grove_core.resources.compute_domain import ComputeDomain
from grove_core.resources.configuration import MnnvlConfiguration, MnnvlMode
from grove_core.resources.domain_and_claim_formats import compute_domain_format_to_write
from grove_core.resources.domains_ready_condition import DomainCreationFailure, domain_failure_in_stored_conditions
from grove_core.resources.naming_rules import compute_domain_name, domain_claim_template_name, name_list_text
from grove_core.resources.pod_spec_gpus import GPU, requests_gpus
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset_spec import SetTemplate
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.snapshot.expected_replicas import is_set_too_large
from grove_core.snapshot.own_writes import created_parts_not_listed, refused_creations
from grove_core.snapshot.snapshot import Snapshot
from grove_core.snapshot.users_of_shared_objects import incompletely_listed_part_kinds


def opts_out_of_mnnvl(annotations: Mapping[str, object]) -> bool:
    """Return whether the set's annotation opts out; any value but "true" does, since older ones were not validated."""
    return annotations.get(MNNVL_ENABLED, "true") != "true"


def cliques_with_gpus(template: SetTemplate) -> tuple[str, ...]:
    """Return the names of the cliques that ask for GPUs, in the order of the template."""
    return tuple(clique.name for clique in template.cliques if requests_gpus(clique.spec.pod_spec))


def wants_compute_domains(annotations: Mapping[str, object], template: SetTemplate) -> bool:
    """Return whether a set would have ComputeDomains if MNNVL is on in mode `operator`."""
    return not opts_out_of_mnnvl(annotations) and bool(cliques_with_gpus(template))


LEAVING_TIMEOUT: Final = timedelta(seconds=60)  # decision D39


def judge_mnnvl(snapshot: Snapshot) -> MnnvlJudgement:
    """Return the state of the ComputeDomain of each replica of a set."""
    wanted, criterion = _criterion_of(snapshot)
    if snapshot.root.deleting or not snapshot.root.uid:
        return MnnvlJudgement(criterion, wanted, failure=None)
    if is_set_too_large(snapshot):  # its objects and its condition stay as they are (WL-024)
        return MnnvlJudgement(criterion, wanted, failure=None)
    domains = _SetDomains(snapshot)
    indices = range(max(snapshot.root.spec.replicas, 0)) if wanted else domains.joined
    replicas = tuple(domains.replica(index) for index in indices)
    is_known = not domains.is_on or (domains.is_complete and not domains.not_collected)
    failure = domains.failure(replicas) if is_known else None
    return MnnvlJudgement(criterion, wanted, replicas, failure)


def compute_domains_of_new_parts(snapshot: Snapshot, judgement: MnnvlJudgement) -> ComputeDomainsOfNewParts:
    """Return which new PodCliques and scaling groups use a domain, and which are withheld."""
    name = snapshot.root.ref.name
    return ComputeDomainsOfNewParts(
        FrozenDict(
            (one.index, domain_claim_template_name(name, one.index))
            for one in judgement.replicas
            if _is_used_by_new_parts(one)
        ),
        FrozenDict((one.index, one.because) for one in judgement.replicas if _withholds_new_parts(one)),
    )


def _is_used_by_new_parts(one: ReplicaComputeDomain) -> bool:
    """Return whether new parts of the replica use the domain (MN-020, MN-021)."""
    match one.siblings:
        case ReplicaUseOfComputeDomain.JOINED:
            return True
        case ReplicaUseOfComputeDomain.WITHOUT:
            return False
        case ReplicaUseOfComputeDomain.NONE:
            return one.state is ReplicaComputeDomainState.JOINED
        case _:
            assert_never(one.siblings)


def _withholds_new_parts(one: ReplicaComputeDomain) -> bool:
    """Return whether new parts of the replica are withheld (MN-010); they are not if it has parts already."""
    if one.siblings is not ReplicaUseOfComputeDomain.NONE:
        return False
    match one:
        case MissingComputeDomain() | WithheldComputeDomain() | BlockedComputeDomain():
            return True
        case UnchangedComputeDomain() | FailedComputeDomainCreation() | ComputeDomainNameTaken():
            return False
        case _:
            assert_never(one)


def compute_domain_ref_of_replica(snapshot: Snapshot, replica: int) -> Ref:
    """Return the address of the ComputeDomain of a replica."""
    root = snapshot.root.ref
    api_version = compute_domain_format_to_write(snapshot.configuration, snapshot.served).api_version
    return Ref(api_version, DOMAIN_KIND, root.namespace, compute_domain_name(root.name, replica))


def _criterion_of(snapshot: Snapshot) -> tuple[bool, Reason]:
    """Return whether the set is to have domains, and the first criterion that says no, or else the last one."""
    root = snapshot.root
    if not snapshot.configuration.mnnvl.is_enabled_in_mode(MnnvlMode.OPERATOR):
        return False, MnnvlReason.MNNVL_OFF.because(root.ref, setting=_disabled_by(snapshot.configuration.mnnvl))
    if opts_out_of_mnnvl(root.annotations):
        value = f'"{root.annotations[MNNVL_ENABLED]}"'
        return False, MnnvlReason.OPTED_OUT.because(root.ref, annotation=MNNVL_ENABLED, value=value)
    cliques = cliques_with_gpus(root.spec.template)
    if not cliques:
        return False, MnnvlReason.NO_GPUS_ASKED.because(root.ref, resource=GPU)
    return True, MnnvlReason.GPUS_ASKED.because(root.ref, cliques=name_list_text(cliques))


def _disabled_by(settings: MnnvlConfiguration) -> str:
    return "MNNVL is by annotations" if settings.enabled else "MNNVL is off"


class _SetDomains:
    """The ComputeDomains of one set; what is the same for every replica is computed once.

    Attributes:
        is_on: whether the operator creates domains for replicas.
        is_complete: whether every ComputeDomain is in the snapshot.
        not_collected: kinds of siblings that are not all in the snapshot.
        siblings: replica -> whether its existing parts use a domain.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self.is_on = snapshot.configuration.mnnvl.is_enabled_in_mode(MnnvlMode.OPERATOR)
        self.is_complete = DOMAIN_KIND in snapshot.complete
        self.not_collected = incompletely_listed_part_kinds(snapshot)
        self.siblings: dict[int, ReplicaUseOfComputeDomain] = {}
        self._snapshot = snapshot
        self._root = snapshot.root
        self._failed_before = domain_failure_in_stored_conditions(snapshot.root.status.conditions)
        refused = refused_creations(snapshot, Create)
        self._refused = {name: error for (kind, name), error in refused.items() if kind == DOMAIN_KIND}
        parts: tuple[ScalingGroup | PodClique, ...] = (
            *snapshot.groups,
            *snapshot.cliques,
            *created_parts_not_listed(snapshot),
        )
        for part in parts:
            if not part.deleting and self.siblings.get(part.replica_index) is not ReplicaUseOfComputeDomain.JOINED:
                self.siblings[part.replica_index] = (
                    ReplicaUseOfComputeDomain.JOINED
                    if DOMAIN_TEMPLATE in part.annotations
                    else ReplicaUseOfComputeDomain.WITHOUT
                )

    @property
    def joined(self) -> list[int]:
        """The replicas whose parts use a domain, in order."""
        return sorted(index for index, use in self.siblings.items() if use is ReplicaUseOfComputeDomain.JOINED)

    def replica(self, index: int) -> ReplicaComputeDomain:
        """Return the state of the domain of one replica."""
        ref = compute_domain_ref_of_replica(self._snapshot, index)
        found = self._snapshot.named_domains.get((ref.namespace, ref.name))
        siblings = self.siblings.get(index, ReplicaUseOfComputeDomain.NONE)
        if found is not None and found.owner_uid == self._root.uid and not found.deleting:
            if siblings is ReplicaUseOfComputeDomain.WITHOUT:
                return self._without(index)
            because = MnnvlReason.DOMAIN_EXISTS.because(found.ref, domain=ref.name)
            return UnchangedComputeDomain(index, siblings, (because,), ReplicaComputeDomainState.JOINED)
        if not self.is_complete:
            return self._not_collected_domain(index, siblings, ref)
        if siblings is ReplicaUseOfComputeDomain.NONE and self.not_collected:
            because = MnnvlReason.SIBLINGS_NOT_COLLECTED.because(
                ref, kinds=name_list_text(self.not_collected), replica=index
            )
            return WithheldComputeDomain(index, siblings, (because,), ReplicaComputeDomainState.UNKNOWN)
        if not self.is_on:
            setting = _disabled_by(self._snapshot.configuration.mnnvl)
            because = MnnvlReason.MISSED_WHILE_OFF.because(ref, replica=index, setting=setting)
            return WithheldComputeDomain(index, siblings, (because,), ReplicaComputeDomainState.MISSED)
        has_failed = index in self._failed_before.replicas or ref.name in self._refused
        if siblings is ReplicaUseOfComputeDomain.WITHOUT and not has_failed:
            return self._without(index)
        if found is not None:
            return self._taken_name(index, siblings, found)
        return self._missing_domain(index, siblings, ref)

    def failure(self, replicas: Iterable[ReplicaComputeDomain]) -> DomainCreationFailure:
        """Return the content of the set's condition (MN-012); a failed replica stays in it until its domain exists."""
        failed = {one.index: error for one in replicas if (error := self._creation_error(one)) is not None}
        if not failed:
            return DomainCreationFailure()
        (first, error), *_ = failed.items()
        stored = self._failed_before.error if first in self._failed_before.replicas[:1] else ""
        errors = (error, stored, *failed.values(), self._failed_before.error)
        return DomainCreationFailure(tuple(failed), next(filter(None, errors), ""))

    def _creation_error(self, one: ReplicaComputeDomain) -> str | None:
        """Return why the creation of a domain fails, empty if that is not known now; None if it does not fail."""
        match one:
            case FailedComputeDomainCreation():
                return one.error
            case ComputeDomainNameTaken():
                return "" if one.until is not None else one.because[0].sentence
            case MissingComputeDomain() | BlockedComputeDomain():
                return "" if one.index in self._failed_before.replicas else None
            case UnchangedComputeDomain() | WithheldComputeDomain():
                return None
            case _:
                assert_never(one)

    def _not_collected_domain(self, index: int, siblings: ReplicaUseOfComputeDomain, ref: Ref) -> ReplicaComputeDomain:
        """Return the state of a domain that may exist: it follows from the parts of the replica (MN-016)."""
        because = (MnnvlReason.DOMAINS_NOT_COLLECTED.because(ref, domain=ref.name),)
        match siblings:
            case ReplicaUseOfComputeDomain.NONE:
                return WithheldComputeDomain(index, siblings, because, ReplicaComputeDomainState.UNKNOWN)
            case ReplicaUseOfComputeDomain.JOINED:
                return UnchangedComputeDomain(index, siblings, because, ReplicaComputeDomainState.JOINED)
            case ReplicaUseOfComputeDomain.WITHOUT:
                return UnchangedComputeDomain(index, siblings, because, ReplicaComputeDomainState.WITHOUT)
            case _:
                assert_never(siblings)

    def _missing_domain(self, index: int, siblings: ReplicaUseOfComputeDomain, ref: Ref) -> ReplicaComputeDomain:
        if ref.name in self._refused:
            error = self._refused[ref.name]
            because = MnnvlReason.RUNS_WITHOUT_DOMAIN.because(ref, domain=ref.name, error=error)
            return FailedComputeDomainCreation(index, siblings, (because,), error)
        match siblings:
            case ReplicaUseOfComputeDomain.NONE:
                because = MnnvlReason.WAITS_FOR_DOMAIN.because(ref, domain=ref.name)
                return MissingComputeDomain(index, siblings, (because,), ReplicaComputeDomainState.AWAITED)
            case ReplicaUseOfComputeDomain.JOINED:
                because = MnnvlReason.MADE_AGAIN.because(ref, replica=index)
                return MissingComputeDomain(index, siblings, (because,), ReplicaComputeDomainState.RESTORED)
            case ReplicaUseOfComputeDomain.WITHOUT:
                return FailedComputeDomainCreation(index, siblings, (MnnvlReason.TRIED_AGAIN.because(ref),), error="")
            case _:
                assert_never(siblings)

    def _taken_name(
        self, index: int, siblings: ReplicaUseOfComputeDomain, found: ComputeDomain
    ) -> ReplicaComputeDomain:
        until = self._awaited_until(found)
        if until is not None and self._snapshot.now < until:
            because = MnnvlReason.EARLIER_DOMAIN.because(found.ref, domain=found.ref.name, until=format_time(until))
            if siblings is ReplicaUseOfComputeDomain.WITHOUT:
                return ComputeDomainNameTaken(index, siblings, (because,), until)
            return BlockedComputeDomain(index, siblings, (because,), until)
        holder = f"{found.owner_kind} {found.owner_name}" if found.owner_uid else "no controller"
        if found.deleting:
            holder = f"{holder}, and its deletion does not finish"
        elif until is not None:
            holder = f"an earlier {holder}, and is not deleted"
        because = MnnvlReason.NAME_IS_TAKEN.because(found.ref, domain=found.ref.name, holder=holder)
        return ComputeDomainNameTaken(index, siblings, (because,), until=None)

    def _without(self, index: int) -> ReplicaComputeDomain:
        because = MnnvlReason.REPLICA_RUNS_WITHOUT.because(self._root.ref.at_replica(index), replica=index)
        return UnchangedComputeDomain(
            index, ReplicaUseOfComputeDomain.WITHOUT, (because,), ReplicaComputeDomainState.WITHOUT
        )

    def _awaited_until(self, found: ComputeDomain) -> datetime | None:
        """Return until when the deletion of an object is awaited; None if it is not being deleted (MN-041)."""
        if found.deleting:
            return (found.deleted_at or self._snapshot.now) + LEAVING_TIMEOUT
        of_name = (found.owner_kind, found.owner_name) == (self._root.ref.kind, self._root.ref.name)
        if of_name and found.owner_uid != self._root.uid:
            return (self._root.created_at or self._snapshot.now) + LEAVING_TIMEOUT
        return None
