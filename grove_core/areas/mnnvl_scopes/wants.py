"""Wants of MNNVL by annotation: shared domains and claims exist, belong to the gang, and are deleted when unused."""

from collections.abc import Iterator
from typing import NamedTuple, assert_never

from grove_core.areas.mnnvl_scopes.clique_admission import (
    ClaimNameConflict,
    CliqueAdmissionDeferred,
    CliqueAdmissionView,
    CliqueAdmittedToDomain,
    CliqueAdmittedUnchanged,
    SharedObjectBuilder,
    blocks_deletion_of_owner,
    domain_membership_of,
    domain_sharing_reason,
    judge_clique_admission,
)
from grove_core.areas.mnnvl_scopes.rules import SharedDomainReason
from grove_core.areas.mnnvl_scopes.verdicts import (
    MissingSharedObject,
    SharedDomainsJudgement,
    SharedObjectOfWrongOwner,
    SurplusSharedObject,
    UnchangedSharedObject,
    WithheldSharedObject,
)
from grove_core.kernel.decisions import AreaResult, Finding
from grove_core.kernel.frozen import FrozenMap, object_under_key
from grove_core.kernel.questions import COMPUTE_DOMAIN
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Ensure
from grove_core.kernel.structs import replace
from grove_core.kernel.wants import (
    DesiredChanges,
    FieldsToApply,
    ObjectToCreate,
    ObjectToDelete,
    ObjectToEnsure,
    Want,
    Withheld,
)
from grove_core.resources.api_names import CLAIM_KIND, DOMAIN_KIND, MNNVL_ADOPTED
from grove_core.resources.configuration import MnnvlMode
from grove_core.resources.domain_sharing import (
    CliquePositionInSet,
    CliqueSharingFacts,
    shared_claim_entry,
    sharing_scope_in_annotations,
)
from grove_core.resources.labels import SET_REPLICA, label_value_in
from grove_core.resources.naming_rules import name_list_text, parse_replica_index
from grove_core.resources.owned_object import owner_reference_to
from grove_core.snapshot.own_writes import refused_creations
from grove_core.snapshot.snapshot import Snapshot


def result_of_shared_domains(snapshot: Snapshot, judgement: SharedDomainsJudgement, workload: AreaResult) -> AreaResult:
    """Return the wants and findings on shared domains and claims, with the wants for the parts of the set.

    The parts are created as the webhooks would change them (MS-030 to MS-039, MS-044).
    """
    changes = DesiredChanges.from_wants_and_withheld(_wants(snapshot, judgement))
    wants = desired_changes_after_webhooks(snapshot, DesiredChanges.union_of_areas((changes, workload.wants)))
    findings = (*workload.findings, *shared_domain_findings(snapshot, judgement, wants))
    return workload._replace(wants=wants, findings=findings)


def _wants(snapshot: Snapshot, judgement: SharedDomainsJudgement) -> Iterator[Want | Withheld]:
    for one in judgement.verdicts:
        match one:
            case MissingSharedObject():
                builder = SharedObjectBuilder.for_set(snapshot)
                yield builder.object_to_ensure(one.ref.kind, one.membership, one.owner, one.because)
            case SharedObjectOfWrongOwner():
                owners = (owner_reference_to(one.owner, blocks=blocks_deletion_of_owner(one.owner)),)
                fields = FrozenMap({"metadata": FrozenMap({"ownerReferences": owners})})
                yield FieldsToApply(one.found.ref, one.found.guard, fields, (one.because,))
            case SurplusSharedObject():
                yield ObjectToDelete(one.found.ref, one.found.guard, (one.because,))
            case WithheldSharedObject():
                yield Withheld(one.ref, (one.because,))
            case UnchangedSharedObject():
                pass
            case _:
                assert_never(one)


def desired_changes_after_webhooks(snapshot: Snapshot, desired: DesiredChanges) -> DesiredChanges:
    """Return wants as the webhooks would change them: PodCliques get their shared claim, PodGangs their annotation.

    Missing domains and claims are wanted before the PodCliques that share them. A PodClique that admission would
    refuse now is withheld (specs/decisions/0013). Linear in the wants.
    """
    if not snapshot.configuration.mnnvl.is_enabled_in_mode(MnnvlMode.ANNOTATIONS):
        return desired
    view = _admission_view(snapshot)
    ensured = {want.target for want in desired.wants if isinstance(want, ObjectToEnsure)}
    ensures: list[Want] = []
    wants: list[Want] = []
    withheld = list(desired.withheld)
    for want in desired.wants:
        if not isinstance(want, ObjectToCreate):
            wants.append(want)
        elif want.target.kind == "PodGang":
            wants.append(replace(want, manifest=with_adoption_annotation(want.manifest)))
        elif want.target.kind == "PodClique":
            admission = judge_clique_admission(_new_clique(want), view, ensured)
            match admission:
                case CliqueAdmissionDeferred() | ClaimNameConflict():
                    withheld.append(Withheld(want.target, (admission.because, *want.because)))
                case CliqueAdmittedToDomain():
                    ensures += admission.ensures
                    ensured.update(one.target for one in admission.ensures)
                    manifest = _with_pod_spec(want.manifest, admission.pod_spec)
                    wants.append(replace(want, manifest=manifest, because=(*want.because, admission.because)))
                case CliqueAdmittedUnchanged():
                    wants.append(want)
                case _:
                    assert_never(admission)
        else:
            wants.append(want)
    return DesiredChanges((*ensures, *wants), tuple(withheld))


class _NewClique(NamedTuple):
    """A PodClique that is to be created, with the fields that its admission reads."""

    ref: Ref
    replica_index: int
    labels: FrozenMap
    annotations: FrozenMap
    pod_spec: FrozenMap


def _new_clique(want: ObjectToCreate) -> _NewClique:
    metadata = object_under_key(want.manifest, "metadata")
    labels = object_under_key(metadata, "labels")
    index = parse_replica_index(label_value_in(labels, SET_REPLICA))
    pod_spec = object_under_key(object_under_key(want.manifest, "spec"), "podSpec")
    return _NewClique(
        want.target,
        -1 if index is None else index,
        labels,
        object_under_key(metadata, "annotations"),
        pod_spec,
    )


def _with_pod_spec(manifest: FrozenMap, pod_spec: FrozenMap) -> FrozenMap:
    return FrozenMap({**manifest, "spec": FrozenMap({**object_under_key(manifest, "spec"), "podSpec": pod_spec})})


def with_adoption_annotation(manifest: FrozenMap) -> FrozenMap:
    """Return the manifest of a PodGang with the annotation that it adopts shared domains and claims (MS-044)."""
    metadata = object_under_key(manifest, "metadata")
    annotations = FrozenMap({**object_under_key(metadata, "annotations"), MNNVL_ADOPTED: "true"})
    return FrozenMap({**manifest, "metadata": FrozenMap({**metadata, "annotations": annotations})})


def shared_domain_findings(
    snapshot: Snapshot, judgement: SharedDomainsJudgement, desired: DesiredChanges
) -> Iterator[Finding]:
    """Yield the state of each shared domain and claim, and for each PodClique which criterion decided."""
    for one in judgement.verdicts:
        yield Finding(one.ref, COMPUTE_DOMAIN, one.state.value, (one.because,))
    is_on = snapshot.configuration.mnnvl.is_enabled_in_mode(MnnvlMode.ANNOTATIONS)
    if is_on:
        sharing = [
            name
            for name, annotations in judgement.annotations.items()
            if sharing_scope_in_annotations(annotations) is not None
        ]
        because = SharedDomainReason.CLIQUES_OPT_IN.because(snapshot.root.ref, cliques=name_list_text(sharing))
        yield Finding(snapshot.root.ref, COMPUTE_DOMAIN, "Wanted" if sharing else "NotWanted", (because,))
    builder = SharedObjectBuilder.for_set(snapshot)
    domain_of: dict[Ref, Ref] = {}  # ResourceClaim -> the ComputeDomain that its pods reach
    if is_on or judgement.verdicts:
        for clique in snapshot.cliques:
            if not clique.deleting:
                yield _finding_on(clique, builder, domain_of, judgement.positions.get(clique.ref.name))
    created = [want for want in desired.wants if isinstance(want, ObjectToCreate) and want.target.kind == "PodClique"]
    for clique_want in created if is_on else ():
        yield _finding_on(_new_clique(clique_want), builder, domain_of)
    created_again = {one.ref for one in judgement.verdicts if isinstance(one, MissingSharedObject)}
    for want in desired.wants if is_on else ():
        if isinstance(want, ObjectToEnsure) and want.target not in created_again:
            domain = domain_of.get(want.target)
            yield Finding(
                want.target,
                COMPUTE_DOMAIN,
                "Ensured",
                want.because,
                causes=() if domain is None else (domain,),
            )


def _finding_on(
    clique: CliqueSharingFacts,
    builder: SharedObjectBuilder,
    domain_of: dict[Ref, Ref],
    position: CliquePositionInSet | None = None,
) -> Finding:
    """Return the finding on a PodClique: whether it shares a domain, by its claim (MS-046)."""
    membership = domain_membership_of(clique, position)
    if isinstance(membership, CliqueAdmittedUnchanged):
        return Finding(clique.ref, COMPUTE_DOMAIN, "JoinsNothing", (membership.because,))
    if shared_claim_entry(clique.pod_spec) is None:
        return Finding(
            clique.ref,
            COMPUTE_DOMAIN,
            "LetInWithout",
            (SharedDomainReason.CREATED_WITHOUT_CLAIM.because(clique.ref),),
        )
    domain = builder.ref_of_membership(DOMAIN_KIND, membership)
    domain_of[builder.ref_of_membership(CLAIM_KIND, membership)] = domain
    return Finding(clique.ref, COMPUTE_DOMAIN, "Joins", (domain_sharing_reason(clique, membership),), causes=(domain,))


def _admission_view(snapshot: Snapshot) -> CliqueAdmissionView:
    return CliqueAdmissionView(
        configuration=snapshot.configuration,
        served=snapshot.served,
        owner=snapshot.root,
        domains=snapshot.named_domains,
        claims=snapshot.named_claims,
        refused=refused_creations(snapshot, Ensure),
    )
