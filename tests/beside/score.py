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
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from grove_shell.cli.main import run_command_line
from tests.beside.operator_writes import CHANGED, Key, Times, happened, shown
from tests.beside.replayed_scenario import scenario_of
from tests.cluster.api import Json

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
_ALL: Final = frozenset(_PLAN_VERBS.values())
_TOTALS: Final = {"all": _ALL, "creations and deletions": frozenset({"create", "delete"})}


@dataclass(slots=True)
class Score:
    """What was predicted and what happened, counted by object."""

    both: Counter[Key] = field(default_factory=Counter)
    only_predicted: Counter[Key] = field(default_factory=Counter)
    only_happened: Counter[Key] = field(default_factory=Counter)
    late: list[tuple[Key, float, float]] = field(default_factory=list)
    said: str = ""

    def of_verbs(self, verbs: AbstractSet[str]) -> "Score":
        """Return the part that is about these verbs."""
        both, only_predicted, only_happened = (
            Counter({key: count for key, count in part.items() if key[0] in verbs})
            for part in (self.both, self.only_predicted, self.only_happened)
        )
        return Score(both, only_predicted, only_happened, [one for one in self.late if one[0][0] in verbs])

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
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(scenario_of(folder, about), file)
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
    rows = [["situation", "by", *heads]]
    totals = {(of, by): Counter[int]() for of in _TOTALS for by in ("plan", "simulate", "either")}
    details: list[str] = []
    for folder in sorted(path.parent for path in out.glob("*/about.json")):
        if wanted and not folder.name.startswith(tuple(wanted)):
            continue
        found = scores_of(folder)
        for by, score in zip(("plan", "simulate", "either"), (*found, either(*found)), strict=True):
            rows += [[folder.name, by, *score.cells()]] if by != "either" else []
            for of, verbs in _TOTALS.items():
                counts = score.of_verbs(verbs).cells()[:4]
                totals[of, by].update({number: int(cell) for number, cell in enumerate(counts)})
            details += [f"{folder.name}, {by}", *_details(score)] if verbose and by != "either" else []
    rows += [[of, by, *(str(count[number]) for number in range(4)), ""] for (of, by), count in totals.items()]
    sys.stdout.write("\n".join([*details, _table(rows)]) + "\n")


if __name__ == "__main__":
    _words = [word for word in sys.argv[1:] if word != "-v"]
    main(Path(_words[0]), _words[1:], verbose="-v" in sys.argv)
