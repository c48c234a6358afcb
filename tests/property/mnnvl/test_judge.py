"""The state of a replica's ComputeDomain against an independent reading of the rules; whole sets converge."""

import json
from collections.abc import Iterator
from itertools import product
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.admit import admit
from grove_core.areas.mnnvl.admit import mnnvl_preflight_objection
from grove_core.areas.mnnvl.design.judge import compute_domain_ref_of_replica, compute_domains_of_new_parts, judge_mnnvl
from grove_core.areas.mnnvl.design.verdicts import (
    BlockedComputeDomain,
    ComputeDomainNameTaken,
    ReplicaComputeDomainState,
)
from grove_core.areas.mnnvl.design.wants import desired_mnnvl_changes, mnnvl_wake_time
from grove_core.document.document_reading import plan_document_from_json
from grove_core.document.document_writing import plan_document_as_json
from grove_core.document.plan_document import PlanDocument
from grove_core.kernel.conditions import REMOVED, Condition, ConditionStatus
from grove_core.kernel.frozen import FrozenDict, FrozenMap, frozen_dict_of_tuples, thaw_json
from grove_core.kernel.refs import Guard, Ref
from grove_core.kernel.steps import Apply, Attempt, AttemptOutcome, Create, Delete, SetStatus, Step, StepStage
from grove_core.kernel.structs import replace
from grove_core.kernel.wants import ObjectToCreate, StatusToWrite, Withheld
from grove_core.plan.forecast import one_round_forecast
from grove_core.plan.plan_laws import broken_laws_in_plan
from grove_core.reconcile import reconcile
from grove_core.resources.api_names import DOMAIN_TEMPLATE, DOMAINS_READY, MNNVL_CLAIM, MNNVL_ENABLED
from grove_core.resources.configuration import (
    DEFAULT_CONFIGURATION,
    ComputeDomainFormatName,
    Configuration,
    MnnvlConfiguration,
    ServedApis,
)
from grove_core.resources.domains_ready_condition import DomainCreationFailure, domain_failure_in_stored_conditions
from grove_core.resources.status_comparison import object_after_status_write
from grove_core.snapshot.snapshot import Snapshot
from tests.property.few_examples import RARELY
from tests.property.mnnvl.gpu_sets import BY_ANNOTATIONS, FOUND, LATE, gpu_clique, set_in_state, with_configuration
from tests.property.mnnvl.gpus import GPUS, ON, Json
from tests.property.workload.sets import NOW, applied, clique_raw, raw_sets, rounds_of, set_raw

SIBLINGS: Final = ("none", "joined", "without")


def expected(
    siblings: str,
    found: str,
    *,
    refused: bool,
    before: bool,
    known: bool,
    on: bool,
    young: bool,
    asks: bool,
    **_by: bool,
) -> ReplicaComputeDomainState | None:
    """The expected state, by the rules in order of precedence; None where the replica has no entry."""
    if not (on and asks) and siblings != "joined":
        return None  # MN-001, MN-003
    if found == "ours":
        return (
            ReplicaComputeDomainState.WITHOUT if siblings == "without" else ReplicaComputeDomainState.JOINED
        )  # MN-020, MN-021
    if not known:
        return {
            "none": ReplicaComputeDomainState.UNKNOWN,
            "joined": ReplicaComputeDomainState.JOINED,
            "without": ReplicaComputeDomainState.WITHOUT,
        }[siblings]  # MN-016
    if not on:
        return ReplicaComputeDomainState.MISSED  # MN-060
    if siblings == "without" and not (before or refused):
        return ReplicaComputeDomainState.WITHOUT  # MN-024
    if found.endswith("going") or (found == "an earlier set's" and young):
        return (
            ReplicaComputeDomainState.FAILED if siblings == "without" else ReplicaComputeDomainState.LEAVING
        )  # MN-041
    if found != "nothing" or refused:
        return ReplicaComputeDomainState.FAILED  # MN-040, MN-011
    return {
        "none": ReplicaComputeDomainState.AWAITED,
        "joined": ReplicaComputeDomainState.RESTORED,
        "without": ReplicaComputeDomainState.FAILED,
    }[siblings]  # MN-010, MN-043, MN-014


def states(siblings: str, found: str) -> Iterator[dict[str, Any]]:
    for flags in product((False, True), repeat=6):
        rest = dict(zip(("refused", "before", "known", "on", "young", "asks"), flags, strict=True))
        yield {"siblings": siblings, "found": found, **rest}
        if not rest["on"]:
            yield {"siblings": siblings, "found": found, **rest, "by_annotations": True}


def seen_in(*, by_annotations: bool = False, **state: Any) -> Snapshot:
    """The set in a state; where MNNVL by the operator is off, it may be on by annotations."""
    return with_configuration(set_in_state(**state), BY_ANNOTATIONS) if by_annotations else set_in_state(**state)


@pytest.mark.parametrize("found", FOUND)
@pytest.mark.parametrize("siblings", SIBLINGS)
@pytest.mark.req("MN-001")
@pytest.mark.req("MN-003")
@pytest.mark.req("MN-011")
@pytest.mark.req("MN-014")
@pytest.mark.req("MN-020")
@pytest.mark.req("MN-021")
@pytest.mark.req("MN-024")
@pytest.mark.req("MN-040")
@pytest.mark.req("MN-041")
@pytest.mark.req("MN-043")
@pytest.mark.req("MN-060")
def test_mn010_every_state_of_a_replica(siblings: str, found: str) -> None:
    for state in states(siblings, found):
        _check_state(state)


def _check_state(state: dict[str, Any]) -> None:
    snapshot = seen_in(**state)
    _check_round_trip(snapshot)
    judgement = judge_mnnvl(snapshot)
    expected_state = expected(**state)
    assert [one.state for one in judgement.replicas] == ([] if expected_state is None else [expected_state]), state
    fabric, desired = compute_domains_of_new_parts(snapshot, judgement), desired_mnnvl_changes(snapshot, judgement)
    made = [want for want in desired.wants if isinstance(want, ObjectToCreate)]
    # the domain is created exactly where its name is free, it is wanted and no sibling runs without it
    is_free = state["found"] == "nothing" and state["known"] and state["on"]
    assert bool(made) is (is_free and expected_state not in {None, ReplicaComputeDomainState.WITHOUT})
    # the parts of a replica are withheld only where none of them exists
    assert bool(fabric.waiting) is (
        state["siblings"] == "none"
        and expected_state
        in {ReplicaComputeDomainState.AWAITED, ReplicaComputeDomainState.LEAVING, ReplicaComputeDomainState.UNKNOWN}
    )
    # all or none: new parts do as their siblings do, and where there are none as the domain does
    joins = (
        state["siblings"] == "joined"
        if state["siblings"] != "none"
        else expected_state is ReplicaComputeDomainState.JOINED
    )
    assert bool(fabric.templates) is joins
    waiting = [one for one in judgement.replicas if isinstance(one, BlockedComputeDomain | ComputeDomainNameTaken)]
    assert (mnnvl_wake_time(judgement) is not None) is any(one.until is not None for one in waiting)
    assert not broken_laws_in_plan(reconcile(snapshot), snapshot)


def _check_round_trip(snapshot: Snapshot) -> None:
    """CL-011: the plan can be read back, with its configuration and the stage of an early status."""
    reported_for = (one_round_forecast(reconcile(snapshot), NOW),)
    document = PlanDocument(
        rules="design", as_of=NOW, not_collected=(), forecasts=reported_for, configuration=snapshot.configuration
    )
    written = json.loads(json.dumps(plan_document_as_json(document, decisions=True)))
    assert plan_document_from_json(written) == document


@pytest.mark.parametrize("found", FOUND)
@pytest.mark.parametrize("siblings", SIBLINGS)
@pytest.mark.req("MN-013")
def test_mn012_the_condition_lists_exactly_the_failures(siblings: str, found: str) -> None:
    for state in states(siblings, found):
        if state["known"]:
            _check_condition(state)


def _check_condition(state: dict[str, Any]) -> None:
    snapshot = seen_in(**state)
    judgement = judge_mnnvl(snapshot)
    written = [want for want in desired_mnnvl_changes(snapshot, judgement).wants if isinstance(want, StatusToWrite)]
    root = snapshot.root
    for want in written:
        root = object_after_status_write(root, want.fields)
    expected_state = expected(**state)
    fails = expected_state is ReplicaComputeDomainState.FAILED or (
        expected_state
        in {ReplicaComputeDomainState.AWAITED, ReplicaComputeDomainState.RESTORED, ReplicaComputeDomainState.LEAVING}
        and state["before"]
    )
    assert domain_failure_in_stored_conditions(root.status.conditions).replicas == ((0,) if fails else ())
    assert (not fails) is not any(one.type == DOMAINS_READY for one in root.status.conditions)
    if fails and state["before"]:
        (condition,) = root.status.conditions
        assert condition.last_transition_time == NOW - LATE, "it fails since then"


@pytest.mark.parametrize("siblings", SIBLINGS)
def test_mn016_without_domains_in_the_input_the_condition_stays(siblings: str) -> None:
    snapshot = set_in_state(siblings, "nothing", refused=False, before=True, known=False, on=True)
    assert not [
        want for want in desired_mnnvl_changes(snapshot, judge_mnnvl(snapshot)).wants if isinstance(want, StatusToWrite)
    ]


@given(st.lists(st.integers(0, 9999), min_size=1, unique=True), st.text())
def test_mn015_the_message_can_be_read_back(replicas: list[int], error: str) -> None:
    failure = DomainCreationFailure(tuple(sorted(replicas)), error)
    stored = Condition(DOMAINS_READY, ConditionStatus.FALSE, "CreationFailed", failure.condition_message, NOW)
    assert domain_failure_in_stored_conditions((stored,)) == failure


def test_mn015_the_message_is_that_of_the_design_document() -> None:
    said = "ComputeDomain creation failed for replicas: [2, 5]. Error: quota exceeded"
    assert DomainCreationFailure((2, 5), "quota exceeded").condition_message == said


@given(st.text(), st.sampled_from([ConditionStatus.TRUE, ConditionStatus.FALSE, ConditionStatus.UNKNOWN]))
def test_mn015_messages_of_others_are_ignored(message: str, status: ConditionStatus) -> None:
    assert (
        domain_failure_in_stored_conditions((Condition(DOMAINS_READY, status, "CreationFailed", f"!{message}", NOW),))
        == DomainCreationFailure()
    )


def test_mn012_the_condition_is_written_before_parts_without_a_domain() -> None:
    """An operator that restarts in between reads from the condition what to retry."""
    snapshot = set_in_state("none", "nothing", refused=True, before=False, known=True, on=True)
    steps = reconcile(snapshot).steps
    (reported_at,) = [
        step.stage for step in steps if isinstance(step.action, SetStatus) and step.target.kind == "PodCliqueSet"
    ]
    made_at = {step.stage for step in steps if step.target.kind == "PodClique"}
    assert made_at
    assert all(reported_at < stage for stage in made_at)


@RARELY
@given(raw_sets(), st.integers(0, 3), st.sampled_from(list(ComputeDomainFormatName)))
@pytest.mark.req("MN-004")
@pytest.mark.req("MN-005")
@pytest.mark.req("MN-021")
def test_mn030_a_whole_set_converges(raw: Json, asking: int, shape: ComputeDomainFormatName) -> None:
    """CD1, CD2, CD4: first a domain for each replica, then parts with the annotation, then pods with the claim."""
    cliques = raw["spec"]["template"]["cliques"]
    for clique in cliques[:asking]:
        clique["spec"]["podSpec"]["containers"] = [{"name": "main", "resources": GPUS}, {"name": "side"}]
    start = replace(with_configuration(applied(raw)), served=ServedApis(domains=shape))
    there: dict[str, Json] = {}
    for seen, plan in rounds_of(start):
        assert not broken_laws_in_plan(plan, seen)
        for step in plan.steps:
            assert not (isinstance(step.action, Apply) and DOMAIN_TEMPLATE in str(thaw_json(step.action.fields))), (
                "MN-021"
            )
            if not isinstance(step.action, Create):
                continue
            made = thaw_json(step.action.manifest)
            meta = made["metadata"]
            if step.target.kind in {"PodClique", "PodCliqueScalingGroup"}:
                index = meta["labels"]["grove.io/podcliqueset-replica-index"]
                named = meta.get("annotations", {}).get(DOMAIN_TEMPLATE)
                assert named == (f"llm-rct-{index}" if asking and f"llm-cd-{index}" in there else None)
                assert not asking or f"llm-cd-{index}" in there, "the domain comes first"
            if step.target.kind == "Pod":
                _check_pod(made, joined=bool(asking))
            there[step.target.name] = made
    domains = {name for name, made in there.items() if made["kind"] == "ComputeDomain"}
    assert domains == ({f"llm-cd-{index}" for index in range(raw["spec"]["replicas"])} if asking else set())


def _check_pod(made: Json, *, joined: bool) -> None:
    claims = [one for one in made["spec"].get("resourceClaims", ()) if one["name"] == MNNVL_CLAIM]
    assert len(claims) == joined
    assert all(one["resourceClaimTemplateName"].startswith("llm-rct-") for one in claims)
    for container in (*made["spec"]["containers"], *made["spec"].get("initContainers", ())):
        uses = {"name": MNNVL_CLAIM} in container.get("resources", {}).get("claims", [])
        assert uses is (joined and "nvidia.com/gpu" in container.get("resources", {}).get("limits", {}))


@pytest.mark.parametrize(
    ("choice", "gpus", "configuration", "rule"),
    [
        (None, True, ON, "GpusAsked"),
        ("true", True, ON, "GpusAsked"),
        ("false", True, ON, "OptedOut"),
        ("yes", True, ON, "OptedOut"),
        (None, False, ON, "NoGpusAsked"),
        ("true", False, ON, "NoGpusAsked"),
        (None, True, DEFAULT_CONFIGURATION, "MnnvlOff"),
        (None, True, BY_ANNOTATIONS, "MnnvlOff"),
    ],
)
@pytest.mark.req("MN-002")
@pytest.mark.req("MN-003")
def test_mn008_the_criteria(choice: str | None, gpus: bool, configuration: Configuration, rule: str) -> None:
    meta = {"annotations": {MNNVL_ENABLED: choice}} if choice is not None else {}
    raw = set_raw(gpu_clique("a") if gpus else clique_raw("a"), meta=meta)
    judgement = judge_mnnvl(with_configuration(applied(raw), configuration))
    assert judgement.criterion.rule.code == rule
    assert judgement.is_wanted is (rule == "GpusAsked")


@pytest.mark.parametrize(("choice", "joins"), [(None, True), ("true", True), ("false", False), ("True", False)])
@pytest.mark.req("MN-076")
def test_mn008_admission_and_judgement_read_a_choice_alike(choice: str | None, *, joins: bool) -> None:
    """Also for a value that was stored before validation existed."""
    meta = {"annotations": {MNNVL_ENABLED: choice}} if choice is not None else {}
    one = {"containers": [{"name": "main", "resources": {"limits": {"nvidia.com/gpu": 1}}}]}
    raw = set_raw(clique_raw("a", 2, pod_spec=one), meta=meta)
    warned = [warning.reason.rule.code for warning in admit(raw, raw, None, ON).verdict.warnings]
    assert ("SharedNode" in warned) is joins
    assert judge_mnnvl(with_configuration(applied(raw))).is_wanted is joins


@pytest.mark.parametrize("enabled", [False, True])
@pytest.mark.parametrize(
    "served", [ServedApis(), ServedApis(without_domains=True), ServedApis(domains=ComputeDomainFormatName.NVIDIA)]
)
def test_mn061_no_operator_without_the_definition(enabled: bool, served: ServedApis) -> None:
    objection = mnnvl_preflight_objection(Configuration(MnnvlConfiguration(enabled=enabled)), served)
    assert (objection is not None) is (enabled and served.without_domains)


def test_mn051_a_surplus_domain_waits_for_pods_that_outlive_their_clique() -> None:
    snapshot = set_in_state("joined", "ours", refused=False, before=False, known=True, on=True)
    empty = replace(snapshot, root=replace(snapshot.root, spec=snapshot.root.spec.model_copy(update={"replicas": 0})))
    orphans = {f"gone {uid}": pods for uid, pods in empty.pods_of.items()}
    orphans["of others"] = tuple(replace(pod, gang="other-0") for pods in empty.pods_of.values() for pod in pods)
    waiting = desired_mnnvl_changes(
        replace(empty, cliques=(), pods_of=frozen_dict_of_tuples(orphans)), judge_mnnvl(empty)
    )
    assert [type(one) for one in waiting.withheld] == [Withheld]
    ended = Attempt(
        Step(StepStage.CLEANUP, Ref("v1", "Pod", "ml", "x"), Delete(Guard("x", "1")), ()), AttemptOutcome.DONE
    )
    for attempts in ((), (ended,)):  # with any own writes of other pods (PL-018)
        plan = reconcile(
            replace(empty, cliques=(), gangs=(), pods_of=frozen_dict_of_tuples(orphans), attempts=attempts)
        )
        assert [held.target.name for held in plan.withheld] == ["llm-cd-0"]
        assert not [step for step in plan.steps if step.target.name == "llm-cd-0"]
    gone = desired_mnnvl_changes(replace(empty, cliques=(), pods_of=FrozenDict()), judge_mnnvl(empty))
    assert not gone.withheld
    assert [want.target.name for want in gone.wants if not isinstance(want, StatusToWrite)] == ["llm-cd-0"]


def test_mn013_removing_the_condition_is_a_write_of_its_own() -> None:
    snapshot = set_in_state("joined", "ours", refused=False, before=True, known=True, on=True)
    (written,) = [
        want for want in desired_mnnvl_changes(snapshot, judge_mnnvl(snapshot)).wants if isinstance(want, StatusToWrite)
    ]
    assert dict(written.fields) == {REMOVED: (DOMAINS_READY,)}
    assert object_after_status_write(snapshot.root, written.fields).status.conditions == ()


@pytest.mark.parametrize("outcome", [AttemptOutcome.DONE, AttemptOutcome.UNREACHABLE])
@pytest.mark.parametrize("joined", [True, False], ids=["with the domain", "without"])
def test_mn021_a_part_that_was_just_created_is_a_sibling(*, joined: bool, outcome: AttemptOutcome) -> None:
    """Between two rounds the domain appears, or is deleted and refused. A part without a response may not exist."""
    group: Json = {"name": "g", "cliqueNames": ["b"], "replicas": 1, "minAvailable": 1}
    start = with_configuration(applied(set_raw(gpu_clique("a"), clique_raw("b"), groups=(group,))))
    ours = FOUND["ours"]
    assert ours is not None
    there = replace(start, named_domains=FrozenDict({("ml", "llm-cd-0"): ours}), domains=(ours,))
    (tried,) = (step for step in reconcile(start).steps if step.target.name == "llm-cd-0")
    refused = replace(start, attempts=(Attempt(tried, AttemptOutcome.REFUSED, "exceeded quota"),))
    before, after = (there, refused) if joined else (refused, there)
    parts = [step for step in reconcile(before).steps if step.target.kind in {"PodClique", "PodCliqueScalingGroup"}]
    assert [_is_joined(step) for step in parts] == [joined] * 2
    for made in parts:
        plan = reconcile(replace(after, attempts=(*after.attempts, Attempt(made, outcome))))
        left = [step for step in plan.steps if step.target in {one.target for one in parts} - {made.target}]
        assert [_is_joined(step) for step in left] == [joined if outcome is AttemptOutcome.DONE else not joined]


def _is_joined(step: Step) -> bool:
    assert isinstance(step.action, Create)
    return DOMAIN_TEMPLATE in thaw_json(step.action.manifest)["metadata"].get("annotations", {})


def test_mn011_only_a_refused_creation_counts_as_refused() -> None:
    seen = set_in_state("none", "nothing", refused=False, before=False, known=True, on=True)
    ref = compute_domain_ref_of_replica(seen, 0)
    for action, outcome in (
        (Create(FrozenMap({})), AttemptOutcome.CONFLICT),
        (Apply(FrozenMap({}), Guard("u", "1")), AttemptOutcome.REFUSED),
    ):
        attempt = Attempt(Step(StepStage.FOUNDATION, ref, action, ()), outcome, "no")
        (one,) = judge_mnnvl(replace(seen, attempts=(attempt,))).replicas
        assert one.state is ReplicaComputeDomainState.AWAITED
