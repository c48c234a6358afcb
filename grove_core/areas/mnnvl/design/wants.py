"""Wants of MNNVL: missing ComputeDomains, deletion of surplus ones, and the condition of the set."""

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from datetime import datetime
from typing import assert_never

from grove_core.areas.mnnvl.design.judge import compute_domain_ref_of_replica
from grove_core.areas.mnnvl.design.verdicts import (
    BlockedComputeDomain,
    ComputeDomainNameTaken,
    FailedComputeDomainCreation,
    MissingComputeDomain,
    MnnvlJudgement,
    ReplicaComputeDomain,
    ReplicaComputeDomainState,
    UnchangedComputeDomain,
    WithheldComputeDomain,
)
from grove_core.areas.mnnvl.rules import MnnvlReason
from grove_core.kernel.conditions import REMOVED, Condition, ConditionStatus, condition_of, next_transition_time
from grove_core.kernel.decisions import AreaResult, Finding
from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.questions import COMPUTE_DOMAIN
from grove_core.kernel.reasons import Reason
from grove_core.kernel.wants import (
    DesiredChanges,
    ObjectToCreate,
    ObjectToDelete,
    StatusToWrite,
    StepObstacle,
    Want,
    Withheld,
)
from grove_core.resources.api_names import DOMAIN_KIND, DOMAINS_READY
from grove_core.resources.compute_domain import ComputeDomain
from grove_core.resources.configuration import MnnvlMode
from grove_core.resources.domain_and_claim_formats import compute_domain_format_to_write
from grove_core.resources.domain_sharing_labels import is_shared_by_annotation
from grove_core.resources.domains_ready_condition import REASON, DomainCreationFailure
from grove_core.resources.labels import SET, any_label_key_has_value, labels_of_set_object, labels_of_set_replica
from grove_core.resources.naming_rules import (
    domain_claim_template_name,
    name_list_text,
    replica_index_of_compute_domain,
)
from grove_core.resources.owned_object import NewObjectMetadata
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.status_comparison import changed_status_fields
from grove_core.snapshot.snapshot import Snapshot
from grove_core.snapshot.users_of_shared_objects import count_pods_without_clique, incompletely_listed_user_kinds


def result_of_mnnvl(snapshot: Snapshot, judgement: MnnvlJudgement) -> AreaResult:
    """Return the wants, the findings and the next moment of MNNVL for a judged set."""
    return AreaResult(
        desired_mnnvl_changes(snapshot, judgement),
        tuple(findings_of_mnnvl(snapshot, judgement)),
        mnnvl_wake_time(judgement),
    )


def desired_mnnvl_changes(snapshot: Snapshot, judgement: MnnvlJudgement) -> DesiredChanges:
    """Return the domains to create and to delete, and the set's condition. Linear in the replicas and domains."""
    wants = (_want_for(snapshot, one) for one in judgement.replicas)
    items: list[Want | Withheld] = [want for want in wants if want is not None]
    if not snapshot.root.deleting:
        items += _surplus(snapshot)
        if judgement.failure is not None:
            items += _condition(snapshot, judgement.failure)
    return DesiredChanges.from_wants_and_withheld(items)


def findings_of_mnnvl(snapshot: Snapshot, judgement: MnnvlJudgement) -> Iterator[Finding]:
    """Yield the criterion and the state of each replica's domain; nothing in a cluster without MNNVL."""
    settings = snapshot.configuration.mnnvl
    if not judgement.replicas and not (settings.mode is MnnvlMode.OPERATOR and (settings.enabled or snapshot.domains)):
        return
    root = snapshot.root.ref
    yield Finding(root, COMPUTE_DOMAIN, "Wanted" if judgement.is_wanted else "NotWanted", (judgement.criterion,))
    for one in judgement.replicas:
        yield Finding(root.at_replica(one.index), COMPUTE_DOMAIN, one.state.value, one.because)


def mnnvl_wake_time(judgement: MnnvlJudgement) -> datetime | None:
    """Return when the first wait for the deletion of an earlier domain ends (MN-041)."""
    waiting = (one for one in judgement.replicas if isinstance(one, BlockedComputeDomain | ComputeDomainNameTaken))
    return min((one.until for one in waiting if one.until is not None), default=None)


def _want_for(snapshot: Snapshot, one: ReplicaComputeDomain) -> ObjectToCreate | Withheld | None:
    """Return the want for the domain of one replica; a refused one stays wanted, so that it is retried (MN-014)."""
    match one:
        case MissingComputeDomain(state=ReplicaComputeDomainState.AWAITED):
            return _domain_for(
                snapshot, one, MnnvlReason.DOMAIN_OF_REPLICA.because(snapshot.root.ref, replica=one.index)
            )
        case MissingComputeDomain() | FailedComputeDomainCreation():
            return _domain_for(snapshot, one, one.because[0])
        case WithheldComputeDomain() | BlockedComputeDomain() | ComputeDomainNameTaken():
            unlisted = one.state is ReplicaComputeDomainState.UNKNOWN and DOMAIN_KIND not in snapshot.complete
            obstacle = StepObstacle.DOMAINS_NOT_COLLECTED if unlisted else StepObstacle.RULE
            return Withheld(compute_domain_ref_of_replica(snapshot, one.index), one.because, obstacle=obstacle)
        case UnchangedComputeDomain():
            return None
        case _:
            assert_never(one)


def _domain_for(
    snapshot: Snapshot, one: MissingComputeDomain | FailedComputeDomainCreation, because: Reason
) -> ObjectToCreate:
    """Return the domain of a replica (MN-005); other steps do not wait for one that failed before (OP-015)."""
    root, ref = snapshot.root, compute_domain_ref_of_replica(snapshot, one.index)
    new = NewObjectMetadata(
        api_version=ref.api_version,
        kind=ref.kind,
        name=ref.name,
        owner=root,
        labels=labels_of_set_object(root.ref.name, ref.name, "pcs-computedomain") | labels_of_set_replica(one.index),
    )
    spec = compute_domain_format_to_write(snapshot.configuration, snapshot.served).spec_for(
        domain_claim_template_name(root.ref.name, one.index)
    )
    return ObjectToCreate(
        ref,
        new.manifest_with_fields({"spec": spec}),
        (because,),
        is_foundation=isinstance(one, MissingComputeDomain),
    )


def _surplus(snapshot: Snapshot) -> Iterator[ObjectToDelete | Withheld]:
    """Yield the deletion of domains of surplus replicas, or why it is withheld (MN-050, MN-051, MN-054)."""
    root = snapshot.root
    surplus = [
        (index, domain)
        for domain in snapshot.domains
        if _is_own(domain, root) and not domain.deleting and not is_shared_by_annotation(domain.labels)
        for index in (replica_index_of_compute_domain(root.ref.name, domain.ref.name),)
        if index is not None and index >= root.spec.replicas
    ]
    users, not_collected = _users(snapshot, {index for index, _ in surplus}), incompletely_listed_user_kinds(snapshot)
    for index, domain in surplus:
        if index in users:
            yield Withheld(
                domain.ref, (MnnvlReason.DOMAIN_IN_USE.because(domain.ref, replica=index, pods=users[index]),)
            )
        elif not_collected:
            because = MnnvlReason.USERS_NOT_COLLECTED.because(
                domain.ref, kinds=name_list_text(not_collected), replica=index
            )
            yield Withheld(domain.ref, (because,))
        else:
            because = MnnvlReason.SURPLUS_DOMAIN.because(domain.ref, replica=index, replicas=root.spec.replicas)
            yield ObjectToDelete(domain.ref, domain.guard, (because,))


def _users(snapshot: Snapshot, replicas: AbstractSet[int]) -> Mapping[int, int]:
    """Return replica -> number of pods that may hold its channels, with and without their PodClique.

    Annotations are not consulted: they can be removed by hand.
    """
    found = count_pods_without_clique(snapshot, replicas)
    for clique in snapshot.cliques:
        pods = len(snapshot.pods_of.get(clique.uid, ()))
        if pods and clique.replica_index in replicas:
            found[clique.replica_index] += pods
    return found


def _condition(snapshot: Snapshot, failure: DomainCreationFailure) -> Iterator[StatusToWrite]:
    """Yield the change of the set's condition, which exists exactly while a creation fails (MN-012, MN-013).

    It is written before parts are created without a domain: a restarted operator reads from it what to retry.
    """
    root = snapshot.root
    stored = condition_of(root.status.conditions, DOMAINS_READY)
    if failure.replicas:
        since = next_transition_time(stored, ConditionStatus.FALSE, snapshot.now)
        condition = Condition(DOMAINS_READY, ConditionStatus.FALSE, REASON, failure.condition_message, since)
        fields = changed_status_fields(root.status, {}, (condition,))
        because = MnnvlReason.CREATION_FAILED.because(root.ref, replicas=f"[{failure.replica_indices_text}]")
    else:
        fields = FrozenMap({REMOVED: (DOMAINS_READY,)} if stored is not None else {})
        because = MnnvlReason.CREATION_FAILED_NO_MORE.because(root.ref)
    if fields:
        yield StatusToWrite(root.ref, root.guard, fields, (because,), is_foundation=bool(failure.replicas))


def _is_own(domain: ComputeDomain, root: PodCliqueSet) -> bool:
    """Return whether a domain belongs to the set, by its controller and by its label (MN-052)."""
    return domain.owner_uid == root.uid and any_label_key_has_value(domain.labels, SET, root.ref.name)
