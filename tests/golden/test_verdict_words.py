"""``grove_core/kernel/questions.py`` names the verdicts of each question: every one of a golden plan is among them."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from enum import Enum
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from grove_core.areas.domain_cliques.verdicts import DaemonEntryVerdict
from grove_core.areas.gang_termination.verdicts import DELEGATES, KEEPS, SUSPENDS, TERMINATES, WAITS
from grove_core.areas.mnnvl.design.verdicts import ReplicaComputeDomainState
from grove_core.areas.mnnvl.field.verdicts import NeededDomainState, UnneededDomainState
from grove_core.areas.mnnvl_scopes.verdicts import SharedObjectState
from grove_core.areas.topology.verdicts import TopologyDeletionHold, TopologyResolution
from grove_core.kernel import questions
from grove_core.kernel.questions import AVAILABILITY, COMPUTE_DOMAIN, TERMINATION, TOPOLOGY, TOPOLOGY_USE
from grove_core.resources.compute_domain import NOT_READY, READY

GOLDEN: Final = Path(__file__).parent
ENTRY: Final = re.compile("entry of .+")
SHARE: Final = re.compile(r"\d+/\d+")
WORD: Final = re.compile("``([A-Z][A-Za-z]+)``")


def _words() -> dict[str, set[str]]:
    """The verdicts of each question: the capitalized words in double backticks in the docstring of its constant."""
    body = ast.parse(Path(questions.__file__).read_text(encoding="utf-8")).body
    found: dict[str, set[str]] = {}
    for constant, docstring in pairwise(body):
        if isinstance(constant, ast.AnnAssign) and isinstance(docstring, ast.Expr):
            found[ast.literal_eval(ast.unparse(constant.value or ast.Constant("")))] = set(
                WORD.findall(ast.unparse(docstring))
            )
    return found


WORDS: Final = _words()


def _findings_in(value: Any) -> Iterator[tuple[str, str]]:
    """The question and the verdict of each finding in a golden file, at any depth."""
    if isinstance(value, dict):
        if "question" in value and "verdict" in value:
            yield value["question"], str(value["verdict"])
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _findings_in(item)


def test_every_verdict_of_a_golden_plan_is_a_word_of_its_question() -> None:
    found = defaultdict[str, set[str]](set)
    for path in GOLDEN.rglob("plan.yaml"):
        loaded = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
        for question, verdict in _findings_in(loaded):
            found[question].add(verdict)
    assert all(map(SHARE.fullmatch, found.pop(AVAILABILITY)))
    entries = [question for question in found if ENTRY.fullmatch(question)]
    assert set().union(*map(found.pop, entries)) <= {one.value for one in DaemonEntryVerdict}
    assert not {question: unknown for question, all_of in found.items() if (unknown := all_of - WORDS[question])}


def _values(*enums: Iterable[Enum]) -> set[str]:
    return {one.value for enum in enums for one in enum}


@pytest.mark.parametrize(
    ("question", "verdicts"),
    [
        (TERMINATION, {KEEPS, WAITS, TERMINATES, DELEGATES, SUSPENDS, "Unknown"}),
        (TOPOLOGY, _values(TopologyResolution)),
        (TOPOLOGY_USE, _values(TopologyDeletionHold)),
        (questions.DOMAIN_STATUS, {READY, NOT_READY, "Keep"}),
        (
            COMPUTE_DOMAIN,
            _values(ReplicaComputeDomainState, SharedObjectState, NeededDomainState, UnneededDomainState)
            | {"Wanted", "NotWanted", "Ensured", "Joins", "JoinsNothing", "LetInWithout"},
        ),
    ],
)
def test_the_words_of_a_question_are_those_of_its_enums(question: str, verdicts: set[str]) -> None:
    assert WORDS[question] == verdicts
