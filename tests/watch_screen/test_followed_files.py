"""Files that are written again, clocks that run, and what the command says where no screen can be shown (WA)."""

import re
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from docs.generator.watch_picture import FILE, watch_picture, words_of_picture
from grove_core.kernel.time_formats import format_time, parse_time
from grove_shell.actions.decision_time import NowWord
from grove_shell.exit_codes import ERROR, USAGE
from tests.command_line.process import GROVE, ROOT, grove
from tests.watch_screen.screens import (
    DEGRADED,
    NOW,
    app_of,
    driven,
    lines_of,
    reasons_of,
    running,
    text_of,
    until,
    words_of,
)

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


def moved(first_end: timedelta) -> str:
    """The example with all its times moved, so that its first termination comes after a while from now."""
    assert NOW is not None
    by = datetime.now(UTC) + first_end - (NOW + timedelta(minutes=9))

    def at(found: re.Match[str]) -> str:
        moment = parse_time(found[0])
        assert moment is not None
        return format_time((moment + by).replace(microsecond=0))

    return _TIME.sub(at, Path(DEGRADED).read_text(encoding="utf-8"))


@pytest.mark.req("WA-001")
@pytest.mark.req("WA-004")
def test_wa003_a_clock_runs_down_and_its_end_is_a_new_plan(tmp_path: Path) -> None:
    path = tmp_path / "cluster.yaml"
    path.write_text(moved(timedelta(seconds=6)), encoding="utf-8")

    async def story() -> None:
        async with running(app_of(str(path), now=NowWord.CLOCK)) as pilot:
            assert "unless they recover" in lines_of(pilot.app)[0]
            seen = set[str]()

            def is_over() -> bool:
                seen.update(re.findall(r"in 0:00:0\d", text_of(pilot.app)))
                return "2 replicas to terminate now" in lines_of(pilot.app)[0]

            await until(pilot, is_over, "the end is shown")
            assert len(seen) > 1
            await until(pilot, lambda: "will end" in text_of(pilot.app), "the row says so")
            assert "now" in text_of(pilot.app)

    driven(story)


def test_wa007_a_file_is_read_again_and_half_a_file_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "cluster.yaml"
    whole = Path(DEGRADED).read_text(encoding="utf-8")
    path.write_text(whole, encoding="utf-8")

    async def story() -> None:
        async with running(app_of(str(path)), (120, 40)) as pilot:
            before = lines_of(pilot.app)[0]
            path.write_text("{", encoding="utf-8")
            await until(pilot, lambda: "problem" in text_of(pilot.app), "the problem is shown")
            assert "what was known at 08:41:00Z" in words_of(pilot.app)
            assert lines_of(pilot.app)[0] == before
            path.unlink()
            await until(pilot, lambda: "no such file" in words_of(pilot.app), "a missing file is reported")
            path.write_text(whole.replace("name: inference", "name: other"), encoding="utf-8")
            await until(pilot, lambda: "problem" not in text_of(pilot.app), "the plan is shown again")
            assert reasons_of(pilot.app)

    driven(story)


def test_wa010_one_line_where_no_screen_can_be_shown() -> None:
    ran = grove("watch", "-f", DEGRADED)
    assert ran.returncode == USAGE
    assert ran.stderr == b"grove watch shows a screen and needs a terminal; grove plan prints the same plan\n"
    hidden = "import sys; sys.modules['textual'] = None; from grove_shell.cli.main import run_command_line as run;"
    code = f"{hidden} sys.exit(run(['watch', '-f', {DEGRADED!r}], 'grove'))"
    without = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert (without.returncode, without.stderr) == (
        ERROR,
        "grove watch needs Textual: pip install 'grove-plan[watch]'\n",
    )
    assert grove("watch", "-f", "-").returncode == USAGE
    assert GROVE


def test_wa001_the_picture_of_the_how_to_is_what_the_program_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """``python -m docs.generator.watch_picture`` writes it anew."""
    monkeypatch.chdir(ROOT)
    kept = FILE.read_text(encoding="utf-8")
    assert words_of_picture(watch_picture()) == words_of_picture(kept)
    assert len(kept) < 60_000
    assert "url(" not in kept.replace("url(#", "")
