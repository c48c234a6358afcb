"""The sentence of every reason, pinned once, and in no other golden file but those whose subject is a page.

``tests/golden/reasons/`` has a file for each ``rules.py``: a line for each reason with its rule, its code and its
sentence, in which ``{names}`` are facts. The files are written by ``pytest --bless`` and reviewed like code.
"""

import re
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Final

import pytest

from grove_core.kernel.reasons import Rule

HERE: Final = Path(__file__).parent
CORE: Final = HERE.parents[1] / "grove_core"
REASONS: Final = HERE / "reasons"
_NO_NAME: Final = frozenset({"grove_core", "areas", "design", "rules"})
_LEAST: Final = 13
"""Sentences without as many letters between two facts are not looked for: ``it is {phase}`` says nothing."""
_BEFORE: Final = r"(?:: |- |; |['\"])"
"""What stands before a sentence in YAML and in a timeline; hand-written prose may have the same words."""
_ALSO_WRITTEN: Final = frozenset({"MN-013"})
"""The simulator has these words of its own, of a condition that is removed."""


def name_of(module: ModuleType) -> str:
    """``gang_termination_field`` for ``grove_core.areas.gang_termination.field.rules``."""
    return "_".join(part for part in module.__name__.split(".") if part not in _NO_NAME)


def rules_of(module: ModuleType) -> list[Rule]:
    own = (one for one in vars(module).values() if isinstance(one, type) and one.__module__ == module.__name__)
    return [rule for one in own if issubclass(one, Rule) for rule in one]


MODULES: Final = {
    name_of(module): module
    for path in sorted(CORE.rglob("rules.py"))
    for module in [import_module(".".join(path.relative_to(CORE.parent).with_suffix("").parts))]
}


@pytest.mark.parametrize("name", MODULES)
def test_the_sentences_are_as_blessed(name: str, *, bless: bool) -> None:
    lines = sorted(f"{one.requirement} {one.code}: {one.wording.sentence}\n" for one in rules_of(MODULES[name]))
    path = REASONS / f"{name}.txt"
    if bless:
        path.write_text("".join(lines), encoding="utf-8")
    assert path.read_text(encoding="utf-8") == "".join(lines)


def test_there_is_no_file_of_sentences_without_rules() -> None:
    assert sorted(path.stem for path in REASONS.iterdir()) == sorted(MODULES)


def pattern_of(rule: Rule) -> tuple[str, re.Pattern[str]] | None:
    """The longest words of a sentence between two facts, and the whole sentence with any facts."""
    parts = re.split(r"\{[^}]*\}", rule.wording.sentence)
    longest = max(parts, key=len)
    if len(longest) < _LEAST or rule.requirement in _ALSO_WRITTEN:
        return None
    return longest, re.compile(_BEFORE + ".{1,150}?".join(map(re.escape, parts)))


def files_that_pin_no_text() -> list[Path]:
    """The golden files but for the sentences, and the pages of `grove plan` and `grove topology`."""
    pages = set(HERE.glob("*/*/page.txt"))
    found = {path for path in HERE.rglob("*") if path.suffix in {".txt", ".yaml"} and path.parent != REASONS}
    return sorted(found - pages)


def test_no_other_golden_file_has_a_sentence() -> None:
    """Another wording of a reason changes its file of sentences and some pages, and nothing else."""
    patterns = [found for module in MODULES.values() for rule in rules_of(module) if (found := pattern_of(rule))]
    wrong = []
    for path in files_that_pin_no_text():
        text = " ".join(path.read_text(encoding="utf-8").replace("''", "'").split())
        sentences = (pattern.search(text) for longest, pattern in patterns if longest in text)
        wrong += [f"{path.relative_to(HERE)} has {found[0]!r}" for found in sentences if found]
    assert wrong == []
