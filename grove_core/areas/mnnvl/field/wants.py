"""Wants of MNNVL by the Go operator: missing ComputeDomains, deletions, and removals of its finalizer."""

from collections.abc import Iterator
from typing import assert_never

from grove_core.areas.mnnvl.field.judge import DOMAIN_COMPONENT
from grove_core.areas.mnnvl.field.verdicts import (
    MnnvlDomainsJudgement,
    NeededDomain,
    NeededDomainState,
    OtherDomain,
    UnneededDomainState,
)
from grove_core.kernel.decisions import AreaResult, Finding
from grove_core.kernel.questions import COMPUTE_DOMAIN
from grove_core.kernel.wants import (
    DesiredChanges,
    FinalizerToDrop,
    ObjectToCreate,
    ObjectToDelete,
    StepObstacle,
    Want,
    Withheld,
)
from grove_core.resources.api_names import COMPONENT, DOMAIN_FINALIZER, MANAGED_BY, MNNVL_GROUP, NAME, OPERATOR
from grove_core.resources.configuration import ComputeDomainFormatName, MnnvlMode
from grove_core.resources.domain_and_claim_formats import DOMAIN_FORMATS
from grove_core.resources.labels import SET, SET_REPLICA
from grove_core.resources.owned_object import NewObjectMetadata
from grove_core.snapshot.snapshot import Snapshot


def result_of_group_domains(snapshot: Snapshot, judgement: MnnvlDomainsJudgement) -> AreaResult:
    """Return the wants and the findings for the ComputeDomains of a judged set."""
    wants = (
        *(want for one in judgement.needed for want in _wants_for_needed(snapshot, one)),
        *(want for one in judgement.others for want in _wants_for_other(one)),
    )
    return AreaResult(DesiredChanges.from_wants_and_withheld(wants), tuple(_findings(snapshot, judgement)))


def _findings(snapshot: Snapshot, judgement: MnnvlDomainsJudgement) -> Iterator[Finding]:
    """Yield the criterion, and the state of each domain."""
    if not judgement.criteria:
        return
    wanted = "Wanted" if judgement.is_wanted else "NotWanted"
    yield Finding(snapshot.root.ref, COMPUTE_DOMAIN, wanted, judgement.criteria)
    for needed in judgement.needed:
        yield Finding(needed.ref, COMPUTE_DOMAIN, needed.state.value, needed.because)
    for other in judgement.others:
        yield Finding(other.found.ref, COMPUTE_DOMAIN, other.state.value, other.because)


def _wants_for_needed(snapshot: Snapshot, one: NeededDomain) -> Iterator[Want | Withheld]:
    """Yield what has to be done about a domain that the set needs."""
    match one.state:
        case NeededDomainState.MISSING:
            yield _domain_to_create(snapshot, one)
        case NeededDomainState.JOINED:
            return
        case NeededDomainState.UNKNOWN:
            yield Withheld(one.ref, one.because, obstacle=StepObstacle.DOMAINS_NOT_COLLECTED)
        case (
            NeededDomainState.FAILED
            | NeededDomainState.TAKEN_OVER
            | NeededDomainState.LEAVING
            | NeededDomainState.MISSED
        ):
            yield Withheld(one.ref, one.because)
        case _:
            assert_never(one.state)


def _domain_to_create(snapshot: Snapshot, one: NeededDomain) -> ObjectToCreate:
    """Return a new domain (NF-005); it is created before the parts of the set, in the same reconcile (NF-010)."""
    root = snapshot.root
    new = NewObjectMetadata(
        api_version=one.ref.api_version,
        kind=one.ref.kind,
        name=one.ref.name,
        owner=root,
        labels={
            MANAGED_BY: OPERATOR,
            SET.primary: root.ref.name,
            NAME: one.ref.name,
            COMPONENT: DOMAIN_COMPONENT,
            SET_REPLICA.primary: str(one.domain.replica),
            MNNVL_GROUP: one.domain.group,
        },
        finalizer=DOMAIN_FINALIZER,
    )
    spec = DOMAIN_FORMATS[MnnvlMode.OPERATOR, ComputeDomainFormatName.NVIDIA].spec_for(one.ref.name)
    return ObjectToCreate(one.ref, new.manifest_with_fields({"spec": spec}), one.because, is_foundation=True)


def _wants_for_other(one: OtherDomain) -> Iterator[Want | Withheld]:
    """Yield what has to be done about a domain that the set does not need, or that goes with it."""
    found, has_finalizer = one.found, DOMAIN_FINALIZER in one.found.finalizers
    drop = FinalizerToDrop(found.ref, found.guard, DOMAIN_FINALIZER, one.because)
    match one.state:
        case UnneededDomainState.SURPLUS if not found.deleting:
            yield ObjectToDelete(found.ref, found.guard, one.because)
        case UnneededDomainState.ENDING if not found.deleting and not has_finalizer:
            yield ObjectToDelete(found.ref, found.guard, one.because)
        case UnneededDomainState.SURPLUS | UnneededDomainState.ENDING:
            if has_finalizer:
                yield drop
        case UnneededDomainState.LEFT_BEHIND:
            yield Withheld(found.ref, one.because)
        case _:
            assert_never(one.state)
