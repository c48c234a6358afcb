"""Pages of the other commands: every line of the text page, the rules that it cites, and pods over time."""

import re
from pathlib import Path
from typing import Final

import pytest

from grove_shell.html.report_html import report_html
from grove_shell.html.text_lines import html_sections
from grove_shell.styled_text_page import StyledTextPage
from tests.html.reading import EXAMPLES, HOSTILE, REAL, page_of, parsed, run
from tests.html.test_plan_pages import assert_sound
from tests.replay.recorded_logs import SCENARIOS, played

SCENARIO: Final = str(EXAMPLES / "scenarios" / "node-loss.yaml")
COMMANDS: Final = {
    "explain": ("pclq/qwen-1-worker", "-f", str(REAL)),
    "compare": ("-f", str(REAL), "--until", "1h"),
    "simulate": (SCENARIO,),
    "topology check": ("-f", str(EXAMPLES / "topology" / "clouds"), "ml-team/chat"),
    "why": ("pcs/qwen", "-f", str(REAL)),
}
CODES: Final = {"topology check": 3}
CITED: Final = re.compile(r"  (\w+ [A-Z]{2}-\d{3})$", re.MULTILINE)


class TestHP011:
    """`explain`, `compare`, `simulate`, `replay`, `topology check` and `why` MUST write every line of their text page
    with `--html`, and each rule that it cites with its text. `simulate` adds the pods of each PodClique over time.
    """

    @pytest.mark.parametrize("command", COMMANDS)
    def test_every_line(self, command: str, tmp_path: Path) -> None:
        words, code = COMMANDS[command], CODES.get(command, 0)
        found = parsed(page_of(tmp_path, *words, command=command, code=code))
        assert_sound(found)
        done = run(*command.split(), *words)
        assert done.code == code
        text = done.out
        shown = found.words.replace(" ", "")
        lines = [line.replace(" ", "") for line in text.splitlines()]
        assert lines
        assert [line for line in lines if line not in shown] == []
        for cited in CITED.findall(text):
            assert f"-rule-{cited.split()[1]}" in found.ids

    def test_replay(self, tmp_path: Path) -> None:
        log = tmp_path / "plans.jsonl"
        log.write_text(played(SCENARIOS[0]).out.getvalue(), encoding="utf-8")
        found = parsed(page_of(tmp_path, str(log), command="replay"))
        assert_sound(found)
        first = run("replay", str(log)).out.splitlines()[0]
        assert first.replace(" ", "") in found.words.replace(" ", "")

    def test_pods_over_time(self, tmp_path: Path) -> None:
        found = parsed(page_of(tmp_path, SCENARIO, command="simulate"))
        assert "llama-0-worker 3 ready at the end" in found.words
        bars = [a for tag, a in found.tags if tag == "rect" and str(a.get("class", "")).startswith("p-")]
        assert {str(a["class"]) for a in bars} >= {"p-ready", "p-placed", "p-breach"}
        worker = run("simulate", SCENARIO).out
        assert "TERMINATES llama-0-router, llama-0-worker" in worker
        assert "TERMINATES llama-0-router, llama-0-worker" in found.words

    def test_seeds(self, tmp_path: Path) -> None:
        words = (SCENARIO, "--seeds", "2", "--rules", "design")
        found = parsed(page_of(tmp_path, *words, command="simulate"))
        assert "2 runs, 0 violations" in found.words
        assert "Pods over time" not in found.words

    @pytest.mark.req("HP-002")
    def test_a_line_full_of_markup(self) -> None:
        page = StyledTextPage()
        page.add_line((HOSTILE, "bold red"))
        page.add_line("  ", HOSTILE)
        found = parsed(report_html("why", page))
        assert_sound(found)
        assert found.text.count("<script>alert(2)</script>") == 2
        assert len(found.scripts) == 1


def test_hp011_lines_keep_their_labels_levels_and_headings() -> None:
    page = StyledTextPage()
    page.add_line(("ml/llama", "bold"), "  1 of 2")
    page.add_line(("  WAIT       ", "bold yellow"), ("replica 1", "bold"), " until then")
    page.add_line("             ", "the reason", ("  DelayRunning GF-076", "dim"))
    page.add_line()
    page.add_line("  plain")
    (heading, entry, reason), (plain,) = html_sections(page)
    assert heading.is_heading
    assert heading.text == "ml/llama  1 of 2"
    assert entry.label is not None
    assert (entry.label.text, entry.label.classes, entry.text) == ("WAIT", "s-bold s-yellow", "replica 1 until then")
    assert (reason.level, reason.spans[1].code, reason.spans[1].number) == (1, "DelayRunning", "GF-076")
    assert (plain.level, plain.is_heading, plain.label) == (1, False, None)
