"""Mutants of a part of the core: ``python -m tests.mutation grove_core/kernel grove_core/plan/toll.py``.

For each part there is a copy of the checkout below ``.nox/mutants`` in which mutmut works, so nothing is changed here
and other work may go on. A run that was stopped goes on where it was: a mutant that has a verdict keeps it until its
function changes. ``--again`` puts those that lived to the tests once more, for where only the tests have become better;
``--list`` runs nothing and shows what was found so far.

Rule for this file: a part is held against the tests of its own place alone. What only a test far away would notice
counts as alive.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final

from tests.mutation.profile import NAME

ROOT: Final = Path(__file__).parents[2]
WORK: Final = ROOT / ".nox" / "mutants"
COPIED: Final = (
    "grove_core",
    "grove_shell",
    "tests",
    "specs",
    "examples",
    "benchmarks",
    "deploy",
    "README.md",
    "CHANGELOG.md",
    "noxfile.py",
    "pyproject.toml",
)
NEAR: Final = MappingProxyType(
    {
        "grove_core/kernel": ("tests/property/kernel",),
        "grove_core/plan": (
            "tests/property/plan",
            "tests/property/test_act.py",
            "tests/property/test_plan_laws.py",
            "tests/property/test_recurrence.py",
            "tests/property/test_staleness.py",
            "tests/property/test_tolls.py",
        ),
        "grove_core/areas/gang_termination": (
            "tests/property/gang_termination",
            "tests/property/gang_termination_field",
            "tests/golden/test_golden.py",
        ),
    }
)
"""The tests of a place; those of any other are all laws and stories (``FAR``)."""

FAR: Final = (
    "tests/property",
    "tests/golden/test_golden.py",
    "--ignore=tests/property/test_core_is_pure.py",  # mutmut's own imports are impure
    "--ignore=tests/property/convergence",  # of the simulator
)
HEADER: Final = "[tool.mutmut]\n"
ALIVE: Final = ("survived", "no tests", "suspicious")
COUNTED: Final = ("killed", "timeout", *ALIVE, "not checked")
_VERDICTS: Final = MappingProxyType(
    {None: "not checked", 0: "survived", 1: "killed", 3: "killed", 5: "no tests", 33: "no tests"}
)
_OUT_OF_TIME: Final = frozenset({-24, 24, 36, 152, 255})


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the parts that were asked for, one after the other; 1 if any mutant is not dead, else 0."""
    options = _parser().parse_args(arguments)
    rows: list[tuple[str, Counter[str]]] = []
    for part in (given.strip("/") for given in options.parts):
        place = WORK / part.removesuffix(".py").replace("/", ".")
        if not options.list:
            follow(place, part)
            _run(place, options.jobs)
            living = _those(place, *ALIVE) if options.again else []
            if living:
                _run(place, options.jobs, *living)
        for name in _those(place, *ALIVE):
            subprocess.run([_mutmut(), "show", name], cwd=place, check=False)
        rows.append((part, Counter(verdict for _, verdict in verdicts(place))))
    _say(f"\n| part | mutants | {' | '.join(COUNTED)} | percent |")
    _say("|---" * (len(COUNTED) + 3) + "|")
    for part, counts in rows:
        numbers = " | ".join(str(counts[verdict]) for verdict in COUNTED)
        _say(f"| {part} | {counts.total()} | {numbers} | {100 * _dead(counts) / max(1, counts.total()):.1f} |")
    return int(any(_dead(counts) < counts.total() for _, counts in rows))


def follow(place: Path, part: str) -> None:
    """Make the copy what the checkout is, and leave alone what did not change: a newer file is mutated anew."""
    wanted = {path.relative_to(ROOT) for path in _files(ROOT)}
    for path in wanted - {Path("pyproject.toml")}:
        _put(place / path, (ROOT / path).read_bytes())
    chosen = json.dumps([part if part.endswith(".py") else f"{part}/*"])
    tests = json.dumps(near(part))
    added = f"{HEADER}only_mutate = {chosen}\npytest_add_cli_args_test_selection = {tests}\n"
    settings = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    _put(place / "pyproject.toml", settings.replace(HEADER, added).encode())
    for copy in (place, place / "mutants"):
        for path in list(_files(copy)):
            if path.suffix not in {".meta", ".spans"} and path.relative_to(copy) not in wanted:
                path.unlink()


def near(part: str) -> Sequence[str]:
    """The tests that a part is held against."""
    return next((tests for place, tests in NEAR.items() if f"{part}/".startswith(f"{place}/")), FAR)


def verdicts(place: Path) -> Iterator[tuple[str, str]]:
    """Each mutant of a copy, and what became of it."""
    for path in sorted(place.glob("mutants/grove_core/**/*.meta")):
        for name, code in json.loads(path.read_text(encoding="utf-8"))["exit_code_by_key"].items():
            yield name, "timeout" if code in _OUT_OF_TIME else _VERDICTS.get(code, "suspicious")


def _those(place: Path, *wanted: str) -> list[str]:
    return [name for name, verdict in verdicts(place) if verdict in wanted]


def _dead(counts: Counter[str]) -> int:
    return counts["killed"] + counts["timeout"]


def _files(top: Path) -> Iterator[Path]:
    for name in COPIED:
        for path in (top / name, *(top / name).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                yield path


def _put(path: Path, content: bytes) -> None:
    if not path.is_file() or path.read_bytes() != content:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def _mutmut() -> str:
    return shutil.which("mutmut", path=str(Path(sys.executable).parent)) or "mutmut"


def _run(place: Path, jobs: int, *mutants: str) -> None:
    """Let mutmut go on, or judge these mutants anew. It draws its progress, which goes into a file of its own."""
    command = [_mutmut(), "run", "--max-children", str(jobs), *mutants]
    with (place / "mutmut.log").open("w", encoding="utf-8") as log:
        _say(f"{place.name}: its progress is in {log.name}")
        subprocess.run(command, cwd=place, env={**os.environ, "HYPOTHESIS_PROFILE": NAME}, stdout=log, check=False)


def _say(line: str) -> None:
    print(line, flush=True)  # noqa: T201 - a command that tells


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("parts", nargs="+", metavar="PART", help="a package or module, e.g. grove_core/kernel")
    parser.add_argument("--list", action="store_true", help="run nothing; show what was found so far")
    parser.add_argument("--again", action="store_true", help="put those that lived to the tests once more")
    parser.add_argument("-j", dest="jobs", type=int, default=1, help="how many processes; one by default")
    return parser


if __name__ == "__main__":
    sys.exit(main())
