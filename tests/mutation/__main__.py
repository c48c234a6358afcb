"""Mutants of the core: ``python -m tests.mutation grove_core/kernel grove_core/plan``, all of it by default.

mutmut makes them in a copy of the checkout below ``.nox/mutants``, so nothing is changed here and work may go on.
`tests.mutation.judge` runs the tests that enter the function, wherever they are, the fastest first; mutants
that survive are put to mypy. A run goes on where it was stopped: a mutant keeps its verdict until its function changes.
``--share 10`` judges a tenth, always the same one; ``--again`` puts survivors to the tests once more, for where
the tests have become better; ``--list`` runs nothing and shows what was found so far.
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from tests.mutation.judge import ASKED, KILLED, NO_TESTS, SURVIVED, TIMEOUT, function_of
from tests.mutation.profile import NAME
from tests.mutation.typed import found_by_types

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
TESTS: Final = (
    "tests/property",
    "tests/golden",
    "tests/vectors",
    "tests/snapshots",
    "tests/webhooks",
    "tests/command_line",
    "--ignore=tests/property/test_core_is_pure.py",  # mutmut's own imports are impure
    "--ignore=tests/property/test_lazy_exports.py",  # as above
    "--ignore=tests/property/test_switched_off_checks.py",  # of the source, not of what it does
    "--ignore=tests/property/workload/test_package_docstring.py",  # as above
    "--ignore=tests/golden/test_trace.py",  # of sentences
    "--ignore=tests/golden/test_reasons.py",  # as above
    "--ignore=tests/property/convergence",  # of the simulator
    "--ignore=tests/golden/test_convergence.py",  # as above
    "--ignore=tests/golden/test_simulation.py",  # as above
    "--ignore=tests/command_line/test_converge.py",  # other processes, whose calls are not recorded
    "--ignore=tests/command_line/test_long_pages.py",  # as above
    "--ignore=tests/command_line/test_process.py",  # as above
    "--ignore=tests/command_line/test_simulate.py",  # as above
)
"""What mutants are held against: all laws, stories and vectors, and what the shells say with the core."""

TYPES: Final = "types"
DEAD: Final = (KILLED, TIMEOUT, TYPES)
SEEN: Final = (*DEAD, SURVIVED, NO_TESTS)
UNSEEN: Final = "not judged"


def main(arguments: Sequence[str] | None = None) -> int:
    """Judge what was asked for; 1 if any mutant of it is not dead, else 0."""
    options = _parser().parse_args(arguments)
    if not options.list:
        follow(WORK)
        _python("tests.mutation.generate", cwd=WORK)
    asked = [name for name in mutants(WORK) if _is_asked(name, options.parts, options.share)]
    known = verdicts(WORK)
    if not options.list:
        due = [name for name in asked if known.get(name, SURVIVED) in {SURVIVED, NO_TESTS}]
        _judge([name for name in due if options.again or name not in known], options)
        known = verdicts(WORK)
        _ask_mypy([name for name in asked if known.get(name) == SURVIVED])
        known = verdicts(WORK)
    for name in asked:
        if known.get(name) in {SURVIVED, NO_TESTS}:
            subprocess.run([_mutmut(), "show", name], cwd=WORK, check=False)
    _say(f"\n| part | mutants | {' | '.join((*SEEN, UNSEEN))} | percent of the judged |")
    _say("|---" * (len(SEEN) + 4) + "|")
    alive = 0
    for part in options.parts:
        counts = Counter(known.get(name, UNSEEN) for name in asked if _is_in(name, part))
        judged, dead = counts.total() - counts[UNSEEN], sum(counts[verdict] for verdict in DEAD)
        numbers = " | ".join(str(counts[verdict]) for verdict in (*SEEN, UNSEEN))
        _say(f"| `{part}` | {counts.total()} | {numbers} | {100 * dead / max(1, judged):.1f} |")
        alive += counts.total() - dead
    return int(alive > 0)


def follow(place: Path) -> None:
    """Make the copy what the checkout is, and leave alone what did not change: a newer file is mutated anew."""
    wanted = {path.relative_to(ROOT) for path in _files(ROOT)}
    for path in wanted:
        _put(place / path, (ROOT / path).read_bytes())
    for copy in (place, place / "mutants"):
        for path in list(_files(copy)):
            of = path.with_suffix("") if path.suffix in {".meta", ".spans"} else path  # what mutmut notes of a module
            if of.relative_to(copy) not in wanted:
                path.unlink()


def mutants(place: Path) -> Iterator[str]:
    """The names of all that were made."""
    for _, names in _made(place):
        yield from names


def verdicts(place: Path) -> Mapping[str, str]:
    """What became of each mutant that was judged, as long as its function is what it was then."""
    hashes = {name: one for of, names in _made(place) for name in names if (one := of.get(function_of(name)))}
    path = place / "verdicts.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    return {name: verdict for name, verdict, at in map(json.loads, lines) if hashes.get(name) == at}


def _made(place: Path) -> Iterator[tuple[Mapping[str, str], Iterable[str]]]:
    """Of each module: function -> its hash, and the names of its mutants."""
    for path in sorted(place.glob("mutants/grove_core/**/*.meta")):
        meta = json.loads(path.read_text(encoding="utf-8"))
        names = meta["exit_code_by_key"]
        module = next((name.rpartition(".")[0] for name in names), "")
        yield {f"{module}.{function}": one for function, one in meta["hash_by_function_name"].items()}, names


def _judge(names: Sequence[str], options: argparse.Namespace) -> None:
    """Let the plugin judge; where the calls of the tests are unknown, it records them first."""
    hashes = _hashes()
    reported, reach = WORK / "asked.json", WORK / f"reach-{_digest()}.json"
    for older in set(WORK.glob("reach*.json")) - {reach}:
        older.unlink()
    paths = {"reach": str(reach), "verdicts": str(WORK / "verdicts.jsonl")}
    asked = {**paths, "names": [[name, hashes[name]] for name in names]}
    reported.write_text(json.dumps({**asked, "jobs": options.jobs, "seconds": options.seconds}), encoding="utf-8")
    plugins = ("-p", "tests.mutation.profile", "-p", "tests.mutation.judge")
    quiet = ("-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:benchmark")
    environment = {ASKED: str(reported), "HYPOTHESIS_PROFILE": NAME}
    rounds = [] if reach.is_file() else ["which tests enter which function"]
    for doing in [*rounds, f"{len(names)} mutants"] if names else []:
        _say(f"{doing}: verdicts go to {WORK / 'verdicts.jsonl'}")
        _python("pytest", *quiet, *plugins, *TESTS, cwd=WORK / "mutants", environment=environment)


def _ask_mypy(names: Sequence[str]) -> None:
    """Of those that lived through the tests."""
    if names:
        _say(f"{len(names)} mutants are put to mypy")
        found, hashes = found_by_types(WORK / "mutants" / "grove_core", names, ROOT / "pyproject.toml"), _hashes()
        with (WORK / "verdicts.jsonl").open("a", encoding="utf-8") as out:
            out.writelines(json.dumps([name, TYPES, hashes[name]]) + "\n" for name in sorted(found))


def _hashes() -> Mapping[str, str]:
    """Of the function of each mutant."""
    return {name: of[function_of(name)] for of, made in _made(WORK) for name in made}


def _digest() -> str:
    """Of all code and tests: which tests enter what may be something else as soon as any of them changes."""
    whole = hashlib.sha256()
    of_its_own = Path(__file__).parent
    for path in sorted(path for path in _files(ROOT) if path.suffix == ".py" and of_its_own not in path.parents):
        whole.update(str(path.relative_to(ROOT)).encode() + path.read_bytes())
    return whole.hexdigest()[:16]


def _is_asked(name: str, parts: Iterable[str], share: int) -> bool:
    number = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big")
    return number % 100 < share and any(_is_in(name, part) for part in parts)


def _is_in(name: str, part: str) -> bool:
    return name.startswith(part.strip("/").removesuffix(".py").replace("/", ".") + ".")


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


def _python(module: str, *words: str, cwd: Path, environment: Mapping[str, str] | None = None) -> None:
    command = [sys.executable, "-m", module, *words]
    with (WORK / "log.txt").open("a", encoding="utf-8") as log:
        subprocess.run(command, cwd=cwd, env={**os.environ, **(environment or {})}, stdout=log, stderr=log, check=False)


def _say(line: str) -> None:
    print(line, flush=True)  # noqa: T201 - a command that prints


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("parts", nargs="*", default=["grove_core"], metavar="PART", help="a package or module of it")
    parser.add_argument("--list", action="store_true", help="run nothing; show what was found so far")
    parser.add_argument("--again", action="store_true", help="put survivors to the tests once more")
    parser.add_argument("--share", type=int, default=100, metavar="PERCENT", help="judge so many, drawn by their names")
    parser.add_argument("--seconds", type=float, default=60, help="the tests that one mutant may take; 60 by default")
    parser.add_argument("-j", dest="jobs", type=int, default=1, help="how many processes; one by default")
    return parser


if __name__ == "__main__":
    sys.exit(main())
