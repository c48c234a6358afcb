"""Pages of the other commands: every line of the text page, the rules that it cites, and pods over time."""

import re
from pathlib import Path
from typing import Final

import pytest

from grove_shell.html.anchors import HtmlAnchorIds
from grove_shell.html.report_html import report_html
from grove_shell.html.report_sections import report_section
from grove_shell.html.text_lines import html_sections
from grove_shell.styled_text_page import StyledTextPage
from tests.html.reading import EXAMPLES, HOSTILE, REAL, hostile_dump, page_of, parsed, run
from tests.html.test_plan_pages import NOW, assert_sound
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


class TestHP020:
    """The pages of `explain` and `compare` MUST show the tree of each of their sets with the states of the plan's page,
    and terminations ahead on a timeline, for each rule set. The page of `explain` opens and marks its object.
    """

    def test_explain_marks_its_object_in_the_tree_of_its_set(self, tmp_path: Path) -> None:
        pod = "qwen-1-worker-nxfng"
        found = parsed(page_of(tmp_path, f"pod/{pod}", "-f", str(REAL), command="explain"))
        assert {"qwen", "qwen-0", "qwen-1-worker", pod} <= set(found.ids)
        assert "embed-0" not in found.ids
        by_id = {str(a["id"]): a for _, a in found.tags if a.get("id")}
        marked = [name for name, a in by_id.items() if "marked" in str(a.get("class", "")).split()]
        assert marked == [pod]
        assert [name for name in ("qwen", "qwen-1", "qwen-1-worker", "qwen-0-worker") if "open" in by_id[name]] == [
            "qwen",
            "qwen-1",
            "qwen-1-worker",
        ]
        assert "Pod qwen-1-worker-nxfng no node" in found.words
        assert "09:40:29Z (in 29s)" in found.words.partition("breach: True")[0]

    def test_states_are_those_of_the_plan(self, tmp_path: Path) -> None:
        def states(page: str) -> dict[str, str]:
            return {str(a["id"]): str(a["data-state"]) for _, a in parsed(page).tags if "data-state" in a and "id" in a}

        rules = ("--rules", "field@v0.1.0-alpha.12-rc1")
        plan = states(page_of(tmp_path, "-f", str(REAL), "--until", "1h", *rules))
        compared = page_of(tmp_path, *COMMANDS["compare"], command="compare")
        assert states(compared) == plan
        assert "What comes by rules 'field@v0.1.0-alpha.12-rc1'" in parsed(compared).words
        assert "What comes by rules 'design'" not in parsed(compared).words  # which terminate nothing there

    def test_a_set_that_is_in_no_cluster_yet(self, tmp_path: Path) -> None:
        manifest = str(EXAMPLES / "manifests" / "disaggregated.yaml")
        found = parsed(page_of(tmp_path, "pcs/llama", "-f", manifest, "--now", NOW, command="explain"))
        assert_sound(found)
        assert "PodCliqueSet llama created" in found.words


class TestHP021:
    """On a page of another command each section with a heading MUST have an id: the name of the object in the heading,
    else the heading. A filter keeps entries whole. The list of keys has only keys that do something.
    """

    @pytest.mark.parametrize(
        ("heading", "expected"),
        [
            ("ml/llama  line 5", "llama"),
            ("TERMINATED  replica 2 of PodCliqueSet ml/llama  at 03:25:20Z", "llama-2"),
            ("what happened", "what_happened"),
        ],
    )
    def test_ids_of_sections(self, heading: str, expected: str) -> None:
        page = StyledTextPage()
        page.add_line("a verdict")
        for _ in range(2):
            page.add_line()
            page.add_line((heading, "bold"))
            page.add_line("  a line")
        found = parsed(report_html("why", page))
        assert_sound(found)
        assert expected in found.ids
        assert len([one for one in found.ids if not one.startswith("-")]) == 2

    def test_lines_with_those_that_belong_to_them(self) -> None:
        page = StyledTextPage()
        for line in ("  1.4s  scheduler  a", "        kubelet    b", "5m40s   operator   c", "  5m41s  operator  d"):
            page.add_line(line)
        page.add_line()
        for line in ("  breach: True", "    1 ready", "  termination: Wait"):
            page.add_line(line)
        sections = [report_section(one, HtmlAnchorIds(), None) for one in html_sections(page)]
        assert [[len(block) for block in one.blocks] for one in sections] == [[2, 1, 1], [2, 1]]
        assert [one.has_columns for one in sections] == [True, False]

    def test_a_short_page_has_neither_filter_nor_its_keys(self, tmp_path: Path) -> None:
        short, long = (
            parsed(page_of(tmp_path, *COMMANDS[command], command=command)) for command in ("why", "simulate")
        )
        assert "-filter" not in short.ids
        assert "clear the filter" not in short.words
        assert "-filter" in long.ids
        assert "clear the filter" in long.words
        assert "llama-0-worker" in long.ids

    @pytest.mark.req("HP-002")
    def test_a_dump_full_of_markup(self, tmp_path: Path) -> None:
        dump = str(hostile_dump(tmp_path))
        words = ("pclq/qwen-1-worker", "-f", dump)
        found = parsed(page_of(tmp_path, *words, command="explain"))
        assert_sound(found)
        assert len(found.scripts) == 1
        assert "qwen-1-worker-nxfng" in found.ids


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
