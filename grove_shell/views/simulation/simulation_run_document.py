"""A simulation as a versioned JSON document with its whole history (CL-011)."""

from collections.abc import Mapping
from typing import Any, Final, assert_never

from grove_core.document.document_writing import rule_set_source_as_json
from grove_core.kernel.refs import Ref
from grove_core.kernel.time_formats import format_time
from grove_core.version import VERSION
from grove_shell.simulator.recording.simulation_history import (
    BreachWaitHistoryEntry,
    ConditionHistoryEntry,
    EntryContent,
    NoteHistoryEntry,
    PodHistoryEntry,
    RefusedApplyHistoryEntry,
    SimulationHistoryEntry,
    UnplacedGangHistoryEntry,
    WriteHistoryEntry,
)
from grove_shell.simulator.simulation_run import SimulationResult
from grove_shell.simulator.virtual_time import datetime_of_virtual_time, go_duration_text
from grove_shell.views.simulation.history_lines import condition_text, joined_reason_sentences, reason_sentences

FORMAT_VERSION: Final = "1.1"


def simulation_run_as_json(run: SimulationResult) -> dict[str, Any]:
    """Return the document of one run."""
    start = run.scenario.spec.start
    return {
        "formatVersion": FORMAT_VERSION,
        "coreVersion": VERSION,
        "scenario": run.scenario.metadata.name,
        "rules": run.rules,
        **({} if run.rules_from is None else {"rulesFrom": rule_set_source_as_json(run.rules_from)}),
        "notPredicted": [
            {"set": _subject(root), "says": list(sentences)} for root, sentences in run.unpredicted.items()
        ],
        "unreadyAtStart": {
            "pods": run.unready_at_start,
            "readyAfter": None
            if (recovers := run.scenario.spec.kubelet.recovers) is None
            else go_duration_text(recovers),
        },
        "start": format_time(start),
        "end": format_time(datetime_of_virtual_time(start, run.end)),
        "rested": run.rested,
        "summary": {
            "rounds": run.rounds,
            "writes": run.writes,
            "terminations": run.history.terminations,
            "refused": run.history.refused,
            "withoutEffect": run.history.without_effect,
            "expected": run.expected,
        },
        "notMet": [{"at": go_duration_text(unmet.at), "says": unmet.message} for unmet in run.unmet],
        "violation": _violation(run),
        "cliques": [
            {
                "namespace": state.namespace,
                "name": state.name,
                "replicas": state.replicas,
                "minAvailable": state.needed,
                "pods": state.pods,
                "placed": state.placed,
                "ready": state.ready,
            }
            for state in run.clique_states
        ],
        "history": [_entry(run, entry) for entry in run.history.entries],
    }


def simulation_seeds_as_json(
    count: int, terminations: int, events: Mapping[str, int], first: int, broken: SimulationResult | None
) -> dict[str, Any]:
    """Return the document of the runs of ``--seeds``.

    Args:
        events: kind of event -> number of runs that had one.
    """
    return {
        "formatVersion": FORMAT_VERSION,
        "coreVersion": VERSION,
        "summary": {"worlds": count, "violations": int(broken is not None), "terminations": terminations},
        "worldsByEvent": dict(sorted(events.items())),
        "violation": None if broken is None else {"seed": first + count - 1, **(_violation(broken) or {})},
    }


def _violation(run: SimulationResult) -> dict[str, Any] | None:
    found = run.violation
    if found is None:
        return None
    return {"code": found.code, "at": go_duration_text(found.at), "objects": list(found.objects), "says": found.message}


def _entry(run: SimulationResult, entry: SimulationHistoryEntry) -> dict[str, Any]:
    what, clique, detail, because = history_entry_fields(entry.content)
    return {
        "at": format_time(datetime_of_virtual_time(run.scenario.spec.start, entry.at)),
        "actor": entry.actor.value,
        "what": what,
        "subject": _subject(entry.content.subject),
        "clique": clique,
        "detail": detail,
        "because": list(because),
    }


def history_entry_fields(content: EntryContent) -> tuple[str, str, str, tuple[str, ...]]:
    """Return the fields ``what``, ``clique``, ``detail`` and ``because`` of an entry."""
    match content:
        case PodHistoryEntry():
            return content.what.value, content.clique, content.why or content.node, ()
        case WriteHistoryEntry():
            return content.what.value, content.clique, content.error, reason_sentences(content.because)
        case RefusedApplyHistoryEntry():
            return "is refused", "", f"{content.kind} {content.name}", tuple(map(str, content.objections))
        case ConditionHistoryEntry(condition=now, before=before):
            because = (now.reason, now.message, "" if before is None else before.value)
            return "condition", "", condition_text(content), because
        case BreachWaitHistoryEntry():
            return "waits", "", "", (joined_reason_sentences(content.because),)
        case UnplacedGangHistoryEntry():
            return "cannot place", "", str(content.pods), (content.why,)
        case NoteHistoryEntry():
            return content.what.value, "", content.text, ()
        case _:
            assert_never(content)


def _subject(ref: Ref | None) -> dict[str, Any] | None:
    if ref is None:
        return None
    found: dict[str, Any] = {"kind": ref.kind, "namespace": ref.namespace, "name": ref.name}
    return found if ref.replica is None else {**found, "replica": ref.replica}
