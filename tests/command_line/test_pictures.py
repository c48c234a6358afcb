"""``--picture`` of ``grove plan`` and ``grove compare``: read as the text of an SVG."""

import os
import re
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import pytest

from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import DeletionImpact
from grove_shell.views.plan.planned_terminations import ReplicaPendingTermination, ReplicaTerminations, TerminationAt
from grove_shell.views.plan.termination_chart import (
    MOST_ROWS,
    TerminationChart,
    TerminationChartPanel,
    draw_termination_chart,
)
from tests.command_line.process import ROOT
from tests.html.reading import HOSTILE, run

DEGRADED: Final = ("-f", "examples/degraded.yaml", "--now", "2026-11-20T09:00:00Z", "--until", "4h")
PICTURES: Final = {
    "terminations": ("plan", *DEGRADED),
    "two-rule-sets": ("compare", "-f", "examples/real-cluster.yaml", "--until", "10m"),
}
NOW: Final = datetime(2026, 11, 20, 9, tzinfo=UTC)
_WORDS: Final = re.compile(r"<text[^>]*>([^<]+)</text>")
_FILLS: Final = re.compile(r"fill: (#\w+)")


def words(path: Path) -> list[str]:
    return _WORDS.findall(path.read_text(encoding="utf-8"))


def chart_of(count: int, *, panels: int = 1, name: str = "set") -> TerminationChart:
    """Return a chart of some replicas; a second panel has every other one."""

    def row(number: int) -> ReplicaPendingTermination:
        root = Ref("grove.io", "PodCliqueSet", "ml", f"{name}-{number:02}")
        at = NOW + timedelta(minutes=number)
        return ReplicaPendingTermination(
            root=root,
            replica=root.at_replica(0),
            since=NOW - timedelta(hours=3),
            until=at,
            ends=ReplicaTerminations((TerminationAt(at, DeletionImpact(pods=4, ready=1, gpus=32)),), 1),
        )

    rows = tuple(row(number) for number in range(count))
    shown = tuple(
        TerminationChartPanel("" if panels == 1 else f"side {side}", rows[:: side + 1]) for side in range(panels)
    )
    return TerminationChart("a verdict", "as of then", shown, NOW, NOW + timedelta(hours=2))


@pytest.mark.parametrize("name", PICTURES)
def test_cl093_pictures_of_the_documentation(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, bless: bool
) -> None:
    """By their words and fills: what else stands in the file is the drawing library's."""
    monkeypatch.chdir(ROOT)
    shown = Path("docs/pictures") / f"{name}.svg"
    drawn = shown if bless else tmp_path / shown.name
    assert run(*PICTURES[name], "--picture", str(drawn)).code == 0
    page = Path("docs/how-to/share-a-page.md").read_text(encoding="utf-8")
    assert f"grove {' '.join(PICTURES[name])} --picture {shown}" in page
    assert words(shown) == words(drawn)
    fills = (Counter(_FILLS.findall(path.read_text(encoding="utf-8"))) for path in (shown, drawn))
    assert next(fills) == next(fills)


class TestCL093:
    """`--picture` of `grove plan` and `grove compare` MUST draw each replica that is terminated or waits, with its
    delay as a bar and each termination as a mark. The first mark has its time, pods and GPUs. `compare` draws both rule
    sets side by side, in the same rows.
    """

    def test_a_plan(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(ROOT)
        drawn = tmp_path / "plan.svg"
        before = run("plan", *DEGRADED)
        done = run("plan", *DEGRADED, "--picture", str(drawn))
        assert done == before
        found = words(drawn)
        assert before.out.splitlines()[0] in " ".join(found)
        for text in (
            *("inference/deepseek-0-decode replica 1", "inference/llama-70b replica 0", "inference/qwen replica 0"),
            *("now, 3 pods, 3 GPUs", "now, 9 pods, 8 GPUs", "10:15:00Z, 4 pods, 3 GPUs", "now, 09:00:00Z"),
        ):
            assert found.count(text) == 1

    def test_two_rule_sets_in_the_same_rows(self, tmp_path: Path) -> None:
        drawn = tmp_path / "both.svg"
        draw_termination_chart(chart_of(3, panels=2), str(drawn))
        found = words(drawn)
        assert [found.count(f"ml/set-{number:02} replica 0") for number in range(3)] == [1, 1, 1]
        assert found.count("not terminated") == 1
        assert found.count("09:01:00Z, 4 pods, 32 GPUs") == 1
        assert found.count("09:02:00Z, 4 pods, 32 GPUs") == 2
        assert {"side 0", "side 1"} <= {*found}

    def test_nothing_comes(self, tmp_path: Path) -> None:
        drawn = tmp_path / "calm.svg"
        draw_termination_chart(chart_of(0), str(drawn))
        assert "no termination to show" in words(drawn)

    def test_names_are_text(self, tmp_path: Path) -> None:
        for number, name in enumerate((HOSTILE, "$x_1$ \\frac")):
            drawn = tmp_path / f"{number}.svg"
            draw_termination_chart(chart_of(1, name=name), str(drawn))
            text = drawn.read_text(encoding="utf-8")
            assert "<script" not in text
            assert "\x1b" not in text
        assert "$x_1$" in text


class TestCL094:
    """The same result MUST give the same picture, byte for byte, with at most 60 rows; the first terminations come
    first, and a line counts the rows that are left out.
    """

    @pytest.mark.parametrize("ending", ["svg", "png"])
    def test_same_bytes(self, ending: str, tmp_path: Path) -> None:
        drawn = [tmp_path / f"{number}.{ending}" for number in range(2)]
        for path in drawn:
            draw_termination_chart(chart_of(2, panels=2), str(path))
        assert drawn[0].read_bytes() == drawn[1].read_bytes()

    @pytest.mark.parametrize("count", [1, 10, MOST_ROWS, 75])
    def test_rows(self, count: int, tmp_path: Path) -> None:
        drawn = tmp_path / "many.svg"
        draw_termination_chart(chart_of(count), str(drawn))
        found = words(drawn)
        names = [f"ml/set-{number:02} replica 0" for number in range(count)]
        assert [name for name in names if name in found] == names[:MOST_ROWS]
        rest = [text for text in found if text.startswith("and ")]
        assert rest == ([f"and {count - MOST_ROWS} more replicas, which end later or as late"] if count > 60 else [])


class TestCL095:
    """A `--picture` with another ending than `.svg` or `.png` MUST be refused as wrong usage before anything is
    read.
    """

    @pytest.mark.parametrize("command", ["plan", "compare"])
    def test_another_ending(self, command: str) -> None:
        assert run(command, "-f", "no-such-file.yaml", "--picture", "x.pdf").code == 64

    def test_a_file_that_cannot_be_written(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(ROOT)
        done = run("plan", *DEGRADED, "--picture", f"{os.devnull}/x.svg")
        assert done.code == 1
        assert done.out == run("plan", *DEGRADED).out
