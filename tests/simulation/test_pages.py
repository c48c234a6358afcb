"""The output of a run: timeline, document, picture."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from grove_core.kernel.conditions import Condition, ConditionStatus
from grove_core.kernel.reasons import Rule, RuleSentence
from grove_core.kernel.refs import Ref
from grove_shell.simulator.recording.simulation_history import (
    BreachWaitHistoryEntry,
    ConditionHistoryEntry,
    EntryContent,
    NoteHistoryEntry,
    NoteKind,
    PodChangeKind,
    PodHistoryEntry,
    RefusedApplyHistoryEntry,
    SimulationActor,
    SimulationHistoryEntry,
    UnplacedGangHistoryEntry,
    WriteEffect,
    WriteHistoryEntry,
)
from grove_shell.simulator.simulation import Simulation
from grove_shell.views.simulation.history_lines import timeline_lines_of_entries
from grove_shell.views.simulation.simulation_chart import draw_simulation_chart
from grove_shell.views.simulation.simulation_run_document import simulation_run_as_json, simulation_seeds_as_json
from grove_shell.views.simulation.simulation_timeline import simulation_timeline_page
from tests.oracles import checked
from tests.simulation.mutants import terminates_at_once
from tests.simulation.run_helpers import entries_of, run, scenario
from tests.simulation.sample_sets import clique_raw, set_raw

Json = dict[str, Any]
POD = Ref("v1", "Pod", "ml", "llm-0-a-x")
CLIQUE = Ref("grove.io/v1alpha1", "PodClique", "ml", "llm-0-a")


class Sample(Rule):
    """Reasons of which only the sentence counts."""

    B = RuleSentence("GT-012", "b")
    LATE = RuleSentence("GT-012", "late")
    NUMBER = RuleSentence("GT-012", "{number}")


BECAUSE = (Sample.B.because(POD),)


def line(*contents: EntryContent, verbose: bool = False) -> list[str]:
    entries = [SimulationHistoryEntry(0, SimulationActor.OPERATOR, content) for content in contents]
    return [found.text for found in timeline_lines_of_entries(entries, verbose=verbose)]


def pod(what: PodChangeKind, subject: Ref = POD, **more: str) -> PodHistoryEntry:
    return PodHistoryEntry(what, subject, "llm-0-a", **more)


@pytest.mark.parametrize(
    ("content", "one", "many"),
    [
        (WriteHistoryEntry(WriteEffect.CREATED, POD, "llm-0-a"), "creates pod llm-0-a-x", "creates 2 pods of llm-0-a"),
        (pod(PodChangeKind.PLACED, node="n"), "pod llm-0-a-x placed on n", "2 pods of llm-0-a placed on n"),
        (pod(PodChangeKind.READY), "pod llm-0-a-x ready", "2 pods of llm-0-a ready"),
        (pod(PodChangeKind.GONE), "pod llm-0-a-x gone", "2 pods of llm-0-a gone"),
        (pod(PodChangeKind.UNREADY, why="why"), "pod llm-0-a-x not ready: why", "2 pods of llm-0-a not ready: why"),
        (WriteHistoryEntry(WriteEffect.OPENED, POD, "llm-0-a", BECAUSE), "opens the gate of pod llm-0-a-x: b",
         "opens the gates of 2 pods of llm-0-a: b"),
        (WriteHistoryEntry(WriteEffect.DELETED, POD, "llm-0-a", BECAUSE), "deletes pod llm-0-a-x: b",
         "deletes 2 pods of llm-0-a: b"),
        (WriteHistoryEntry(WriteEffect.FAILED, POD, "llm-0-a", error="conflict"),
         "1 write not done (Pod llm-0-a-x): conflict", "2 writes not done (Pod llm-0-a-x, llm-0-a-x): conflict"),
    ],
)  # fmt: skip
def test_sm070_equal_entries_share_a_line(content: EntryContent, one: str, many: str) -> None:
    assert line(content) == [one]
    assert line(content, BreachWaitHistoryEntry(POD, BECAUSE), content)[0] == many


def test_sm070_pods_of_two_namespaces_are_not_equal() -> None:
    """Their cliques only have the same name."""
    other = Ref("v1", "Pod", "b", "llm-0-a-x")
    assert line(pod(PodChangeKind.READY), pod(PodChangeKind.READY, other)) == ["pod llm-0-a-x ready"] * 2


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (pod(PodChangeKind.FAILED), "pod llm-0-a-x fails"),
        (pod(PodChangeKind.CRASHED), "pod llm-0-a-x crashes"),
        (pod(PodChangeKind.GONE, why="node n is gone"), "pod llm-0-a-x gone: node n is gone"),
        (pod(PodChangeKind.EVICTED, why="node n is lost"), "deletes pod llm-0-a-x: node n is lost"),
        (
            BreachWaitHistoryEntry(CLIQUE.at_replica(1), BECAUSE),
            "replica 1 of PodClique llm-0-a is breached and waits: b",
        ),
        (NoteHistoryEntry(NoteKind.UPDATE, "an update begins", CLIQUE), "PodClique llm-0-a: an update begins"),
        (RefusedApplyHistoryEntry("PodCliqueSet", "it", ()), "PodCliqueSet it is refused"),
        (UnplacedGangHistoryEntry(CLIQUE, 2, "why"), "2 pods of PodClique llm-0-a not placed: why"),
        (NoteHistoryEntry(NoteKind.NO_EFFECT, "it had no effect"), "it had no effect"),
        (NoteHistoryEntry(NoteKind.SCALED, "replicas 1 to 2", CLIQUE), "scales PodClique llm-0-a: replicas 1 to 2"),
        (WriteHistoryEntry(WriteEffect.APPLIED, CLIQUE), "applies PodClique llm-0-a"),
        (NoteHistoryEntry(NoteKind.FAULT, "so"), "so"),
    ],
)
def test_sm070_every_happening_has_words(found: EntryContent, text: str) -> None:
    assert line(found) == [text]


def test_sm070_pods_of_two_removed_nodes_are_not_equal() -> None:
    gone = (pod(PodChangeKind.GONE, why=f"node {name} is gone") for name in "ab")
    assert line(*gone) == ["pod llm-0-a-x gone: node a is gone", "pod llm-0-a-x gone: node b is gone"]


def test_sm070_details_are_shown_on_request() -> None:
    scheduled = Condition("PodCliqueScheduled", ConditionStatus.TRUE, "R", "m", datetime(2026, 1, 1, tzinfo=UTC))
    quiet: list[EntryContent] = [
        WriteHistoryEntry(WriteEffect.STATUS, CLIQUE, because=BECAUSE),
        pod(PodChangeKind.STARTED),
        WriteHistoryEntry(WriteEffect.WITHHELD, CLIQUE, because=BECAUSE),
        WriteHistoryEntry(WriteEffect.RELEASED, CLIQUE, because=BECAUSE),
        WriteHistoryEntry(WriteEffect.CREATED, CLIQUE, because=BECAUSE),
        ConditionHistoryEntry(CLIQUE, scheduled, ConditionStatus.FALSE),
    ]
    assert line(*quiet) == ["creates PodClique llm-0-a"]
    assert line(*quiet, verbose=True) == [
        "writes 1 status: b",
        "pod llm-0-a-x started",
        "withholds PodClique llm-0-a: b",
        "removes finalizers of PodClique llm-0-a",
        "creates PodClique llm-0-a: b",
        "PodClique llm-0-a: PodCliqueScheduled=True (R): m",
    ]


def test_sm070_every_changed_condition_of_an_object_has_a_line() -> None:
    changed = (
        Condition("PodCliqueScheduled", ConditionStatus.TRUE, "R", "m", datetime(2026, 1, 1, tzinfo=UTC)),
        Condition("MinAvailableBreached", ConditionStatus.FALSE, "S", "n", datetime(2026, 1, 1, tzinfo=UTC)),
    )
    entries = [ConditionHistoryEntry(CLIQUE, condition, ConditionStatus.UNKNOWN) for condition in changed]
    assert line(*entries, verbose=True) == [
        "PodClique llm-0-a: PodCliqueScheduled=True (R): m",
        "PodClique llm-0-a: MinAvailableBreached=False (S): n",
    ]


def test_sm070_many_names_are_counted() -> None:
    many = [
        WriteHistoryEntry(
            WriteEffect.TERMINATED,
            Ref("x", "PodClique", "ml", f"c{n}"),
            because=(Sample.NUMBER.because(POD, number=n), Sample.LATE.because(POD)),
        )
        for n in range(9)
    ]
    entries = (SimulationHistoryEntry(0, SimulationActor.OPERATOR, content) for content in many)
    (found,) = timeline_lines_of_entries(entries, verbose=False)
    assert found.text == "TERMINATES c0, c1, c2, c3, c4, c5 and 3 more"
    assert found.below == ("0", "late")
    objects = [
        WriteHistoryEntry(WriteEffect.CREATED, Ref("x", kind, "ml", "n")) for kind in ("Role", "Secret", "Secret")
    ]
    assert line(*objects) == ["creates 1 Role, 2 Secrets"]


def test_cl011_the_document_has_the_whole_history() -> None:
    crash = {"at": "30s", "crashPod": {"clique": "llm-0-a", "recovers": "5m"}}
    found = run(crash, expect=[{"at": "end", "ready": 7}], check=False)
    document = json.loads(json.dumps(simulation_run_as_json(found)))
    assert document["formatVersion"] == "1.1"
    assert (
        document["notMet"] == [{"at": "1m37s", "says": "at the end: expected ready 7, found 2"}] or document["notMet"]
    )
    assert len(document["history"]) == len(found.history.entries)
    assert document["violation"] is None
    assert document["cliques"][0]["ready"] == 2
    assert any("replica" in (item["subject"] or {}) for item in document["history"])
    broken = Simulation(scenario(crash), checked(decide=terminates_at_once)).run()
    assert simulation_run_as_json(broken)["violation"]["code"] == "GT5"
    assert simulation_seeds_as_json(3, 1, {"b": 1, "a": 2}, 10, broken)["violation"]["seed"] == 12
    assert simulation_seeds_as_json(3, 1, {}, 0, None)["violation"] is None


def test_sm051_the_page_names_what_was_wrong() -> None:
    crash = {"at": "30s", "crashPod": {"clique": "llm-0-a", "recovers": "5m"}}
    page = simulation_timeline_page(run(crash, expect=[{"at": "end", "ready": 7}], check=False)).plain_text
    assert "0 of 1 expectation met" in page
    assert "NOT MET   at the end: expected ready 7, found 2" in page
    broken = Simulation(scenario(crash), checked(decide=terminates_at_once)).run()
    assert "VIOLATED  GT5 at " in simulation_timeline_page(broken).plain_text
    gone = run({"at": "1m", "deletePod": {"clique": "x"}}, manifest=set_raw(clique_raw("a", 1, 1), replicas=0))
    assert "no PodClique is left" in simulation_timeline_page(gone).plain_text


def test_sm010_a_picture_is_a_function_of_the_run(tmp_path: Path) -> None:
    group = ({"name": "g", "cliqueNames": ["b"], "replicas": 2, "minAvailable": 1},)
    manifest = set_raw(clique_raw("a", 2, 2), clique_raw("b", 1, 1), groups=group, replicas=2)
    events: tuple[Json, ...] = (
        {"at": "30s", "crashPod": {"clique": "llm-0-a", "recovers": "10m"}},
        {"at": "50s", "loseNode": {"node": "n-0"}},
        {"at": "55s", "relist": {}},
        {"at": "6m", "restoreNode": {"node": "n-0"}},
    )
    for name in ("one.svg", "two.svg", "one.png"):
        draw_simulation_chart(run(*events, manifest=manifest, nodes=12), str(tmp_path / name))
    one = (tmp_path / "one.svg").read_bytes()
    assert one == (tmp_path / "two.svg").read_bytes()
    for word in (b"llm-0-a", b"node n-0 is lost", b"terminated", b"breached, delay runs"):
        assert word in one
    assert (tmp_path / "one.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.req("PL-004")
def test_sm064_two_sets_of_one_name_in_two_namespaces(tmp_path: Path) -> None:
    """Each object has a uid of its own, and each lane of the picture its own marks."""
    raw = set_raw(clique_raw("a", 1, 1))
    sets = [{**raw, "metadata": {**raw["metadata"], "namespace": namespace}} for namespace in ("a", "b")]
    crash = {"at": "30s", "crashPod": {"clique": "a/llm-0-a", "recovers": "10m"}}
    found = run(crash, sets=sets, nodes=4)
    assert [standing.ready for standing in found.clique_states] == [1, 1]
    assert entries_of(found, WriteEffect.FAILED) == [], "neither takes what is the other's"
    draw_simulation_chart(found, str(tmp_path / "two.svg"))


def test_sm070_a_repeated_failure_is_shown_once() -> None:
    refused = {"at": "0s", "refuseWrites": {"code": 403, "kind": "Pod", "writes": 12}}
    found = run(refused, check=False)
    page = simulation_timeline_page(found).plain_text
    line = "1 write not done (Pod llm-0-a-"
    assert page.count(line) == 4
    assert page.count("5 more times, the last at ") == 2
    assert simulation_timeline_page(found, verbose=True).plain_text.count(line) == 12
