"""A simulation as a versioned JSON document with its whole history (SM-071)."""

from collections.abc import Mapping
from typing import Any, Final

from grove_core.document.document_writing import rules_source_as_json
from grove_core.kernel.refs import Ref
from grove_core.kernel.time_formats import format_time
from grove_core.version import VERSION
from grove_shell.simulator.recording.run_history import HistoryEntry
from grove_shell.simulator.simulation import SimulationRun
from grove_shell.simulator.virtual_time import clock_time_at, go_duration_text

FORMAT_VERSION: Final = "1.1"


def simulation_run_as_json(run: SimulationRun) -> dict[str, Any]:
    """Return the document of one run."""
    start = run.scenario.spec.start
    return {
        "formatVersion": FORMAT_VERSION,
        "coreVersion": VERSION,
        "scenario": run.scenario.metadata.name,
        "rules": run.rules,
        **({} if run.rules_from is None else {"rulesFrom": rules_source_as_json(run.rules_from)}),
        "notPredicted": [
            {"set": _subject(root), "says": list(sentences)} for root, sentences in run.unpredicted.items()
        ],
        "start": format_time(start),
        "end": format_time(clock_time_at(start, run.end)),
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
    count: int, terminations: int, events: Mapping[str, int], first: int, broken: SimulationRun | None
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


def _violation(run: SimulationRun) -> dict[str, Any] | None:
    found = run.violation
    if found is None:
        return None
    return {"code": found.code, "at": go_duration_text(found.at), "objects": list(found.objects), "says": found.message}


def _entry(run: SimulationRun, entry: HistoryEntry) -> dict[str, Any]:
    return {
        "at": format_time(clock_time_at(run.scenario.spec.start, entry.at)),
        "actor": entry.actor.value,
        "what": entry.kind.value,
        "subject": _subject(entry.subject),
        "clique": entry.clique,
        "detail": entry.detail,
        "because": list(entry.because),
    }


def _subject(ref: Ref | None) -> dict[str, Any] | None:
    if ref is None:
        return None
    found: dict[str, Any] = {"kind": ref.kind, "namespace": ref.namespace, "name": ref.name}
    return found if ref.replica is None else {**found, "replica": ref.replica}
