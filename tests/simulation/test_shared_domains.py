"""MNNVL by annotation in simulations: admission of PodCliques and PodGangs, and what is stored of them."""

from pathlib import Path
from typing import Any

import pytest

from grove_core.areas.mnnvl_scopes.rules import SharedDomainDenial
from grove_core.kernel.admission import DenialReason, Deny
from grove_core.kernel.frozen import FrozenMap, freeze, thaw_json
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Apply, AttemptOutcome, Create, Ensure, Step, StepStage
from grove_core.kernel.structs import replace
from grove_core.plan.plan import Plan
from grove_core.reconcile import reconcile
from grove_core.resources.compute_domain import ComputeDomain
from grove_core.resources.podclique import PodClique
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.simulator.promise_violation import PromiseViolated
from grove_shell.simulator.recording.simulation_history import NoteKind
from grove_shell.simulator.scenario.scenario import Scenario
from grove_shell.simulator.scenario.scenario_field_types import WRITTEN
from grove_shell.simulator.simulation import Simulation
from grove_shell.simulator.simulation_run import SimulationOptions, SimulationResult
from grove_shell.simulator.virtual_time import SECOND
from tests.oracles import checked
from tests.simulation.domain_mutants import changed
from tests.simulation.mutants import created
from tests.simulation.run_helpers import PlanRecorder, entries_of
from tests.simulation.sample_sets import clique_raw, scenario_of, set_raw
from tests.simulation.scenario_files import faults, read

Json = dict[str, Any]
ON: Json = {"mnnvl": {"enabled": True, "mode": "annotations"}}
OPTS_IN: Json = {"annotations": {"grove.io/mnnvl-enabled": "true"}}


def clique(name: str = "a", **more: Any) -> Json:
    found = clique_raw(name, 2, 2)
    found["spec"]["podSpec"]["containers"][0]["resources"] = {"limits": {"nvidia.com/gpu": "1"}}
    return {**found, **OPTS_IN, **more}


def scenario(*events: Json, operator: Json = ON, **spec: Any) -> Scenario:
    raw = scenario_of(set_raw(clique()), nodes=3).as_json
    for pool in raw["spec"]["nodes"]:
        pool["capacity"]["nvidia.com/gpu"] = "4"
    raw["spec"] |= {"events": list(events), "operator": operator, **spec}
    return Scenario.model_validate(raw, context=WRITTEN)


def run(*events: Json, eyes: PlanRecorder | None = None, **more: Any) -> SimulationResult:
    observers = (eyes,) if eyes is not None else ()
    found = Simulation(scenario(*events, **more), checked(observers=observers)).run()
    assert found.violation is None, found.violation
    return found


def creations(found: SimulationResult, kind: str) -> list[tuple[int, str]]:
    return [(one.at, one.latest_object.ref.name) for one in found.changes if one.kind == kind and one.before is None]


def knows_nothing(snapshot: Snapshot) -> Plan:
    """An operator that creates PodCliques without their claims and ensures nothing."""

    def bare(step: Step) -> Step | None:
        if step.target.kind != "PodClique" or not isinstance(step.action, Create):
            return None if isinstance(step.action, Ensure) else step
        raw = thaw_json(step.action.manifest)
        raw["spec"]["podSpec"].pop("resourceClaims")
        return replace(step, action=created(raw))

    return changed(reconcile(snapshot), bare)


def test_sm002_a_new_clique_is_stored_as_admission_decides() -> None:
    found = Simulation(scenario(), checked(decide=knows_nothing)).run()
    assert found.violation is None
    stored = next(one.after for one in found.changes if one.kind == "PodClique")
    assert isinstance(stored, PodClique)
    assert freeze([{"name": "mnnvl", "resourceClaimName": "llm-0-mnnvl-claim"}]) == stored.pod_spec["resourceClaims"]
    assert [name for _, name in creations(found, "ComputeDomain")] == ["llm-0-cd"]
    assert found.clique_states[0].ready == 2


def test_sm002_a_refusal_by_admission_is_the_answer() -> None:
    """A foreign object has the domain's name; the operator has not observed it, and admission refuses its PodClique."""
    eyes = PlanRecorder()
    taken = {"at": "0s", "foreignDomain": {"name": "llm-0-cd", "span": "20s"}}
    unseen = {"at": "0s", "lagCache": {"kinds": ["ComputeDomain"], "span": "10s"}}
    options = checked(decide=knows_nothing, observers=(eyes,))
    found = Simulation(scenario(taken, unseen), options).run()
    assert found.violation is None
    refused = [one for one in eyes.answers if one.outcome is AttemptOutcome.REFUSED]
    assert {one.step.target.name for one in refused} == {"llm-0-a"}
    assert "serves another user" in refused[0].detail
    assert creations(found, "PodClique")[0][0] >= 20 * SECOND


def test_sm002_what_admission_ensures_may_be_refused() -> None:
    eyes = PlanRecorder()
    full = {"at": "0s", "limitDomains": {"most": 0, "span": "20s"}}
    found = Simulation(scenario(full), checked(decide=knows_nothing, observers=(eyes,))).run()
    refused = [one for one in eyes.answers if one.outcome is AttemptOutcome.REFUSED]
    assert "exceeded quota" in refused[0].detail
    assert creations(found, "PodClique")[0][0] >= 20 * SECOND


def test_sm036_no_operator_without_the_definition() -> None:
    eyes = PlanRecorder()
    found = run(eyes=eyes, driver={"installed": "25s"})
    reported = [text for _, text in entries_of(found, NoteKind.FAULT) if "exits at its start" in text]
    assert len(reported) == 3
    assert min(change.at for change in found.changes if change.kind != "PodCliqueSet") == 30 * SECOND
    assert found.clique_states[0].ready == 2


def test_sm036_no_domain_before_the_driver() -> None:
    """An operator with MNNVL off goes on, and the next one waits for the definition."""
    on = {"at": "10s", "reconfigure": {"mnnvl": ON["mnnvl"], "down": "1s"}}
    grown = {"at": "11s", "scale": {"kind": "PodCliqueSet", "name": "llm", "replicas": 2}}
    found = run(on, grown, operator={}, driver={"installed": "40s"})
    assert [at for at, name in creations(found, "PodClique") if name == "llm-0-a"] == [200]
    assert min(at for at, _ in creations(found, "ComputeDomain")) == 41 * SECOND


def test_sm080_an_object_of_a_deleted_owner_is_collected() -> None:
    simulation = Simulation(scenario(), SimulationOptions())
    simulation.run()
    server = simulation.cluster.server
    (domain,) = [item for item in server.items.values() if isinstance(item, ComputeDomain)]
    owner = {"apiVersion": "x/v1", "kind": "PodGang", "name": "gone", "uid": "nobody", "controller": True}
    fields = freeze({"metadata": {"ownerReferences": [owner]}})
    assert isinstance(fields, FrozenMap)
    step = Step(StepStage.WORKLOAD, domain.ref, Apply(fields, domain.guard), ())
    assert simulation.cluster.attempt_step(step).outcome is AttemptOutcome.DONE
    assert domain.ref not in server.items


def test_sm040_a_user_deletes_a_claim() -> None:
    events: list[Json] = [{"at": at, "deleteClaim": {"name": "llm-0-mnnvl-claim"}} for at in ("10s", "20s")]
    found = run(*events)
    assert len(creations(found, "ResourceClaim")) == 3
    assert found.clique_states[0].ready == 2


def test_sm001_names_that_are_shared_are_known(tmp_path: Path) -> None:
    spec: Json = {
        "sets": [set_raw(clique(), clique_raw("b", 1, 1))],
        "events": [
            {"at": "1s", "deleteDomain": {"name": "llm-0-cd"}},
            {"at": "2s", "deleteClaim": {"name": "llm-0-mnnvl-clam"}},
            {"at": "3s", "deleteDomain": {"name": "llm-0-b-cd"}},
        ],
    }
    found = faults(read(tmp_path, spec))
    assert found.keys() == {"spec.events[1].deleteClaim.name", "spec.events[2].deleteDomain.name"}
    assert "llm-0-mnnvl-claim" in found["spec.events[1].deleteClaim.name"][0]


@pytest.mark.parametrize("what", ["", "spec"])
def test_sm064_wrong_admission_of_an_update_is_found(what: str) -> None:
    """CD8: refused for annotations that it does not change, or stored with others."""
    simulation = Simulation(scenario(), checked())
    assert simulation.checks is not None
    manifest = set_raw(clique())
    other = {**manifest, "metadata": {**manifest["metadata"], **OPTS_IN}}
    simulation.checks.on_user_set_write(manifest, manifest, manifest)
    simulation.checks.on_user_set_write(other, manifest, other)
    because = SharedDomainDenial.SCOPED_VALUE_INVALID.because(Ref("grove.io/v1alpha1", "PodCliqueSet", "ml", "llm"))
    refused = Deny((DenialReason("metadata.annotations[grove.io/mnnvl-scope]", "x", because),))
    with pytest.raises(PromiseViolated) as found:
        simulation.checks.on_user_set_write(manifest, manifest, refused if what else other)
    assert found.value.violation.code == "CD8"
