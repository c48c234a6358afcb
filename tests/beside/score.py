"""``python -m tests.beside.score FOLDER [NAME...] [-v]``: how much of what the Go operator did was predicted.

Reads recordings alone. For each one ``grove plan --until`` and ``grove simulate`` are asked about the state after the
edit, and compared with what the operator then wrote, object by object.
"""

import contextlib
import io
import json
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from grove_shell.cli.main import run_command_line
from tests.beside.audit import OPERATOR
from tests.cluster.api import Json

Key = tuple[str, str, str]
Times = dict[Key, list[float]]

CHANGED: Final = frozenset({"PodClique", "PodCliqueScalingGroup"})
TOLERANCE: Final = 2.0
_PLAN_VERBS: Final = {
    "create": "create",
    "ensure": "create",
    "delete": "delete",
    "apply": "patch",
    "dropFinalizer": "release",
}
_SIMULATED_VERBS: Final = {
    "creates": "create",
    "deletes": "delete",
    "terminates": "delete",
    "applies": "patch",
    "changes": "patch",
    "lets go": "release",
}
_MARGIN: Final = 5


@dataclass(slots=True)
class Score:
    """What was predicted and what happened, counted by object."""

    both: Counter[Key] = field(default_factory=Counter)
    only_predicted: Counter[Key] = field(default_factory=Counter)
    only_happened: Counter[Key] = field(default_factory=Counter)
    late: list[tuple[Key, float, float]] = field(default_factory=list)
    said: str = ""

    def cells(self) -> list[str]:
        parts = (self.both, self.only_predicted, self.only_happened)
        return [*(str(part.total()) for part in parts), str(len(self.late)), self.said]


def compared(predicted: Times, happened: Times) -> Score:
    """Pair what has the same verb, kind and name, in the order of time."""
    score = Score()
    for key in sorted({*predicted, *happened}):
        ours, theirs = sorted(predicted.get(key, ())), sorted(happened.get(key, ()))
        same = min(len(ours), len(theirs))
        score.both[key] += same
        score.only_predicted[key] += len(ours) - same
        score.only_happened[key] += len(theirs) - same
        pairs = zip(ours, theirs, strict=False)
        score.late += [(key, mine, other) for mine, other in pairs if abs(mine - other) > TOLERANCE]
    return score


def shown(kind: str, name: str) -> tuple[str, str]:
    """Kind and name; of a pod the name of its clique, because the rest is chance."""
    return kind, name.rpartition("-")[0] if kind == "Pod" else name


def happened(events: Iterable[Json]) -> Times:
    """What the operator wrote from the moment it went on: creations, deletions, patches, finalizers dropped.

    A second deletion of the same object does not count.
    """
    found: Times = defaultdict(list)
    dying: set[tuple[str, str]] = set()
    for event in events:
        if event["t"] < 0 or event["user"] != OPERATOR or event["code"] >= 300 or "subresource" in event:
            continue
        kind, verb = event["kind"], event["verb"]
        if verb == "create":
            dying.discard((kind, event["name"]))
            found["create", *shown(kind, event["name"])].append(event["t"])
        elif verb in {"delete", "deletecollection"}:
            names = event["items"] if verb == "deletecollection" else [event["name"]]
            for name in names:
                if (kind, name) not in dying:
                    dying.add((kind, name))
                    found["delete", *shown(kind, name)].append(event["t"])
        elif verb == "patch" and _drops_finalizers(event):
            found["release", kind, event["name"]].append(event["t"])
        elif kind in CHANGED and _changes_fields(event) and not found.get(("patch", kind, event["name"])):
            found["patch", kind, event["name"]].append(event["t"])
    return found


def _drops_finalizers(event: Json) -> bool:
    metadata = event.get("body", {}).get("metadata", {})
    return "finalizers" in metadata and not metadata["finalizers"]


def _changes_fields(event: Json) -> bool:
    body = event.get("body", {})
    return "spec" in body or bool({"labels", "annotations"} & body.get("metadata", {}).keys())


def planned(folder: Path, about: Json) -> tuple[Times, str]:
    """What ``grove plan`` says, by seconds since its time, and what it says it does not know."""
    words = ["plan", "-f", str(folder / "edited.json"), "--rules", "field", "-o", "json"]
    code, text, error = _grove(*words, "--until", f"{_seconds(about)}s", "--detailed-exitcode")
    if not text.startswith("{"):
        return {}, _failed(code, error)
    document = json.loads(text)
    since = datetime.fromisoformat(document["asOf"])
    found: Times = defaultdict(list)
    for plan in document["plans"]:
        for one in plan["rounds"]:
            at = (datetime.fromisoformat(one["at"]) - since).total_seconds()
            for step in one["steps"]:
                verb, target = _PLAN_VERBS.get(step["action"]), step["target"]
                if verb and (verb != "patch" or target["kind"] in CHANGED):
                    _add(found, verb, target["kind"], target["name"], at)
    return found, _doubts(document)


def simulated(folder: Path, about: Json) -> tuple[Times, str]:
    """What ``grove simulate`` plays from the same state."""
    metadata = {"name": "beside"}
    spec = {"cluster": str((folder / "edited.json").absolute()), **about["scenario"]}
    scenario = {"apiVersion": "grove.io/v1alpha1", "kind": "Scenario", "metadata": metadata, "spec": spec}
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(scenario, file)
        file.flush()
        words = ("simulate", file.name, "--rules", "field", "-o", "json", "--until", f"{_seconds(about)}s")
        code, text, error = _grove(*words)
    if not text.startswith("{"):
        return {}, _failed(code, error)
    document = json.loads(text)
    since = datetime.fromisoformat(document["start"])
    found: Times = defaultdict(list)
    for entry in document["history"]:
        verb, target = _SIMULATED_VERBS.get(entry["what"]), entry["subject"]
        is_note = verb == "patch" and entry["detail"]  # that an update begins, or is complete
        if verb and not is_note and entry["actor"] == "operator" and (verb != "patch" or target["kind"] in CHANGED):
            at = (datetime.fromisoformat(entry["at"]) - since).total_seconds()
            _add(found, verb, target["kind"], target["name"], at)
    return found, _doubts(document)


def _add(found: Times, verb: str, kind: str, name: str, at: float) -> None:
    """Add one; a patch of an object counts once."""
    key = (verb, *shown(kind, name))
    if verb != "patch" or key not in found:
        found[key].append(at)


def _failed(code: int, error: str) -> str:
    return f"exit {code}: {' '.join(error.split())[:70]}"


def _doubts(document: Json) -> str:
    return "says it does not predict" if document.get("notPredicted") else ""


def _seconds(about: Json) -> int:
    return int(about["seconds"]) + _MARGIN


def _grove(*words: str) -> tuple[int, str, str]:
    """Run a command of ours in this process."""
    out, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        code = run_command_line(words, "grove")
    return code, out.getvalue(), errors.getvalue()


def either(first: Score, second: Score) -> Score:
    """What at least one of two predictions named."""
    score = Score()
    done = first.both + first.only_happened
    score.both = first.both | second.both
    score.only_happened = done - score.both
    score.only_predicted = first.only_predicted & second.only_predicted
    also = {(key, at) for key, _, at in second.late}
    score.late = [each for each in first.late if (each[0], each[2]) in also]
    return score


def scores_of(folder: Path) -> tuple[Score, Score]:
    """Of a plan, and of a simulation."""
    about = json.loads((folder / "about.json").read_text(encoding="utf-8"))
    done = happened(json.loads((folder / "audit.json").read_text(encoding="utf-8")))
    found = []
    for ask in (planned, simulated):
        times, said = ask(folder, about)
        score = compared(times, done)
        score.said = said
        found.append(score)
    return found[0], found[1]


def _table(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)


def _details(score: Score) -> list[str]:
    parts: Any = {"both": score.both, "only predicted": score.only_predicted, "only happened": score.only_happened}
    lines = [
        f"    {title:14}  {count} x {' '.join(key)}"
        for title, counted in parts.items()
        for key, count in sorted(counted.items())
        if count and title != "both"
    ]
    return lines + [
        f"    off by time     {' '.join(key)}: {ours:.1f} s, was {his:.1f} s" for key, ours, his in score.late
    ]


def main(out: Path, wanted: Sequence[str], *, verbose: bool) -> None:
    """Print the table, and with ``-v`` what differs."""
    heads = ["both", "only predicted", "only happened", "> 2 s off", "remark"]
    rows, totals = [["situation", "by", *heads]], {by: Counter[int]() for by in ("plan", "simulate", "either")}
    details: list[str] = []
    for folder in sorted(path.parent for path in out.glob("*/about.json")):
        if wanted and not folder.name.startswith(tuple(wanted)):
            continue
        found = scores_of(folder)
        for by, score in zip(totals, (*found, either(*found)), strict=True):
            cells = score.cells()
            rows += [[folder.name, by, *cells]] if by != "either" else []
            totals[by].update({number: int(cell) for number, cell in enumerate(cells[:4])})
            details += [f"{folder.name}, {by}", *_details(score)] if verbose and by != "either" else []
    rows += [["all", by, *(str(count[number]) for number in range(4)), ""] for by, count in totals.items()]
    sys.stdout.write("\n".join([*details, _table(rows)]) + "\n")


if __name__ == "__main__":
    _words = [word for word in sys.argv[1:] if word != "-v"]
    main(Path(_words[0]), _words[1:], verbose="-v" in sys.argv)
