"""A simulation as a document: versioned, with everything that happened."""

from collections.abc import Mapping
from typing import Any, Final

from grove_core.document.writing import rules_source_as_json
from grove_core.kernel.refs import Ref
from grove_core.kernel.times import format_time
from grove_core.version import VERSION
from grove_shell.simulator.recording.history import HistoryEntry
from grove_shell.simulator.simulation import Run
from grove_shell.simulator.virtual_time import span_text, time_at

FORMAT_VERSION: Final = "1.1"


def run_as_json(run: Run) -> dict[str, Any]:
    """One run."""
    start = run.scenario.spec.start
    return {
        "formatVersion": FORMAT_VERSION,
        "coreVersion": VERSION,
        "scenario": run.scenario.metadata.name,
        "rules": run.rules,
        **({} if run.rules_from is None else {"rulesFrom": rules_source_as_json(run.rules_from)}),
        "notPredicted": [{"set": _subject(root), "says": list(said)} for root, said in run.unpredicted.items()],
        "start": format_time(start),
        "end": format_time(time_at(start, run.end)),
        "rested": run.rested,
        "summary": {
            "rounds": run.rounds,
            "writes": run.writes,
            "terminations": run.history.terminations,
            "refused": run.history.refused,
            "withoutEffect": run.history.without_effect,
            "expected": run.expected,
        },
        "notMet": [{"at": span_text(miss.at), "says": miss.message} for miss in run.unmet],
        "violation": _violation(run),
        "cliques": [
            {
                "namespace": standing.namespace,
                "name": standing.name,
                "replicas": standing.replicas,
                "minAvailable": standing.needed,
                "pods": standing.pods,
                "placed": standing.placed,
                "ready": standing.ready,
            }
            for standing in run.clique_states
        ],
        "history": [_happening(run, happening) for happening in run.history.entries],
    }


def worlds_as_json(
    played: int, terminations: int, kinds: Mapping[str, int], first: int, broken: Run | None
) -> dict[str, Any]:
    """Many runs, in numbers; and the one that broke a promise."""
    return {
        "formatVersion": FORMAT_VERSION,
        "coreVersion": VERSION,
        "summary": {"worlds": played, "violations": int(broken is not None), "terminations": terminations},
        "worldsByEvent": dict(sorted(kinds.items())),
        "violation": None if broken is None else {"seed": first + played - 1, **(_violation(broken) or {})},
    }


def _violation(run: Run) -> dict[str, Any] | None:
    found = run.violation
    if found is None:
        return None
    return {"code": found.code, "at": span_text(found.at), "objects": list(found.objects), "says": found.message}


def _happening(run: Run, happening: HistoryEntry) -> dict[str, Any]:
    return {
        "at": format_time(time_at(run.scenario.spec.start, happening.at)),
        "actor": happening.actor.value,
        "what": happening.kind.value,
        "subject": _subject(happening.subject),
        "clique": happening.clique,
        "detail": happening.detail,
        "because": list(happening.because),
    }


def _subject(ref: Ref | None) -> dict[str, Any] | None:
    if ref is None:
        return None
    found: dict[str, Any] = {"kind": ref.kind, "namespace": ref.namespace, "name": ref.name}
    return found if ref.replica is None else {**found, "replica": ref.replica}
