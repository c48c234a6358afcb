"""Judges the ComputeDomains of a set by the Go operator's rules (NF-001 to NF-040). Linear in the domains."""

from collections.abc import Iterator
from typing import Final

from grove_core.areas.mnnvl.field.rules import GoOperatorMnnvlReason
from grove_core.areas.mnnvl.field.verdicts import (
    MnnvlDomainsJudgement,
    NeededDomain,
    NeededDomainState,
    OtherDomain,
    UnneededDomainState,
)
from grove_core.areas.mnnvl.verdicts import ComputeDomainsOfNewParts
from grove_core.kernel.frozen import FrozenDict
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Create
from grove_core.resources.api_names import COMPONENT, DOMAIN_FINALIZER, DOMAIN_KIND, MANAGED_BY, NAME, OPERATOR
from grove_core.resources.compute_domain import ComputeDomain
from grove_core.resources.labels import SET
from grove_core.resources.mnnvl_groups import MnnvlGroupDomain, mnnvl_domains_of_groups, mnnvl_groups_of_cliques
from grove_core.resources.naming_rules import LONGEST_LABEL, name_list_text
from grove_core.resources.pod_spec_gpus import GPU
from grove_core.snapshot.expected_replicas import is_set_too_large
from grove_core.snapshot.own_writes import refused_creations
from grove_core.snapshot.snapshot import Snapshot

DOMAIN_COMPONENT: Final = "pcs-computedomain"


def judge_group_domains(snapshot: Snapshot) -> MnnvlDomainsJudgement:
    """Return the state of each ComputeDomain that a set needs or owns."""
    root, is_on = snapshot.root, snapshot.configuration.mnnvl.is_on_by_go_operator
    if not root.uid or is_set_too_large(snapshot):
        return MnnvlDomainsJudgement()
    groups = sorted(set(mnnvl_groups_of_cliques(root.annotations, root.spec.template).values()))
    owned = [domain for domain in snapshot.domains if _is_marked(domain, snapshot)]
    required = tuple(mnnvl_domains_of_groups(root.annotations, root.spec.template, root.spec.replicas))
    needed: tuple[NeededDomain, ...] = ()
    if root.deleting:
        others = tuple(_domain_of_deleted_set(one, is_on=is_on) for one in owned)
    else:
        judge = _needed_domain if is_on else _missed_domain
        needed = tuple(filter(None, (judge(snapshot, one) for one in required)))
        names = {one.name_in(root.ref.name) for one in required}
        surplus = (one for one in owned if one.ref.name not in names)
        others = tuple(_surplus_domain(one, is_deleted=is_on and bool(required)) for one in surplus)
    is_reported = snapshot.configuration.mnnvl.enabled or bool(groups or needed or others)
    return MnnvlDomainsJudgement(
        tuple(_criteria(snapshot, groups)) if is_reported else (), is_on and bool(groups), needed, others
    )


def _criteria(snapshot: Snapshot, groups: list[str]) -> Iterator[Reason]:
    """Yield why the set has domains or has none."""
    root, settings = snapshot.root.ref, snapshot.configuration.mnnvl
    if not settings.is_on_by_go_operator:
        yield GoOperatorMnnvlReason.AUTO_MNNVL_OFF.because(root)
        return
    if not groups:
        yield GoOperatorMnnvlReason.NO_GROUP_WITH_GPUS.because(root, resource=GPU)
    else:
        yield GoOperatorMnnvlReason.GROUPS_WITH_GPUS.because(root, groups=name_list_text(groups))
    if not settings.enabled:
        yield GoOperatorMnnvlReason.AUTO_MNNVL_ASSUMED.because(root)


def parts_withheld_for_domains(snapshot: Snapshot, judgement: MnnvlDomainsJudgement) -> ComputeDomainsOfNewParts:
    """Return why new PodCliques and scaling groups are withheld: in every replica, if one domain fails (NF-011)."""
    failed = tuple(one.because[0] for one in judgement.needed if one.state is NeededDomainState.FAILED)
    replicas = range(max(snapshot.root.spec.replicas, 0)) if failed else ()
    return ComputeDomainsOfNewParts(waiting=FrozenDict((replica, failed) for replica in replicas))


def _is_marked(domain: ComputeDomain, snapshot: Snapshot) -> bool:
    """Return whether a domain is one that the operator lists for the set: by its controller and three labels."""
    marks = {MANAGED_BY: OPERATOR, SET.primary: snapshot.root.ref.name, COMPONENT: DOMAIN_COMPONENT}
    return domain.owner_uid == snapshot.root.uid and all(domain.labels.get(key) == text for key, text in marks.items())


def _needed_domain(snapshot: Snapshot, domain: MnnvlGroupDomain) -> NeededDomain:
    """Return the state of a domain that the set needs, with MNNVL on."""
    ref = domain.ref_in(snapshot.root.ref)
    found = snapshot.named_domains.get((ref.namespace, ref.name))
    if found is not None:
        return _existing_domain(snapshot, domain, found)
    if len(ref.name) > LONGEST_LABEL:
        long = GoOperatorMnnvlReason.DOMAIN_NAME_TOO_LONG.because(
            ref, length=len(ref.name), label=NAME, most=LONGEST_LABEL
        )
        return _failed_domain(domain, ref, long.sentence, long)
    if DOMAIN_KIND not in snapshot.complete:
        unknown = GoOperatorMnnvlReason.GROUP_DOMAINS_NOT_COLLECTED.because(ref, domain=ref.name)
        return NeededDomain(domain, ref, NeededDomainState.UNKNOWN, (unknown,))
    made = GoOperatorMnnvlReason.DOMAIN_OF_GROUP.because(ref, group=domain.group, replica=domain.replica)
    error = refused_creations(snapshot, Create).get((DOMAIN_KIND, ref.name))
    if error is not None:
        return _failed_domain(domain, ref, error, made)
    assumed = () if snapshot.configuration.mnnvl.enabled else (GoOperatorMnnvlReason.AUTO_MNNVL_ASSUMED.because(ref),)
    return NeededDomain(domain, ref, NeededDomainState.MISSING, (made, *assumed))


def _existing_domain(snapshot: Snapshot, domain: MnnvlGroupDomain, found: ComputeDomain) -> NeededDomain:
    """Return the state of a domain that the set needs, where an object has its name."""
    ref, name = found.ref, found.ref.name
    if found.owner_uid not in {"", snapshot.root.uid}:
        holder = f"{found.owner_kind} {found.owner_name}"
        taken = GoOperatorMnnvlReason.DOMAIN_NAME_TAKEN.because(ref, domain=name, holder=holder)
        return _failed_domain(domain, ref, taken.sentence, taken)
    if not _is_marked(found, snapshot):
        state, because = NeededDomainState.TAKEN_OVER, GoOperatorMnnvlReason.DOMAIN_TAKEN_OVER.because(ref, domain=name)
    elif found.deleting:
        held = GoOperatorMnnvlReason.DELETION_IS_HELD.because(ref, domain=name, finalizer=DOMAIN_FINALIZER)
        state, because = NeededDomainState.LEAVING, held
    else:
        state, because = NeededDomainState.JOINED, GoOperatorMnnvlReason.GROUP_DOMAIN_EXISTS.because(ref, domain=name)
    return NeededDomain(domain, ref, state, (because,))


def _failed_domain(domain: MnnvlGroupDomain, ref: Ref, error: str, cause: Reason) -> NeededDomain:
    blocks = GoOperatorMnnvlReason.DOMAIN_CREATION_FAILS.because(ref, domain=ref.name, error=error)
    return NeededDomain(domain, ref, NeededDomainState.FAILED, (blocks, cause))


def _missed_domain(snapshot: Snapshot, domain: MnnvlGroupDomain) -> NeededDomain | None:
    """Return the domain that pods claim channels of, with MNNVL off; None where it exists, or may exist."""
    ref = domain.ref_in(snapshot.root.ref)
    if (ref.namespace, ref.name) in snapshot.named_domains or DOMAIN_KIND not in snapshot.complete:
        return None
    because = GoOperatorMnnvlReason.CLAIMS_WITHOUT_DOMAIN.because(ref, replica=domain.replica, domain=ref.name)
    return NeededDomain(domain, ref, NeededDomainState.MISSED, (because,))


def _surplus_domain(found: ComputeDomain, *, is_deleted: bool) -> OtherDomain:
    """Return the state of a domain of the set that the set does not need."""
    if is_deleted:
        because = GoOperatorMnnvlReason.SURPLUS_GROUP_DOMAIN.because(found.ref)
        return OtherDomain(found, UnneededDomainState.SURPLUS, (because,))
    return OtherDomain(
        found, UnneededDomainState.LEFT_BEHIND, (GoOperatorMnnvlReason.DOMAIN_LEFT_BEHIND.because(found.ref),)
    )


def _domain_of_deleted_set(found: ComputeDomain, *, is_on: bool) -> OtherDomain:
    """Return the state of a domain whose set is being deleted."""
    if is_on:
        because = GoOperatorMnnvlReason.DOMAIN_GOES_WITH_SET.because(found.ref, finalizer=DOMAIN_FINALIZER)
        return OtherDomain(found, UnneededDomainState.ENDING, (because,))
    facts = {"domain": found.ref.name, "finalizer": DOMAIN_FINALIZER}
    because = GoOperatorMnnvlReason.FINALIZER_LEFT_BEHIND.because(found.ref, **facts)
    return OtherDomain(found, UnneededDomainState.LEFT_BEHIND, (because,))
