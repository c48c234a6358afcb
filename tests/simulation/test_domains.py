"""ComputeDomains in simulations: events, history, and checks."""

from pathlib import Path
from typing import Any

import pytest

from grove_core.kernel.frozen import FrozenDict
from grove_core.kernel.refs import Guard, Ref
from grove_core.kernel.steps import Attempt, AttemptOutcome, Delete, Step, StepStage
from grove_core.resources.api_names import NVIDIA
from grove_core.resources.compute_domain import ComputeDomain
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.simulator.promise_violation import PromiseViolated
from grove_shell.simulator.recording.simulation_history import NoteKind, SimulationActor
from grove_shell.simulator.scenario.fault_events import ForeignDomainFault
from grove_shell.simulator.scenario.scenario import Scenario
from grove_shell.simulator.scenario.scenario_field_types import WRITTEN
from grove_shell.simulator.simulation import Simulation
from grove_shell.simulator.simulation_run import SimulationOptions, SimulationResult
from grove_shell.simulator.virtual_time import SECOND
from grove_shell.views.simulation.simulation_timeline import simulation_timeline_page
from tests.oracles import checked
from tests.simulation.run_helpers import PlanRecorder, entries_of
from tests.simulation.sample_sets import clique_raw, scenario_of, set_raw
from tests.simulation.scenario_files import faults, read

Json = dict[str, Any]
ON: Json = {"mnnvl": {"enabled": True}}


def scenario(*events: Json, operator: Json = ON, replicas: int = 1, **spec: Any) -> Scenario:
    clique = clique_raw("a", 2, 2)
    clique["spec"]["podSpec"]["containers"][0]["resources"] = {"limits": {"nvidia.com/gpu": "1"}}
    raw = scenario_of(set_raw(clique, replicas=replicas), nodes=3).as_json
    for pool in raw["spec"]["nodes"]:
        pool["capacity"]["nvidia.com/gpu"] = "4"
    raw["spec"] |= {"events": list(events), "operator": operator, **spec}
    return Scenario.model_validate(raw, context=WRITTEN)


def run(*events: Json, **more: Any) -> SimulationResult:
    found = Simulation(scenario(*events, **more), checked()).run()
    assert found.violation is None, found.violation
    return found


def domains(found: SimulationResult) -> list[tuple[int, str, bool]]:
    """Return when which domain was created (True) or deleted."""
    changes = [change for change in found.changes if change.kind == "ComputeDomain"]
    return [
        (change.at, change.latest_object.ref.name, change.after is not None)
        for change in changes
        if change.before is None or change.after is None
    ]


def test_sm040_f7_a_quota_refuses_what_is_beyond_it() -> None:
    eyes = PlanRecorder()
    played = Simulation(
        scenario({"at": "0s", "limitDomains": {"most": 1, "span": "30s"}}, replicas=2),
        checked(observers=(eyes,)),
    )
    found = played.run()
    assert found.violation is None
    (first, *_) = [answer for answer in eyes.answers if answer.outcome is AttemptOutcome.REFUSED]
    assert first.step.target.name == "llm-cd-1"
    assert "exceeded quota" in first.detail
    assert "used: count/computedomains.resource.nvidia.com=1" in first.detail
    came = {name: at for at, name, there in domains(found) if there}
    assert came["llm-cd-0"] < SECOND
    assert came["llm-cd-1"] >= 30 * SECOND
    assert found.clique_states[1].ready == 2


@pytest.mark.req("MN-013")
@pytest.mark.req("MN-024")
def test_sm040_a_failure_that_was_dropped_with_mnnvl_off_stays_dropped() -> None:
    """The operator crashes after the write that drops it, and is started with MNNVL on again."""
    run(
        {"at": "0s", "limitDomains": {"most": 0, "span": "5s"}},
        {"at": "2.3s", "reconfigure": {"mnnvl": {}, "down": "100ms"}},
        {"at": "2.4s", "crashOperator": {"write": 1, "committed": True, "down": "90s"}},
        {"at": "17.9s", "reconfigure": {**ON, "down": "90s"}},
    )


def test_sm040_f7_a_quota_counts_foreign_domains() -> None:
    foreign = {"at": "0s", "foreignDomain": {"name": "llm-cd-1", "span": "10s"}}
    found = run({"at": "0s", "limitDomains": {"most": 1, "span": "30s"}}, foreign, replicas=2)
    ours = [at for at, name, there in domains(found) if there and name == "llm-cd-0"]
    assert len(ours) == 1
    assert ours[0] >= 10 * SECOND


@pytest.mark.parametrize("owner", [None, "Deployment/other"])
def test_sm040_f10_a_name_of_a_foreign_object(owner: str | None) -> None:
    fault = {"name": "llm-cd-0", "span": "20s"} | ({"owner": owner} if owner else {})
    found = run({"at": "0s", "foreignDomain": fault})
    assert [(name, there) for _, name, there in domains(found)] == [
        ("llm-cd-0", True),
        ("llm-cd-0", False),
        ("llm-cd-0", True),
    ]
    assert found.clique_states[0].ready == 2


def test_sm040_f10_a_foreign_domain_that_stays() -> None:
    found = run({"at": "0s", "foreignDomain": {"name": "ml/llm-cd-0"}})
    assert [there for _, _, there in domains(found)] == [True]
    last = [change.after for change in found.changes if change.kind == "ComputeDomain"][-1]
    assert isinstance(last, ComputeDomain)
    assert (last.ref.namespace, last.owner_uid, last.deleting) == ("ml", "", False)


@pytest.mark.req("SM-036")
@pytest.mark.parametrize(("release", "seconds"), [("0s", 0), ("25s", 25)])
def test_sm040_a_user_deletes_a_domain(release: str, seconds: int) -> None:
    found = run({"at": "10s", "deleteDomain": {"name": "llm-cd-0"}}, driver={"release": release})
    (_, _, came), (went, _, gone), (back, _, again) = domains(found)
    assert (came, gone, again) == (True, False, True)
    assert went == (10 + seconds) * SECOND
    assert went < back <= went + SECOND
    assert found.clique_states[0].ready == 2


def test_sm036_an_operator_keeps_its_configuration() -> None:
    """The old leader goes on with MNNVL on, and creates a domain that the new one does not need."""
    events: list[Json] = [
        {"at": "0s", "reconfigure": {"mnnvl": {"enabled": True}, "down": "1m"}},
        {"at": "10s", "scale": {"kind": "PodCliqueSet", "name": "llm", "replicas": 2}},
    ]
    late = run(*events, operator={})
    assert min(at for at, _, _ in domains(late)) >= 60 * SECOND
    off = run({"at": "5s", "reconfigure": {"mnnvl": {}, "down": "1s"}}, events[1])
    assert [name for _, name, _ in domains(off)] == ["llm-cd-0"]
    old = {"at": "12s", "secondLeader": {"span": "5s", "every": "1s"}}
    later = {"at": "12500ms", "reconfigure": {"mnnvl": {}, "down": "30s"}}
    grown = {"at": "11900ms", "scale": {"kind": "PodCliqueSet", "name": "llm", "replicas": 2}}
    two = Simulation(scenario(grown, old, later, operator={**ON, "watch": "600ms"}), SimulationOptions()).run()
    assert [name for _, name, _ in domains(two)] == ["llm-cd-0"]


def test_sm007_a_domain_that_does_not_exist() -> None:
    events: list[Json] = [
        {"at": "0s", "deleteDomain": {"name": "llm-cd-0"}},
        {"at": "10s", "foreignDomain": {"name": "llm-cd-0"}},
        {"at": "20s", "deleteDomain": {"name": "llm-cd-0"}},
        {"at": "21s", "deleteDomain": {"name": "llm-cd-0"}},
    ]
    found = run(*events, driver={"release": "5s"})
    assert [message for _, message in entries_of(found, NoteKind.NO_EFFECT)] == [
        "deleteDomain had no effect: there is no ComputeDomain llm-cd-0",
        "foreignDomain had no effect: ComputeDomain llm-cd-0 exists already",
        "deleteDomain had no effect: ComputeDomain llm-cd-0 is being deleted already",
    ]


def test_sm001_names_of_domains_are_known(tmp_path: Path) -> None:
    spec: Json = {
        "sets": [set_raw(clique_raw("a", 1, 1))],
        "events": [
            {"at": "1s", "deleteDomain": {"name": "llm-cd-1"}},
            {"at": "2s", "foreignDomain": {"name": "lm-cd-0"}},
            {"at": "3s", "scale": {"kind": "PodCliqueSet", "name": "llm", "replicas": 2}},
            {"at": "4s", "deleteDomain": {"name": "llm-cd-1"}},
        ],
        "expect": [
            {"at": "end", "gone": ["ComputeDomain/llm-cd-7"], "failedDomains": {"lmm": []}, "joined": {"llm-0-b": 1}}
        ],
    }
    found = faults(read(tmp_path, spec))
    assert found.keys() == {
        "spec.events[0].deleteDomain.name",
        "spec.events[1].foreignDomain.name",
        "spec.expect[0].gone[0]",
        "spec.expect[0].failedDomains.lmm",
        "spec.expect[0].joined.llm-0-b",
    }
    assert "llm-cd-0" in found["spec.events[1].foreignDomain.name"][0]


def test_sm001_settings_of_mnnvl_are_read_strictly(tmp_path: Path) -> None:
    spec: Json = {
        "sets": [set_raw(clique_raw("a", 1, 1))],
        "operator": {"mnnvl": {"enabled": True, "mode": "annotation"}},
        "events": [{"at": "1s", "reconfigure": {"mnnvl": {"enabeld": True}}}],
    }
    found = faults(read(tmp_path, spec))
    assert "annotations" in found["spec.operator.mnnvl.mode"][0]
    assert found["spec.events[0].reconfigure.mnnvl.enabeld"][0].startswith("unknown field; known: enabled")


def test_sm070_failed_domains_are_shown() -> None:
    found = run({"at": "0s", "limitDomains": {"most": 1, "span": "30s"}}, replicas=3)
    lines = [line for line in simulation_timeline_page(found).plain_text.splitlines() if "ComputeDomainsReady" in line]
    assert "ComputeDomainsReady=False (CreationFailed): ComputeDomain creation failed for replicas: [1, 2]" in lines[0]
    assert "ComputeDomainsReady is removed" in lines[-1]


def test_sm051_channels_and_failures_are_expected() -> None:
    missed = {"at": "end", "joined": {"llm-0-a": 1}, "failedDomains": {"llm": [0]}}
    met = {"at": "end", "joined": 2, "failedDomains": {"llm": []}}
    found = run(expect=[missed, met])
    assert [miss.message for miss in found.unmet] == [
        "at the end: expected joined of llm-0-a 1, found 2",
        "at the end: expected failed domains of llm [0], found []",
    ]


@pytest.mark.parametrize("kind", ["ComputeDomain", "other"])
def test_sm040_computedomains_are_a_kind_of_their_own(kind: str) -> None:
    eyes = PlanRecorder()
    events: Json = {"at": "0s", "refuseWrites": {"code": 503, "kind": kind, "writes": 1}}
    Simulation(scenario(events), checked(observers=(eyes,))).run()
    (failed,) = [answer.step.target.kind for answer in eyes.answers if answer.outcome is not AttemptOutcome.DONE]
    assert (failed == "ComputeDomain") is (kind == "ComputeDomain")


def test_sm051_a_deleted_foreign_domain_is_a_violation() -> None:
    """Such plans are illegal (PL-004), so that no mutant reaches this check."""
    simulation = Simulation(scenario(), checked())
    simulation.run()
    assert simulation.checks is not None
    simulation.configuration_faults.create_foreign_domain(ForeignDomainFault(name="ml/llm-cd-9"))
    ref = Ref(NVIDIA, "ComputeDomain", "ml", "llm-cd-9")
    item = simulation.cluster.server.items[ref]
    assert isinstance(item, ComputeDomain)
    snapshot = Snapshot(
        root=simulation.cluster.all_sets()[0],
        pods_of=FrozenDict(),
        now=simulation.scenario.spec.start,
        named_domains=FrozenDict({("ml", "llm-cd-9"): item}),
    )
    step = Step(StepStage.CLEANUP, ref, Delete(Guard(item.uid, "1")), ())
    with pytest.raises(PromiseViolated) as found:
        simulation.checks.on_operator_write(SimulationActor.OPERATOR, snapshot, Attempt(step, AttemptOutcome.DONE))
    assert found.value.violation.code == "CD6"
