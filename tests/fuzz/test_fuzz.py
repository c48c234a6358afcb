"""Some damaged inputs at every border, the same ones each time; ``python -m tests.fuzz`` feeds many more."""

import random
from pathlib import Path

import pytest

from tests.fuzz import mutations
from tests.fuzz.fuzz_target import FuzzTarget
from tests.fuzz.fuzz_targets import TARGETS
from tests.fuzz.limits import run_input
from tests.fuzz.minimize import minimized

EACH = 40


@pytest.mark.filterwarnings("ignore:ssl_context is deprecated:DeprecationWarning")  # of a library in another
@pytest.mark.req("IN-030")
@pytest.mark.req("CL-001")
@pytest.mark.parametrize("name", TARGETS)
def test_whatever_comes_in_there_is_an_answer(name: str, tmp_path: Path) -> None:
    chance = random.Random(1)
    with TARGETS[name](tmp_path) as border:
        ways = [border.ways[number % len(border.ways)] for number in range(EACH)]
        for way in ways:
            data = border.make(chance, way)
            assert len(data) <= mutations.LONGEST
            found = run_input(border, way, data)
            assert not found.broken, (way, data)


def test_what_breaks_a_promise_is_reported_with_its_place() -> None:
    def feed(_way: str, data: bytes) -> str:
        return f"{int(data)}"

    border = FuzzTarget(("only",), lambda _chance, _way: b"", feed)
    assert run_input(border, "only", b"5").outcome == "5"
    found = run_input(border, "only", b"five")
    assert found.outcome == "BROKEN"
    assert found.broken.startswith("ValueError: invalid literal")


def test_what_never_answers_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def feed(_way: str, _data: bytes) -> str:
        while True:
            pass

    monkeypatch.setattr("tests.fuzz.limits.CPU_SECONDS", 0.05)
    assert run_input(FuzzTarget(("only",), lambda _chance, _way: b"", feed), "only", b"").broken.startswith(
        "no answer in"
    )


@pytest.mark.parametrize(
    ("data", "small"),
    [(b'{"a": [1, {"b": "x", "c": 2}], "d": {}}', b'{"b":'), (b"- a\n- b: [\n- c\n", b"b")],
)
def test_what_is_shown_is_made_small(data: bytes, small: bytes) -> None:
    found = minimized(data, lambda smaller: b"b" in smaller)
    assert b"b" in found
    assert len(found) <= len(small)
