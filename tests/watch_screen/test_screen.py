"""The screen of ``grove watch`` by Textual's pilot: what it shows of a plan, its keys, and hostile names (WA)."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from grove_shell.actions.decision_time import NowWord
from grove_shell.cli.main import run_command_line
from grove_shell.views.tree.object_states import STATE_STYLES, ObjectState
from tests.html.reading import HOSTILE
from tests.watch_screen.screens import (
    DEGRADED,
    NARROW,
    NEW_IMAGE,
    REAL,
    WIDE,
    app_of,
    driven,
    lines_of,
    press,
    reasons_of,
    running,
    text_of,
    until,
)

AT = ("--now", "2026-11-20T08:41:00Z")


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert run_command_line([*words], "grove") == 0
    return capsys.readouterr().out


def squeezed(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.req("WA-003")
@pytest.mark.req("WA-004")
@pytest.mark.parametrize("size", [NARROW, WIDE])
def test_wa001_headline_rows_and_states_in_every_size(
    size: tuple[int, int], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    headline, second, *_ = printed(capsys, "plan", "-f", DEGRADED, *AT).splitlines()
    monkeypatch.setenv("NO_COLOR", "1")

    async def story() -> None:
        async with running(app_of(DEGRADED), size) as pilot:
            shown = lines_of(pilot.app)
            assert shown[0].strip() == headline
            assert f"the clock stands; {second}".startswith(shown[1].strip().rstrip("…"))
            assert "rules 'design'" in shown[1]
            assert len(shown) == size[1]
            assert all(len(line) <= size[0] for line in shown)
            (selected,) = [line for line in shown if line.startswith(">")]
            assert "replica 1" in selected
            assert "waiting " in selected
            assert "in 0:09:00" in selected
            assert pilot.app.no_color
            await pilot.resize_terminal(132, 30)
            await until(pilot, lambda: len(lines_of(pilot.app)) == 30, "it has the new size")
            assert "ready" in text_of(pilot.app)

    driven(story)


@pytest.mark.parametrize("size", [(60, 24), NARROW])
def test_wa020_what_is_cut_has_an_ellipsis_and_the_set_is_in_sight(size: tuple[int, int]) -> None:
    async def story() -> None:
        async with running(app_of(DEGRADED), size) as pilot:
            lines = lines_of(pilot.app)
            selected = next(place for place, line in enumerate(lines) if line.startswith(">"))
            assert "replica 1" in lines[selected]
            assert any("inference/deepseek" in line for line in lines[:selected])
            rows = [line for line in lines if " in 0:" in line]
            assert len(rows) > 3
            assert all(re.search(r" in \d:\d\d:\d\d( |$|▆)", row) for row in rows)
            cut = [row for row in lines if re.search(r"\d/\d", row)]
            assert bool(cut) == (size == NARROW)
            assert all(re.search(r"\d/\d (ready|replicas|\w+ .*…) ?[▁-█]?$", row) for row in cut), cut
            assert "…" in next(line for line in lines if line.startswith(" the clock stands"))

    driven(story)


def test_wa004_every_state_has_a_style_and_its_own_word() -> None:
    assert STATE_STYLES.keys() == set(ObjectState)


def test_wa005_the_pane_has_what_explain_and_plan_print(capsys: pytest.CaptureFixture[str]) -> None:
    explained = printed(capsys, "explain", "-f", DEGRADED, *AT, "pclq/deepseek-0-decode-1-dw")
    plan = squeezed(printed(capsys, "plan", "-f", DEGRADED, *AT, "inference/deepseek", "-v"))

    async def story() -> None:
        async with running(app_of(DEGRADED)) as pilot:
            replica = reasons_of(pilot.app)
            assert "deepseek-0-decode replica 1 until 08:50:00Z" in replica
            assert all(squeezed(line) in plan for line in replica.splitlines()[2:6])
            await press(pilot, "down", "down")
            assert reasons_of(pilot.app) == explained.partition("\n")[2]

    driven(story)


def test_wa011_search_and_the_next_termination() -> None:
    async def story() -> None:
        async with running(app_of(DEGRADED), WIDE) as pilot:
            await press(pilot, "n")
            assert reasons_of(pilot.app).startswith("replica 0 of PodCliqueSet llama-70b")
            await press(pilot, "n", "n")
            assert reasons_of(pilot.app).startswith("replica 1 of PodCliqueScalingGroup deepseek-0-decode")
            await press(pilot, "slash", *"phi-0-pool-1-pf-", "enter")
            assert reasons_of(pilot.app).startswith("Pod inference/phi-0-pool-1-pf-")
            await press(pilot, "a")
            assert "inference/gemma" not in text_of(pilot.app)
            await press(pilot, "slash", *"gemma", "enter")
            assert reasons_of(pilot.app).startswith("PodCliqueSet inference/gemma")
            await press(pilot, "slash", *"no-such-thing", "enter")
            await until(pilot, lambda: "not found: no-such-thing" in text_of(pilot.app), "it says so")
            await press(pilot, "question_mark")
            assert "go to the next termination" in text_of(pilot.app)
            await press(pilot, "q", "q")
            assert pilot.app.return_code == 0
            assert pilot.app.return_value == 0

    driven(story)


@pytest.mark.parametrize("size", [NARROW, WIDE])
def test_wa009_the_plan_of_an_edit_stands_beside(size: tuple[int, int], capsys: pytest.CaptureFixture[str]) -> None:
    whole = printed(capsys, "plan", "-f", REAL, "-f", NEW_IMAGE, "--now", "dump", "llm-serving/qwen")

    async def story() -> None:
        async with running(app_of(REAL, now=NowWord.DUMP, edits=(NEW_IMAGE,)), size) as pilot:
            await until(pilot, lambda: "restart" in reasons_of(pilot.app, "edit"), "the edit is planned")
            assert reasons_of(pilot.app, "edit") == whole
            assert "restarts" not in lines_of(pilot.app)[0]
            assert ("restarts" in text_of(pilot.app)) == (size == WIDE)
            await press(pilot, "e")
            assert "restarts" in text_of(pilot.app)

    driven(story)


def hostile(path: Path) -> str:
    """Write an example in which names of nodes and messages are markup, escapes and control characters."""
    bad = f"[red]{HOSTILE}[/red][@click=app.leave]x[/]"
    items = yaml.load_all(Path(DEGRADED).read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    every: list[Any] = [inner for one in items for inner in (one.get("items", [one]))]
    for one in every:
        if one["kind"] == "Pod" and "deepseek-0-decode-1-dw" in one["metadata"]["name"]:
            one["spec"]["nodeName"] = bad
            for status in one["status"].get("containerStatuses", []):
                status["state"] = {"waiting": {"reason": bad}}
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": every}), encoding="utf-8")
    return str(path)


def test_wa008_markup_and_control_characters_stay_text(tmp_path: Path) -> None:
    path = hostile(tmp_path / "hostile.json")

    async def story() -> None:
        async with running(app_of(path), (300, 60)) as pilot:
            await press(pilot, "down", "down", "right", "down")
            shown = text_of(pilot.app)
            assert "[red]\"'><img" in shown
            assert "[@click=app.leave]x[/]" in shown
            assert "\x1b" not in shown
            assert "\\x1b[31m" in shown
            assert "\u202e" not in shown

    driven(story)
