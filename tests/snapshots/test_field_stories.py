"""What the Go operator did next to nine recorded namespaces, against what the rule set `field` says it will do.

Each dump was taken on a real control plane, and its sequel was recorded: which PodCliques were deleted, and
when. Our prediction must name exactly these, at a moment from which that operator's timer had at most five seconds to
notice it, and its own counting (GF-085).
"""

import json
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from grove_core.kernel.time_formats import parse_duration, parse_time
from grove_shell.cli.main import run_command_line

HERE: Final = Path(__file__).parent
DAY: Final = "2026-11-21T"
TIMER: Final = timedelta(seconds=5)
EARLY: Final = timedelta(seconds=1)
"""Conditions carry whole seconds, so a prediction may be up to one too early."""

DECODE: Final = {f"deepseek-0-decode-{index}-{short}" for index in range(4) for short in ("dl", "dw")}
PREFILL: Final = {f"deepseek-0-prefill-{index}-{short}" for index in range(2) for short in ("pl", "pw")}
DEEPSEEK: Final = DECODE | PREFILL | {"deepseek-0-frontend"}


class Explanation(NamedTuple):
    """A dump, and what came of it.

    Attributes:
        until: how long it was recorded.
        ended: when a termination was seen -> what it deleted.
        again: how long after it the same was deleted again; None where it was not.
    """

    file: str
    now: str
    until: str
    ended: dict[str, set[str]]
    again: timedelta | None = None


STORIES: Final = (
    Explanation("s1b-created-pending.yaml", "09:37:17.605Z", "1m", {}),
    Explanation("s2-healthy.yaml", "09:38:48.202Z", "1h", {}),
    Explanation("s2-healthy.json", "09:38:48.202Z", "1h", {}),
    Explanation(
        "s3a-breach-standalone-notready.yaml",
        "09:39:04.239Z",
        "40s",
        {"09:39:19.4Z": {"qwen-0-router", "qwen-0-worker"}},
    ),
    Explanation(
        "s4a-breach-in-one-pcsg-replica.yaml",
        "09:40:15.126Z",
        "50s",
        {
            "09:40:29.9Z": {"qwen-1-router", "qwen-1-worker"},
            "09:41:00.3Z": {"deepseek-0-prefill-0-pl", "deepseek-0-prefill-0-pw"},
        },
    ),
    Explanation("s4d-pcsg-breached-both-replicas.yaml", "09:46:42.582Z", "60s", {"09:47:23.0Z": DEEPSEEK}),
    Explanation("s5a-rolling-update-early.yaml", "09:43:53.756Z", "1m", {}),
    Explanation("s6b-pcsg-scaled-out.yaml", "09:43:52.858Z", "50s", {}),
    Explanation("s7b-deleting-pods-terminating.yaml", "09:52:25.148Z", "1m", {}),
    Explanation(
        "s9a-termination-without-capacity.yaml",
        "09:49:39.161Z",
        "5m",
        {"09:50:01Z": DEEPSEEK},
        again=timedelta(seconds=60),
    ),
)


def at(clock: str) -> datetime:
    moment = parse_time(DAY + clock)
    assert moment is not None
    return moment


def times_of(plan: dict[str, Any], number: int, first: datetime) -> list[datetime]:
    """When there is what a round does, as often as the plan says that it comes again (PL-024)."""
    again = plan.get("again")
    if again is None or number < again["sinceRound"]:
        return [first]
    every, until = parse_duration(again["every"]), parse_time(again["until"])
    assert every
    assert until is not None
    return [first + count * every for count in range((until - first) // every + 1)]


def predicted(story: Explanation, capsys: pytest.CaptureFixture[str]) -> list[tuple[datetime, set[str]]]:
    """When some PodCliques are to be ended for a breach, and which, as the plan has it."""
    words = ["plan", "-f", str(HERE / story.file), "--now", DAY + story.now, "--rules", "field"]
    code = run_command_line([*words, "--until", story.until, "-o", "json"], "grove")
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert code == (0 if document["plans"] else 3)  # one of them has no set any more (CL-056)
    found: list[tuple[datetime, set[str]]] = []
    for plan in document["plans"]:
        for round_ in plan["rounds"]:
            ends = {
                step["target"]["name"]
                for step in round_["steps"]
                if step["action"] == "delete" and step["target"]["kind"] == "PodClique" and step.get("restsOn")
            }
            moment = parse_time(round_["at"])
            assert moment is not None
            if ends:
                found += ((at, ends) for at in times_of(plan, round_["round"], moment))
    return sorted(found, key=lambda one: one[0])


@pytest.mark.req("GF-044")
@pytest.mark.req("GF-073")
@pytest.mark.req("GF-086")
@pytest.mark.req("GF-091")
@pytest.mark.req("GF-072")
@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.file)
def test_gf085_what_happened_was_predicted(story: Explanation, capsys: pytest.CaptureFixture[str]) -> None:
    reported = predicted(story, capsys)
    first, later = reported[: len(story.ended)], reported[len(story.ended) :]
    assert [names for _, names in first] == list(story.ended.values())
    for (moment, _), seen in zip(first, story.ended, strict=True):
        assert moment - EARLY <= at(seen) <= moment + TIMER
    if story.again is None:
        assert not later
        return
    times = [moment for moment, _ in reported]
    assert {after - before for before, after in pairwise(times)} == {story.again}
    assert {frozenset(names) for _, names in reported} == {frozenset(DEEPSEEK)}
    assert len(later) >= 3


@pytest.mark.req("CL-010")
def test_gf086_the_page_says_that_it_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    story = STORIES[-1]
    words = ["plan", "-f", str(HERE / story.file), "--now", DAY + story.now, "--rules", "field", "--until", story.until]
    assert run_command_line(words, "grove") == 0
    shown = capsys.readouterr().out
    (line,) = (line for line in shown.splitlines() if "AGAIN" in line)
    assert "every 1m until they are placed: the same 13 PodCliques" in line
    assert shown.count("  THEN ") == 1
