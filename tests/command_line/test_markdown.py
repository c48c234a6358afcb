"""``-o markdown``: read as a Markdown parser reads it."""

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token

from grove_core.kernel.time_formats import format_time, parse_time
from grove_shell.styled_text_page import StyledTextPage
from grove_shell.views.markdown_page import page_as_markdown
from grove_shell.views.markdown_text import MOST_CHARACTERS, MarkdownDocument, markdown_text
from tests.command_line.process import ROOT
from tests.html.reading import HOSTILE, Document, run

EXAMPLES: Final = ROOT / "examples"
DEGRADED: Final = ("-f", str(EXAMPLES / "degraded.yaml"), "--now", "2026-11-20T09:00:00Z")
REAL: Final = EXAMPLES / "real-cluster.yaml"
EDIT: Final = ("-f", str(REAL), "-f", str(EXAMPLES / "edits/qwen-new-image.yaml"), "--now", "2026-11-21T09:40:15Z")
READER: Final = MarkdownIt("commonmark").enable(["table", "strikethrough"])
HAZARDS: Final = (
    *("@grove/team", "#12", "ml#12", "`code`", "a|b", "<b>x</b>", "<!-- x", "*a* _b_ ~~c~~", "[x](http://a.b)"),
    *("- item", "+ item", "1. item", "2) item", "# head", "> quote", "---", "===", "a\nb", "    indented", "\\", "\\*"),
    *("&lt;b&gt;", "&#64;x", "![i](j)", "</details>", "```", "~~~", "$x$", "www.a.b", "http://a.b", HOSTILE),
)
_NO_WIDTH: Final = "\u200b"


def markdown_of(*words: str, code: int = 0) -> str:
    done = run(*words, "-o", "markdown")
    assert done.code == code
    return done.out


def shown_text(tokens: list[Token]) -> str:
    """Return the text that a reader sees, without the signs of no width that end mentions."""
    parts: list[str] = []
    for token in tokens:
        for inner in token.children or ():
            assert inner.type in {"text", "text_special", "softbreak", "strong_open", "strong_close"}, inner
            parts.append(inner.content)
    return "".join(parts).replace(_NO_WIDTH, "")


def tables(text: str) -> list[list[list[str]]]:
    """Return the cells of every table, row by row."""
    found: list[list[list[str]]] = []
    tokens = READER.parse(text)
    for number, token in enumerate(tokens):
        if token.type == "table_open":
            found.append([])
        elif token.type == "tr_open":
            found[-1].append([])
        elif token.type in {"th_open", "td_open"}:
            found[-1][-1].append(shown_text([tokens[number + 1]]))
    return found


def parsed_time(text: str, day: datetime | None = None) -> datetime:
    """Return a time of a page; one without a date is on the given day."""
    found = parse_time(text if day is None or "T" in text else f"{day:%Y-%m-%d}T{text}")
    assert found is not None
    return found


def html_of(text: str) -> Document:
    found = Document()
    found.feed(READER.render(text))
    found.close()
    return found


class TestCL090:
    """With `-o markdown` a command MUST print its result as Markdown that begins with the verdict of its text page. A
    plan has a table of its terminations, each with its own time, replica, cause, pods and GPUs, and one of the restarts
    of each edit; long parts are folded.
    """

    def test_terminations_of_a_plan(self) -> None:
        text = markdown_of("plan", *DEGRADED, "--until", "24h")
        page = run("plan", *DEGRADED, "--until", "24h").out
        assert shown_text(READER.parse(text.splitlines()[0])) == page.splitlines()[0]
        assert text.startswith("**2 replicas to terminate now")
        (head, *rows), *_ = tables(text)
        assert head == ["time", "replica", "cause", "pods", "GPUs"]
        summary = json.loads(run("plan", *DEGRADED, "--until", "24h", "-o", "json").out)["summary"]["terminations"]
        assert len(rows) == summary["replicas"]
        assert sum(int(row[3].split()[0]) for row in rows) == summary["pods"]
        assert sum(int(row[4]) for row in rows) == summary["gpus"]
        assert [row[0] for row in rows] == ["now", "now", "10:15:00Z (in 1h15m)"]
        assert rows[2][1] == "inference/qwen replica 0"
        assert rows[2][2].startswith("PodClique qwen-0-decode: 1 ready, at least 2 needed; breached since")

    def test_a_repeated_termination_has_its_own_cause(self) -> None:
        text = markdown_of("plan", *DEGRADED, "--until", "24h", "--rules", "field", "inference/qwen")
        first, *again = tables(text)[0][1:]
        assert first[2].endswith("since 2026-11-20T06:15:00Z; the delay of 4h ends at 2026-11-20T10:15:00Z")
        assert len(again) == 5  # the last three stand in no round of the plan: they repeat (PL-024)
        begun = parsed_time("2026-11-20T10:15:00Z")
        for row in again:
            ended = begun + timedelta(hours=4)
            assert parsed_time(row[0].split(" ")[0], begun) == ended
            between = f"since {format_time(begun)}; the delay of 4h ended at {format_time(ended)}"
            assert row[2] == f"PodCliqueScalingGroup qwen-0-pool: breached {between}"
            begun = ended

    def test_steps_are_folded(self) -> None:
        text = markdown_of("plan", *DEGRADED, "--until", "24h")
        found = html_of(text)
        names = [tag for tag, _ in found.tags]
        assert names.count("details") == names.count("summary") >= 2
        assert not found.unbalanced
        page = run("plan", *DEGRADED, "--until", "24h").out
        assert [line for line in page.splitlines()[4:] if line.strip() and line not in found.text] == []

    def test_restarts_of_an_edit(self) -> None:
        text = markdown_of("plan", *EDIT, "--rules", "design", "llm-serving/qwen")
        assert text.startswith("**restarts 8 pods with 12 GPUs")
        fields, stages = tables(text)
        assert fields[0] == ["field", "before", "after", "effect"]
        assert fields[1][3] == "restarts pods of worker"
        assert stages[0] == ["stage", "what", "pods", "GPUs", "names", "then"]
        assert [sum(int(row[place]) for row in stages[1:]) for place in (2, 3)] == [8, 12]
        assert "- note: planned as if the manifest" in text

    def test_without_until_the_impact_is_not_known(self) -> None:
        text = markdown_of("plan", *DEGRADED, "inference/qwen")
        assert tables(text)[0][1][3:] == ["", ""]
        assert "known with --until" in text

    def test_comparison(self) -> None:
        words = ("compare", "-f", str(REAL), "--until", "1h")
        text = markdown_of(*words)
        assert text.startswith("**4 PodCliques would be kept that are terminated today**\n")
        head, *rows = tables(text)[0]
        assert head[:2] == ["change", "PodCliques"]
        assert [row[0] for row in rows] == ["SPARED", "SPARED"]
        assert rows[0][2] == "deepseek-0-prefill replica 0 terminated 09:41:00Z (in 1m)"
        assert rows[0][3:] == ["4 (2 ready)", "16", "kept", "", ""]

    def test_validation(self) -> None:
        text = markdown_of("validate", "-f", str(EXAMPLES / "manifests"), code=1)
        assert text.startswith("**1 of 2 manifests refused, 4 problems**\n")
        rows = tables(text)[0][1:]
        assert [row[0].rpartition(":")[2] for row in rows] == ["28", "35", "43", "42"]
        assert {row[1] for row in rows} == {"error"}
        assert rows[0][3] == "CliqueThresholdOutOfRange GT-094"

    def test_validation_of_nothing(self, tmp_path: Path) -> None:
        path = tmp_path / "broken.yaml"
        path.write_text("kind: [", encoding="utf-8")
        text = markdown_of("validate", "-f", str(path), code=1)
        assert text.startswith("**nothing was checked: no PodCliqueSet in the input, 1 problem**")
        assert "broken.yaml" in tables(text)[0][1][0]

    @pytest.mark.parametrize(
        ("words", "code", "verdict"),
        [
            (("explain", "-f", str(REAL), "pclq/qwen-1-worker"), 0, 1),  # its first line is the time
            (("topology", "check", "-f", str(EXAMPLES / "topology/clouds"), "ml-team/chat"), 3, 0),
            (("why", "-f", str(REAL), "pcs/qwen"), 0, 0),
        ],
        ids=["explain", "topology check", "why"],
    )
    def test_other_commands_have_every_line(self, words: tuple[str, ...], code: int, verdict: int) -> None:
        text = markdown_of(*words, code=code)
        page = run(*words).out
        assert shown_text(READER.parse(text.splitlines()[0])) == page.splitlines()[verdict]
        found = html_of(text).text.replace(_NO_WIDTH, "")
        assert [line for line in page.splitlines() if line.strip() and line not in found] == []


class TestCL091:
    """In Markdown every text of an input or a server MUST appear as text. None of it is markup, HTML, a line end, a
    mention, a reference or a link.
    """

    @pytest.mark.parametrize("hazard", HAZARDS)
    def test_every_text_is_text(self, hazard: str) -> None:
        page = StyledTextPage()
        page.add_line(hazard)
        wanted = page.plain_text.strip()
        for around in ("{}", "- {}", "**{}**", "|  |\n| --- |\n| {} |"):
            harmless, tokens = (READER.parse(around.format(text)) for text in ("x", markdown_text(hazard)))
            assert shown_text(tokens) == wanted
            assert [token.type for token in tokens] == [token.type for token in harmless]

    def test_no_mention_reference_or_link(self) -> None:
        text = markdown_text("cc @ops, see #12, https://a.b, www.a.b, x@a.b")
        assert [sign for sign in ("@o", "#1", "@a", "://", "www.") if sign in text] == []
        assert [sign for sign in ("@o", "#1", "@a") if sign in READER.render(text)] == []  # the site reads these last

    def test_blocks_end_where_they_should(self) -> None:
        page = StyledTextPage()
        page.add_line("verdict")
        page.add_line()
        for _ in range(20):
            page.add_line("~~~~~~")
            page.add_line("~~~~~~ </details> ```")
        tokens = READER.parse(page_as_markdown(page))
        fences = [token for token in tokens if token.type == "fence"]
        assert [len(fence.content.splitlines()) for fence in fences] == [40]
        assert [token.content.strip() for token in tokens if token.type == "html_block"][-1] == "</details>"

    def test_summaries_are_text(self) -> None:
        written, page = MarkdownDocument("grove plan"), StyledTextPage()
        for number in range(20):
            page.add_line(f"line {number}")
        written.add_page(page, HOSTILE + " @team")
        found = html_of(written.text())
        assert {tag for tag, _ in found.tags} == {"details", "summary", "pre", "code"}
        assert f"@{_NO_WIDTH}team" in found.text

    def test_a_hostile_dump(self, tmp_path: Path) -> None:
        items = list(yaml.safe_load_all((EXAMPLES / "degraded.yaml").read_text(encoding="utf-8")))
        text = json.dumps(items[0])
        dump = tmp_path / "dump.json"
        dump.write_text(json.dumps(_with_messages(json.loads(text), f"@team | #1 {HOSTILE}")), encoding="utf-8")
        found = markdown_of("plan", "-f", str(dump), "--now", "2026-11-20T09:00:00Z", "--until", "24h")
        tags = {tag for tag, _ in html_of(found).tags}
        assert tags <= {*("p", "strong", "table", "thead", "tbody", "tr", "th", "td", "ul", "li", "pre", "code")} | {
            *("details", "summary", "br")
        }


def _with_messages(value: Any, text: str) -> Any:
    """Return JSON with another text in each message and reason."""
    if isinstance(value, list):
        return [_with_messages(one, text) for one in value]
    if not isinstance(value, Mapping):
        return value
    return {
        key: text if key in {"message", "image"} and isinstance(one, str) else _with_messages(one, text)
        for key, one in value.items()
    }


class TestCL092:
    """A result in Markdown MUST have at most 60,000 characters. Where lines are left out, its last sentence counts them
    and names the command that prints everything.
    """

    @pytest.mark.parametrize("lines", [10, 900, 5_000])
    def test_long_pages(self, lines: int) -> None:
        page = StyledTextPage()
        page.add_line("verdict")
        for number in range(lines):
            page.add_line("" if number % 500 == 0 else f"{number} " + "x" * 60)
        text = page_as_markdown(page)
        assert text.startswith("**verdict**\n")
        assert len(text) <= MOST_CHARACTERS
        assert ("Left out" in text) is (lines > 900 or len(page.plain_text) > MOST_CHARACTERS)
        assert not html_of(text).unbalanced

    def test_counts(self) -> None:
        written = MarkdownDocument("grove plan")
        written.add_verdict("v")
        written.add_table(("a", "b"), [(f"{number}", "x" * 300) for number in range(500)], "termination")
        text = written.text()
        rows = len(tables(text)[0]) - 1
        assert 0 < rows < 500
        last = text.splitlines()[-1]
        assert f"{500 - rows:,} terminations" in last
        assert "`grove plan`" in last
        assert MOST_CHARACTERS - 1_500 < len(text) <= MOST_CHARACTERS

    def test_long_cells_are_cut(self) -> None:
        assert markdown_text("x" * 500, 400) == "x" * 399 + "…"
