"""``grove_core.testing`` from an installed wheel, outside the repository: it finds the known mistakes (LT-007).

``python -m tests.packaging.test_testing_package`` runs all 28 here and prints how long each takes.
"""

import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

import pytest

from tests.packaging.building import ROOT, run

GUIDE: Final = (ROOT / "docs/how-to/test-your-own-controller.md").read_text(encoding="utf-8")
EXAMPLES: Final = re.findall(r"```python[^\n]*\n(.*?)```", GUIDE, re.DOTALL)
NEEDED: Final = (
    "tests/__init__.py",
    "tests/property/__init__.py",
    "tests/property/gang_termination/__init__.py",
    "tests/property/gang_termination/hand_mutants.py",
    "tests/property/gang_termination/mutants.py",
    "tests/simulation/__init__.py",
    "tests/simulation/mutants.py",
)
SOME: Final = (
    "was_available_only_in_memory",
    "transition_time_rewritten",
    "delay_ignored",
    "group_breach_not_passed_on",
    "never_wakes",
    "terminates_incompletely",
    "forgets_availability",
    "what_was_not_collected_is_zero",
    "cause_goes_first",
    "no_delay_is_a_minute",
)
"""Found within seconds; ``main`` runs all."""
FEW_EXAMPLES: Final = """
from hypothesis import settings

settings.register_profile("few", max_examples=20, deadline=None)
settings.load_profile("few")
"""
"""Whether the text runs does not depend on their number."""
JUDGE: Final = """
import sys
import grove_core
from grove_core.testing import Effort, InvariantViolated, check_all
from tests.property.gang_termination.hand_mutants import HAND_MUTANTS

assert grove_core.__file__.startswith(sys.prefix), grove_core.__file__
assert len(HAND_MUTANTS) == 28
for name, make in [(name, HAND_MUTANTS[name]) for name in sys.argv[1:] or HAND_MUTANTS]:
    try:
        check_all(make(), effort=Effort(shrink=False))
        print(f"{name} survived")
    except InvariantViolated as found:
        print(f"{name} is found: {found.invariant.id}")
"""


@pytest.fixture
def python(programs: Path) -> Path:
    """The interpreter of an environment with the wheel."""
    return programs / "python"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the mutants and without the packages of this repository."""
    monkeypatch.delenv("PYTHONPATH", raising=False)
    for name in NEEDED:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def test_lt007_known_mistakes_are_found(python: Path, project: Path) -> None:
    (project / "judge.py").write_text(JUDGE, encoding="utf-8")
    done = subprocess.run(
        [python, "judge.py", *SOME], capture_output=True, text=True, cwd=project, check=False, timeout=600
    )
    assert (done.returncode, done.stderr) == (0, "")
    found = dict(line.split(" ", 1) for line in done.stdout.splitlines())
    assert set(found) == set(SOME)
    assert [name for name, verdict in found.items() if "is found" not in verdict] == []


def test_lt001_without_hypothesis_the_import_says_what_to_install(python: Path, project: Path) -> None:
    code = "import sys; sys.modules['hypothesis'] = None; import grove_core.testing"
    done = run(python, "-c", code, cwd=project)
    assert done.stderr.splitlines()[-1] == (
        "ImportError: grove_core.testing needs hypothesis: pip install 'grove-plan[testing]'"
    )


@pytest.mark.parametrize(("number", "passes"), [(0, False), (1, True), (2, True)])
def test_lt001_the_examples_of_the_guide_run(python: Path, project: Path, number: int, passes: bool) -> None:
    (project / "conftest.py").write_text(FEW_EXAMPLES, encoding="utf-8")
    (project / "test_example.py").write_text(EXAMPLES[number], encoding="utf-8")
    done = run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_example.py", cwd=project)
    assert (done.returncode == 0) is passes, done.stdout
    if not passes:
        assert "InvariantViolated: " in done.stdout
        assert "history:" in done.stdout
    assert len(EXAMPLES[number].splitlines()) < 30


def main() -> None:
    """Print which invariant finds each mistake, and how long that takes."""
    from grove_core.testing import InvariantViolated, check_all  # noqa: PLC0415 - for this command alone
    from tests.property.gang_termination.hand_mutants import HAND_MUTANTS  # noqa: PLC0415 - as above

    for name, make in HAND_MUTANTS.items():
        began, verdict = time.monotonic(), "survived"
        try:
            check_all(make())
        except InvariantViolated as found:
            verdict = f"{found.invariant.id}, history of {len(found.history)} lines"
        sys.stdout.write(f"{name}: {verdict}, {time.monotonic() - began:.1f}s\n")


if __name__ == "__main__":
    main()
