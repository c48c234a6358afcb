"""MNNVL by annotation, rule by rule."""

from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.admit_podclique import admit_podclique, amend_podgang_at_admission
from grove_core.areas.mnnvl_scopes.clique_admission import CliqueAdmissionView
from grove_core.in_memory.in_memory_cluster import InMemoryCluster
from grove_core.kernel.admission import AdmitWithChanges, AmendmentVerdict, Deny
from grove_core.kernel.decisions import Decision
from grove_core.kernel.frozen import FrozenDict, FrozenMap, thaw_json
from grove_core.kernel.steps import Apply, Attempt, AttemptOutcome, Create, Delete, Ensure, Step, StepStage
from grove_core.kernel.structs import replace
from grove_core.object_explanation import ObjectExplanation
from grove_core.object_lookup import snapshot_has_object
from grove_core.reconcile import reconcile
from grove_core.resources.configuration import DEFAULT_CONFIGURATION, Configuration, MnnvlConfiguration, ServedApis
from grove_core.resources.domain_and_claim_formats import refs_across_api_versions
from grove_core.resources.domain_sharing import clique_indices_from_labels, clique_location_in_set, shared_claim_entry
from grove_core.resources.domain_sharing_labels import domain_user_in_labels
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import podcliqueset_from_json
from grove_core.resources.podgang import PodGang
from grove_core.snapshot.snapshot import Snapshot
from tests.property.mnnvl_scopes.sharing_sets import (
    ENABLED,
    GPUS,
    SCOPE,
    SCOPED,
    SHARED,
    Json,
    converged_set,
    shared_in,
    with_configuration,
)
from tests.property.workload.sets import NOW, applied, clique_raw, set_raw


def plan_of(seen: Snapshot) -> dict[tuple[str, str], type]:
    return {(step.target.kind, step.target.name): type(step.action) for step in reconcile(seen).steps}


def one_set(**annotations: str) -> Json:
    said = {ENABLED: "true", **{f"grove.io/mnnvl-{key}": text for key, text in annotations.items()}}
    return set_raw(clique_raw("a", pod_spec=GPUS), clique_raw("b"), meta={"annotations": said})


def test_mn052_objects_of_a_deleted_set_are_not_deleted() -> None:
    world, seen = converged_set(one_set())
    going = replace(seen, root=replace(seen.root, deleting=True))
    for target, action in plan_of(going).items():
        assert target[0] not in SHARED, (target, action)
    gone = replace(seen, root=replace(seen.root, spec=seen.root.spec.model_copy(update={"replicas": 0})))
    assert not [target for target in plan_of(gone) if target[0] in SHARED]
    world.delete_object(seen.gangs[0].ref)
    assert not shared_in(world)


def test_ms037_a_clique_waits_for_a_refused_creation() -> None:
    start = with_configuration(applied(one_set()))
    (ensure, *_) = [step for step in reconcile(start).steps if isinstance(step.action, Ensure)]
    assert ensure.stage is StepStage.FOUNDATION
    refused = replace(start, attempts=(Attempt(ensure, AttemptOutcome.REFUSED, "exceeded quota"),))
    plan = reconcile(refused)
    assert not [step for step in plan.steps if step.target.kind in {"PodClique", *SHARED}]
    words = [held.because[0].sentence for held in plan.withheld if held.target.kind == "PodClique"]
    assert len(words) == 2
    assert all("exceeded quota" in one for one in words)
    assert reconcile(replace(start, attempts=())).steps == reconcile(start).steps


def test_pl018_what_was_ensured_is_not_ensured_again() -> None:
    start = with_configuration(applied(one_set()))
    ensures = [step for step in reconcile(start).steps if isinstance(step.action, Ensure)]
    assert len(ensures) == 2
    later = replace(start, attempts=tuple(Attempt(step, AttemptOutcome.DONE) for step in ensures))
    assert not [step for step in reconcile(later).steps if isinstance(step.action, Ensure)]


@pytest.mark.parametrize("place", range(2), ids=["a domain", "a claim"])
@pytest.mark.req("PL-016")
def test_sm080_an_object_is_the_same_in_another_api_version(place: int) -> None:
    """The earlier leader was configured with another shape, or another version was served."""
    start = with_configuration(applied(one_set()))
    ensure = [step for step in reconcile(start).steps if isinstance(step.action, Ensure)][place]
    assert isinstance(ensure.action, Ensure)
    for ref in refs_across_api_versions(ensure.target):
        world = InMemoryCluster((start,))
        assert world.attempt_step(ensure).outcome is AttemptOutcome.DONE
        (uid,) = (one.uid for one in shared_in(world).values())
        manifest = FrozenMap({**ensure.action.manifest, "apiVersion": ref.api_version})
        again = replace(ensure, target=ref, action=Ensure(manifest))
        assert world.attempt_step(again).outcome is AttemptOutcome.DONE
        assert world.attempt_step(replace(again, action=Create(manifest))).detail == "it was there already"
        unowned = FrozenMap({**manifest, "metadata": FrozenMap({"name": ref.name, "namespace": ref.namespace})})
        assert world.attempt_step(replace(again, action=Ensure(unowned))).outcome is AttemptOutcome.REFUSED
        ((key, item),) = shared_in(world).items()
        assert (key, item.uid) == ((ref.kind, ref.name), uid)
        gone = replace(again, stage=StepStage.CLEANUP, action=Delete(item.guard))
        assert world.attempt_step(gone).outcome is AttemptOutcome.DONE
        assert not shared_in(world)


def test_pl018_an_unlisted_handover_counts() -> None:
    world, seen = converged_set(one_set())
    gang = seen.gangs[0]
    for key, item in shared_in(world).items():
        world.put_object(replace(item, owner_uid=seen.root.uid, owner_kind="PodCliqueSet", owner_name="llm"))
        assert key
    stale = world.snapshot_of_set(seen.root.ref, NOW)
    assert stale is not None
    handovers = [step for step in reconcile(stale).steps if isinstance(step.action, Apply)]
    assert len(handovers) == 2
    for step in handovers:
        assert isinstance(step.action, Apply)
        (owner,) = thaw_json(step.action.fields)["metadata"]["ownerReferences"]
        assert (owner["uid"], owner["controller"], owner["blockOwnerDeletion"]) == (gang.uid, True, True)
    attempts = tuple(Attempt(step, AttemptOutcome.DONE) for step in handovers)
    assert not reconcile(replace(stale, attempts=attempts)).steps


def owner_of(step: Step) -> tuple[str, bool]:
    """The kind of the owner in a step, and whether it blocks the owner's deletion."""
    assert isinstance(step.action, Ensure | Apply)
    fields = step.action.manifest if isinstance(step.action, Ensure) else step.action.fields
    (owner,) = thaw_json(fields)["metadata"]["ownerReferences"]
    return owner["kind"], owner.get("blockOwnerDeletion", False)


def test_ms020_objects_of_a_set_do_not_block_its_deletion() -> None:
    """The webhook, which may create it, has no permission on finalizers of sets; the operator has it for gangs."""
    start = with_configuration(applied(one_set()))
    first = [step for step in reconcile(start).steps if isinstance(step.action, Ensure)]
    assert [owner_of(step) for step in first] == [("PodCliqueSet", False)] * 2
    world, seen = converged_set(one_set())
    for item in shared_in(world).values():
        world.put_object(replace(item, owner_uid=seen.root.uid, owner_kind="PodCliqueSet", owner_name="llm"))
    handed = world.snapshot_of_set(seen.root.ref, NOW)
    assert handed is not None
    over = [step for step in reconcile(handed).steps if isinstance(step.action, Apply)]
    assert [owner_of(step) for step in over] == [("PodGang", True)] * 2
    for item in shared_in(world).values():
        world.delete_object(item.ref)
    again = world.snapshot_of_set(seen.root.ref, NOW)
    assert again is not None
    made = [step for step in reconcile(again).steps if isinstance(step.action, Ensure)]
    assert [owner_of(step) for step in made] == [("PodGang", True)] * 2


@pytest.mark.parametrize("missing", SHARED)
@pytest.mark.req("MS-030")
def test_ms056_objects_that_were_not_collected_are_ensured_and_not_restored(missing: str) -> None:
    """With a dump that lacks domains and claims, those in use are left as they are, and new ones are ensured."""
    world, seen = converged_set(one_set())
    assert world.pods
    blind = replace(
        seen,
        domains=() if missing == "ComputeDomain" else seen.domains,
        others=tuple(one for one in seen.others if one.ref.kind != missing),
        complete=seen.complete - {missing},
        named_domains=FrozenDict({} if missing == "ComputeDomain" else seen.named_domains),
        named_claims=FrozenDict({} if missing == "ResourceClaim" else seen.named_claims),
    )
    assert not plan_of(blind)
    fewer = replace(blind, cliques=blind.cliques[1:])
    assert {kind for (kind, _), action in plan_of(fewer).items() if action is Ensure} == {missing}


def test_ms005_an_unparsable_clique_is_admitted_unchanged() -> None:
    around_nothing = CliqueAdmissionView(configuration=SCOPED, served=ServedApis(), owner=None, domains={}, claims={})
    decision = admit_podclique({"metadata": {"name": "x", "annotations": {ENABLED: "true"}}}, around_nothing)
    assert decision.verdict == AdmitWithChanges()
    assert decision.because[0].rule.code == "NotRead"
    assert decision.because[0].subject.short == "PodClique/x"


@pytest.mark.parametrize("configuration", [DEFAULT_CONFIGURATION, Configuration(MnnvlConfiguration(enabled=True))])
def test_ms001_in_other_modes_nothing_is_changed(configuration: Configuration) -> None:
    around_nothing = CliqueAdmissionView(
        configuration=configuration, served=ServedApis(), owner=None, domains={}, claims={}
    )
    said = {"annotations": {ENABLED: "true"}, "labels": {"grove.io/pcs-name": "llm", "grove.io/pcs-replica-index": "0"}}
    raw = {"metadata": {"name": "llm-0-a", "namespace": "ml", **said}, "spec": {"podSpec": GPUS}}
    decision = admit_podclique(raw, around_nothing)
    assert (decision.verdict, decision.because[0].rule.code) == (AdmitWithChanges(), "ScopesOff")
    assert amend_podgang_at_admission({"metadata": {"name": "llm-0"}}, configuration).verdict == AdmitWithChanges()


def test_ms038_a_clique_waits_for_an_unknown_set() -> None:
    around_nothing = CliqueAdmissionView(configuration=SCOPED, served=ServedApis(), owner=None, domains={}, claims={})
    said = {"annotations": {ENABLED: "true"}, "labels": {"grove.io/pcs-name": "llm", "grove.io/pcs-replica-index": "0"}}
    raw = {"metadata": {"name": "llm-0-a", "namespace": "ml", **said}, "spec": {"podSpec": GPUS}}
    verdict = admit_podclique(raw, around_nothing).verdict
    assert isinstance(verdict, Deny)
    assert [(one.path, one.got) for one in verdict.objections] == [(f"metadata.annotations[{ENABLED}]", '"true"')]


OWNER: Final = podcliqueset_from_json(
    {"metadata": {"name": "llm", "namespace": "ml", "uid": "u"}, "spec": {"template": {"cliques": []}}}
)
OURS: Final = {"name": "mnnvl", "resourceClaimName": "llm-0-mnnvl-claim"}


def made_by_a_user(claims: list[Json]) -> Decision[AmendmentVerdict]:
    """The admission of a PodClique that shares the domain of replica 0 and has these claims of the user."""
    view = CliqueAdmissionView(configuration=SCOPED, served=ServedApis(), owner=OWNER, domains={}, claims={})
    said = {"annotations": {ENABLED: "true"}, "labels": {"grove.io/pcs-name": "llm", "grove.io/pcs-replica-index": "0"}}
    spec = {"podSpec": {**GPUS, "resourceClaims": claims}}
    return admit_podclique({"metadata": {"name": "llm-0-a", "namespace": "ml", **said}, "spec": spec}, view)


@given(
    st.lists(st.sampled_from(["nic", "other"]), unique=True),
    st.sampled_from(["resourceClaimName", "resourceClaimTemplateName"]),
)
def test_ms008_a_claim_of_the_user_is_never_replaced(others: list[str], how: str) -> None:
    before = [{"name": name, "resourceClaimTemplateName": "x"} for name in others]
    decision = made_by_a_user([*before, {"name": "mnnvl", how: "my-own"}])
    assert isinstance(decision.verdict, Deny)
    (objection,) = decision.verdict.objections
    assert (objection.path, objection.got) == (f"spec.podSpec.resourceClaims[{len(before)}].name", '"mnnvl"')
    assert [why.rule.requirement for why in decision.because] == ["MS-008", "MS-074"]
    admitted = made_by_a_user(before).verdict
    assert isinstance(admitted, AdmitWithChanges)
    assert admitted.patch


@pytest.mark.req("MS-032")
def test_ms008_a_claim_that_grove_wrote_is_no_claim_of_the_user() -> None:
    verdict = made_by_a_user([OURS]).verdict
    assert isinstance(verdict, AdmitWithChanges)
    assert all("resourceClaims" not in str(one.get("path", "")) for one in verdict.patch)


@pytest.mark.req("MS-086")
@pytest.mark.parametrize("name", ["Not A Class!", "-x", "a..b", "x" * 254])
def test_ms003_a_clique_with_an_invalid_device_class_joins_nothing(name: str) -> None:
    view = CliqueAdmissionView(configuration=SCOPED, served=ServedApis(), owner=OWNER, domains={}, claims={})
    said = {
        "annotations": {ENABLED: "true", "grove.io/mnnvl-device-class": name},
        "labels": {"grove.io/pcs-name": "llm", "grove.io/pcs-replica-index": "0"},
    }
    raw = {"metadata": {"name": "llm-0-a", "namespace": "ml", **said}, "spec": {"podSpec": GPUS}}
    verdict = admit_podclique(raw, view).verdict
    assert isinstance(verdict, AdmitWithChanges)
    assert not verdict.patch
    (warning,) = verdict.warnings
    assert "is not a valid name of a DeviceClass" in warning.reason.sentence


def labels_by_scope() -> Iterator[tuple[str, Json, Json]]:
    """Scope, the label keys of the design, and the keys that must be absent."""
    of_set = {"grove.io/pcs-name": "llm", "grove.io/pcs-replica-index": "0", "grove.io/mnnvl-managed": "true"}
    of_group = {"grove.io/pcsg-name": "pool", "grove.io/pcsg-replica-index": "1"}
    of_clique = {"grove.io/clique-name": "a"}
    yield "replica", of_set, {**of_group, **of_clique}
    yield "scalingGroupReplica", {**of_set, **of_group}, of_clique
    yield "clique", {**of_set, **of_group, **of_clique}, {}


@pytest.mark.parametrize(("scope", "present", "absent"), tuple(labels_by_scope()))
def test_ms020_labels_name_the_user_and_can_be_read_back(scope: str, present: Json, absent: Json) -> None:
    group = {"name": "pool", "cliqueNames": ["a"], "replicas": 2, "minAvailable": 1}
    where = {"annotations": {ENABLED: "true", SCOPE: scope}}
    raw = set_raw(
        clique_raw("a", pod_spec=GPUS, annotations=where["annotations"] if scope == "clique" else {}), groups=(group,)
    )
    group |= {} if scope == "clique" else where
    world, seen = converged_set(raw)
    (member,) = [clique for clique in seen.cliques if clique.group_replica_index == 1]
    claim = shared_claim_entry(member.pod_spec)
    assert claim is not None
    found = shared_in(world)["ResourceClaim", str(claim["resourceClaimName"])]
    assert {key: found.labels.get(key) for key in present} == present
    assert not set(absent) & set(found.labels)
    assert found.labels["app.kubernetes.io/part-of"] == "llm"
    user = domain_user_in_labels(found.labels)
    assert user is not None
    assert (user.set_name, user.replica, bool(user.group), bool(user.clique)) == (
        "llm",
        "0",
        "grove.io/pcsg-name" in present,
        "grove.io/clique-name" in present,
    )


@cache
def stored_clique() -> tuple[PodClique, ...]:
    return converged_set(set_raw(clique_raw("a")))[1].cliques


NAMES: Final = st.from_regex(r"[a-z]([a-z0-9]|-(?=[a-z0-9])){0,8}", fullmatch=True)


@given(NAMES, st.integers(0, 12), NAMES, st.none() | st.tuples(NAMES, st.integers(0, 12)), st.booleans())
def test_ms020_the_position_is_read_from_labels(
    set_name: str, replica: int, clique: str, group: tuple[str, int] | None, full: bool
) -> None:
    """With the group's full name in the label, as Grove writes it, or its template name, as the design prints it."""
    wanted = clique_location_in_set(set_name, replica, clique, *(group or ()))
    labels = {"grove.io/pcs-name": set_name, "grove.io/pcs-replica-index": str(replica)}
    if group is not None:
        assert wanted.group is not None
        labels |= {"grove.io/pcsg-name": wanted.group.group if full else group[0]}
        labels |= {"grove.io/pcsg-replica-index": str(group[1])}
    (stored,) = stored_clique()
    read = replace(stored, ref=replace(stored.ref, name=wanted.name), labels=FrozenMap(labels), replica_index=replica)
    position = clique_indices_from_labels(read)
    if group is not None and not full and wanted.name.startswith(f"{group[0]}-{group[1]}-"):
        return  # the name alone is ambiguous
    assert position == wanted


def test_cl010_shared_objects_can_be_explained() -> None:
    raw = one_set()
    raw["spec"]["template"]["cliques"][1]["annotations"] = {SCOPE: "clique"}
    start = with_configuration(applied(raw))
    for name in ("llm-0-cd", "llm-0-b-cd"):
        assert snapshot_has_object(start, "ComputeDomain", name)
        asked = ObjectExplanation(start, reconcile(start), "ComputeDomain", name)
        assert {finding.verdict for finding in asked.findings()} == {"Ensured", "Joins", "Wanted"}
        assert [step.target.name for step in asked.planned_steps()] == [name]
    assert not snapshot_has_object(start, "ComputeDomain", "llm-0-c-cd")
    _, seen = converged_set(raw)
    asked = ObjectExplanation(seen, reconcile(seen), "ComputeDomain", "llm-0-cd")
    assert {finding.verdict for finding in asked.findings()} == {"Belongs", "Joins", "Wanted"}
    off = with_configuration(seen, DEFAULT_CONFIGURATION)
    asked = ObjectExplanation(off, reconcile(off), "ComputeDomain", "llm-0-cd")
    assert "LeftAlone" in {finding.verdict for finding in asked.findings()}


@pytest.mark.parametrize(("deleting", "owner"), [*product((False, True), ("gone", "ours"))])
def test_ms035_a_clique_waits_for_an_object_that_is_being_deleted(owner: str, *, deleting: bool) -> None:
    world, seen = converged_set(one_set())
    for item in shared_in(world).values():
        world.put_object(replace(item, deleting=deleting, owner_uid="gone" if owner == "gone" else item.owner_uid))
    looked = world.snapshot_of_set(seen.root.ref, NOW)
    assert looked is not None
    plan = reconcile(looked)
    held = {held.target.kind for held in plan.withheld}
    written = {step.target.kind for step in plan.steps if isinstance(step.action, Apply)}
    assert held == (set(SHARED) if deleting else set())
    assert written == (set(SHARED) if owner == "gone" and not deleting else set())
    assert not [step for step in plan.steps if isinstance(step.action, Delete)]
    assert isinstance(seen.gangs[0], PodGang)
