"""Every path of the repository that a page on the code names is there."""

import re
from typing import Final

import pytest

from docs.generator.layers import layers
from docs.generator.rules import areas
from tests.docs.site import DOCS, ROOT
from tests.property.test_reasons_are_output import ALLOWED

CONTRIBUTING: Final = ROOT / "CONTRIBUTING.md"
PAGES: Final = ("explanation/glossary.md", "explanation/architecture.md")
PATH: Final = re.compile(r"`((?:grove_core|grove_shell|specs|tests|docs|deploy|integrations|benchmarks)/[\w./*<>-]*)`")
ROW: Final = re.compile(r"^\| (?!term|---)([^|]+) \| ([^|]+) \| `([^`|]+)` \|$", re.MULTILINE)


@pytest.mark.parametrize("page", PAGES)
def test_every_place_is_there(page: str) -> None:
    named = PATH.findall((DOCS / page).read_text(encoding="utf-8"))
    assert named
    assert [path for path in named if "<" not in path and not list(ROOT.glob(path.rstrip("/")))] == []


def test_a_term_of_the_glossary_stands_once_and_has_a_sentence_and_a_place() -> None:
    text = (DOCS / PAGES[0]).read_text(encoding="utf-8")
    rows = ROW.findall(text)
    assert len(rows) == len(re.findall(r"^\| (?!term|---)", text, re.MULTILINE))
    terms = [term.strip() for term, _, _ in rows]
    assert len(set(terms)) == len(terms)
    assert [sentence for _, sentence, _ in rows if not sentence.endswith(".")] == []


def test_contributing_describes_each_package_of_the_shell_and_no_other() -> None:
    text = CONTRIBUTING.read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`[\w`, ]+`) \|", text.partition("| package |")[2].partition("\n\n")[0], re.MULTILINE)
    described = [name for row in rows for name in re.findall(r"\w+", row)]
    assert sorted(described) == sorted(name for layer in layers()["grove_shell"] for name in layer)


def test_the_places_of_each_prefix_of_rules_are_there() -> None:
    text = (ROOT / "specs" / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([A-Z, ]+) \| (`.+) \|$", text, re.MULTILINE)
    areas_of = {prefix: area for prefix, (area, _) in areas().items()}
    assert sorted(prefix for row, _ in rows for prefix in row.split(", ")) == sorted(areas_of)
    named = [
        path.replace("<area>", areas_of[prefix])
        for row, places in rows
        for prefix in row.split(", ")
        for path in PATH.findall(places)
    ]
    assert [path for path in named if not (ROOT / path).is_dir()] == []


def test_contributing_names_each_part_of_the_core() -> None:
    text = CONTRIBUTING.read_text(encoding="utf-8").partition("### Layers")[2].partition("An area may")[0]
    parts = [name for layer in layers()["grove_core"] for name in layer]
    assert sorted(set(re.findall(r"`(\w+)`", text))) == sorted(parts)


def test_contributing_names_each_module_that_decides_by_a_reason() -> None:
    known = CONTRIBUTING.read_text(encoding="utf-8").partition("## Known violations")[2]
    checks_facts = {"grove_core/kernel/reasons.py"}
    assert {path for path in PATH.findall(known) if path in ALLOWED} == ALLOWED.keys() - checks_facts


def test_every_place_that_contributing_names_is_there() -> None:
    named = PATH.findall(CONTRIBUTING.read_text(encoding="utf-8"))
    assert [
        path for path in named if "<" not in path and ("..." not in path) and not list(ROOT.glob(path.rstrip("/")))
    ] == []
