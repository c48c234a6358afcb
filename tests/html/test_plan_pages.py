"""Pages of plans: one file without a network, text as text, the same bytes, and everything that the text page says."""

import base64
import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from benchmarks.data.lists import Form, write_list
from tests.command_line.process import ROOT, grove
from tests.html.reading import (
    EXAMPLES,
    HOSTILE,
    REAL,
    Document,
    hostile_dump,
    objects_of,
    page_of,
    parsed,
    run,
    walked,
)

REPEATS: Final = ROOT / "tests" / "snapshots" / "s9a-termination-without-capacity.yaml"
EDIT: Final = EXAMPLES / "edits" / "qwen-new-image.yaml"
NOW: Final = "2026-11-21T12:00:00Z"
PLANS: Final = {
    "real": ("-f", str(REAL), "--until", "30m"),
    "degraded": ("-f", str(EXAMPLES / "degraded.yaml"), "--until", "6h"),
    "edit": ("-f", str(REAL), "-f", str(EDIT)),
    "new": ("-f", str(EXAMPLES / "manifests" / "disaggregated.yaml"), "--now", NOW),
    "domains": ("-f", str(EXAMPLES / "mnnvl" / "llama.yaml"), "--now", NOW),
    "groups": ("-f", str(EXAMPLES / "kubernetes-gangs" / "set.yaml"), "--now", NOW),
    "every verdict": ("-f", str(REAL), "--decisions", "-v"),
}
LARGEST_EXAMPLE: Final = 300_000
LARGEST_OF_1000_PODS: Final = 2_000_000


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("pages")
    return {name: page_of(folder, *words) for name, words in PLANS.items()}


@pytest.fixture(params=list(PLANS))
def page(request: pytest.FixtureRequest, pages: dict[str, str]) -> str:
    return pages[request.param]


def hash_of(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def assert_sound(found: Document) -> None:
    """Every element is closed, every id is there once, and no link leads nowhere."""
    assert not found.unbalanced
    assert not found.left_open
    assert len(found.ids) == len(set(found.ids))
    assert found.targets <= set(found.ids)


class TestHP001:
    """A page MUST be one file that opens from disk. Its Content-Security-Policy allows its own style and its own
    script, each by its hash, and no request, frame, form or other source.
    """

    def test_elements_and_links_are_sound(self, page: str) -> None:
        assert_sound(parsed(page))

    def test_the_policy_allows_this_style_and_this_script_alone(self, page: str) -> None:
        found = parsed(page)
        (style,), (script,) = found.styles, found.scripts
        assert found.policy == (
            f"default-src 'none'; style-src {hash_of(style)}; script-src {hash_of(script)};"
            " base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
        )
        assert "unsafe" not in found.policy

    def test_nothing_is_loaded(self, page: str) -> None:
        found = parsed(page)
        assert not [tag for tag, _ in found.tags if tag in {"img", "link", "iframe", "object", "form", "base", "image"}]
        assert not [name for _, attributes in found.tags for name in attributes if name in {"src", "style", "action"}]
        assert not [name for _, attributes in found.tags for name in attributes if name.startswith("on")]
        assert all(link.startswith("#") for link in found.links)
        assert "url(" not in found.styles[0]
        assert "@import" not in found.styles[0]
        assert not re.search(r"fetch|XMLHttpRequest|import\(|innerHTML|eval", found.scripts[0])

    def test_the_script_is_short(self) -> None:
        lines = (ROOT / "grove_shell" / "html" / "templates" / "script.js").read_text(encoding="utf-8").splitlines()
        assert len(lines) < 200


class TestHP002:
    """Every name, message and value of an input or a server MUST appear as text, with unprintable characters escaped.
    None of it is markup, script, style, a link to another place, or part of the Content-Security-Policy.
    """

    def test_a_dump_full_of_markup(self, tmp_path: Path, pages: dict[str, str]) -> None:
        words = ("-f", str(hostile_dump(tmp_path)), "-f", str(EDIT), "--until", "30m", "--keep-going", "-v")
        page = page_of(tmp_path, *words)
        found = parsed(page)
        assert_sound(found)
        assert {tag for tag, _ in found.tags} <= {tag for tag, _ in parsed(pages["edit"]).tags} | {"circle", "title"}
        assert HOSTILE.removesuffix("\u202e\x1b[31m") + "\\u202e\\x1b[31m" in found.text
        assert "\u202e" not in page
        assert "\x1b" not in page
        assert "<img" not in page
        assert found.policy == parsed(pages["edit"]).policy
        assert len(found.scripts) == len(found.styles) == 1

    def test_names_full_of_markup(self, tmp_path: Path) -> None:
        name = "<script>alert(1)</script> &#x3c;b\u202e"
        changed = walked(objects_of(REAL), lambda _, text: text.replace("qwen", name).replace("embed", "-main"))
        path = tmp_path / "names.json"
        path.write_text(json.dumps(changed), encoding="utf-8")
        found = parsed(page_of(tmp_path, "-f", str(path), "--until", "30m"))
        assert_sound(found)
        assert "<script>alert(1)</script> &#x3c;b\\u202e-1-worker" in found.text
        assert len(found.scripts) == 1
        assert all(link.startswith("#") for link in found.links)
        assert found.ids.count("-main") == 1
        assert not [one for one in found.ids if one != one.strip() or " " in one]


class TestHP003:
    """The same input at the same time MUST give the same page, byte for byte. Only the age of the page is computed
    where it is opened.
    """

    @pytest.mark.parametrize("name", ["real", "new"])
    def test_twice(self, name: str, pages: dict[str, str], tmp_path: Path) -> None:
        assert page_of(tmp_path, *PLANS[name]) == pages[name]


class TestHP004:
    """The page of a plan MUST begin with the headline of the text page, its time and its rule set. Every replica that
    waits or is terminated is on a timeline from now to `--until`: its delay as a bar, each termination as a mark that
    links to its reasons.
    """

    def test_headline_and_clock(self, page: str, request: pytest.FixtureRequest) -> None:
        words = PLANS[request.node.callspec.params["page"]]
        headline, second, *_ = run("plan", *words).out.splitlines()
        found = parsed(page)
        assert all(part in found.words for part in headline.split("; "))
        rules = re.findall(r"rules '([^']*)'", second)
        assert rules[0] in found.words
        assert re.findall(r"\d\d:\d\d:\d\dZ", second)[0] in found.words

    def test_every_termination_has_a_mark_with_a_link_to_its_reasons(self, pages: dict[str, str]) -> None:
        found = parsed(pages["real"])
        marks = [attributes for tag, attributes in found.tags if tag == "a" and "aria-label" in attributes]
        assert [mark["aria-label"] for mark in marks] == [
            "replica 1 terminated at 09:40:29Z, with 5 pods (3 ready) and 4 GPUs",
            "deepseek-0-prefill replica 0 terminated at 09:41:00Z, with 4 pods (2 ready) and 16 GPUs",
        ]
        assert [mark["href"] for mark in marks] == ["#why:qwen-1", "#why:deepseek-0-prefill-0"]
        bars = [attributes for tag, attributes in found.tags if tag == "rect" and "bar" in (attributes["class"] or "")]
        assert len(bars) == 2 + 1  # and the one of the legend

    def test_the_timeline_goes_from_now_to_the_end_of_the_forecast(self, pages: dict[str, str]) -> None:
        found = parsed(pages["real"])
        assert "from now until 2026-11-21T10:10:00Z, 30m, if nothing changes" in found.words
        (now,) = {a["x1"] for tag, a in found.tags if tag == "line" and a["class"] == "now"}
        places = [float(str(a["x"])[:-1]) for tag, a in found.tags if tag == "svg" and a.get("class") == "mark"]
        assert float(str(now)[:-1]) < places[0] < places[1]
        scale = (places[1] - places[0]) / 31  # seconds between the two ends
        assert abs(places[0] - float(str(now)[:-1]) - 29 * scale) < 0.05

    def test_a_termination_that_repeats_has_a_mark_each_time(self, tmp_path: Path) -> None:
        words = ("-f", str(REPEATS), "--now", "2026-11-21T09:49:39Z", "--rules", "field")
        short, long = (parsed(page_of(tmp_path, *words, "--until", span)) for span in ("30m", "9000h"))
        for found, marks in ((short, 30), (long, 50)):
            assert len([one for one in found.links if one.startswith("#why:")]) == marks + 1  # and the name of the row
        again = [int(one.replace(",", "")) for one in re.findall(r"then ([\d,]+) more", long.words)]
        assert 500_000 < again[0] < 600_000
        ticks = {
            name: [a for tag, a in found.tags if tag == "text"] for name, found in (("30m", short), ("9000h", long))
        }
        assert [len(found) for found in ticks.values()] == [1 + 5, 1 + 4]
        labels = [str(a["aria-label"]) for tag, a in short.tags if tag == "a" and "aria-label" in a]
        first, *others = (label.partition(": ") for label in labels)
        assert not first[2]  # its cause is where the link leads
        clocks = [re.findall(r"\d\d:\d\d:\d\d", what + cause) for what, _, cause in others]
        assert all(since < until == at for at, since, until in clocks)  # each by a breach of its own
        assert len({until for _, _, until in clocks}) == 29
        assert "09:55Z10:00Z" in short.words
        assert "2027-02-20" in long.words

    def test_nothing_comes(self, pages: dict[str, str]) -> None:
        assert "What comes" not in parsed(pages["new"]).text


class TestHP006:
    """The id of an object in a page MUST be its name, or namespace and name where another object of the page has the
    name. A link to an id opens everything around the object.
    """

    def test_names(self, pages: dict[str, str]) -> None:
        found = parsed(pages["real"])
        names = {"qwen", "qwen-1", "qwen-1-worker", "deepseek-0-prefill", "deepseek-0-prefill-0", "deepseek-0-frontend"}
        assert names <= set(found.ids)
        assert {name for name in found.ids if name.startswith("qwen-1-worker-")} > set()

    def test_the_same_names_in_two_namespaces(self, tmp_path: Path) -> None:
        other = tmp_path / "other.yaml"
        text = REAL.read_text(encoding="utf-8")
        other.write_text(re.sub(r"(?m)uid: (\S)", r"uid: x\1", text.replace("llm-serving", "other")), encoding="utf-8")
        found = parsed(page_of(tmp_path, "-f", str(REAL), "-f", str(other), "--now", "dump"))
        assert_sound(found)
        assert {"qwen-1-worker", "other/qwen-1-worker"} <= set(found.ids)


class TestHP009:
    """The page of a plan MUST be smaller than 300 kB for each example, and than 2 MB for 1,000 pods. With 10,000 pods
    it is painted first within 2 s.
    """

    def test_examples(self, page: str) -> None:
        assert len(page.encode()) < LARGEST_EXAMPLE

    @pytest.mark.parametrize("rules", ["design", "field"])
    def test_1000_pods(self, rules: str, tmp_path: Path) -> None:
        dump = tmp_path / "dump.json"
        write_list(dump, Form.COMPACT, 1000, owners=True)
        page = page_of(tmp_path, "-f", str(dump), "--now", NOW, "--until", "6h", "--rules", rules)
        assert page.count("<li id=") >= 1000
        assert len(page.encode()) < LARGEST_OF_1000_PODS


class TestHP010:
    """A command without `--html` MUST NOT load the templates or their engine."""

    @pytest.mark.parametrize(("more", "loads"), [((), False), (("--html", "page.html"), True)])
    def test_plan(self, more: tuple[str, ...], loads: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        program = (
            "import sys; from grove_shell.cli.main import run_command_line;"
            f"run_command_line({['plan', '-f', str(REAL), *more]!r}, 'grove');"
            "print([name for name in ('jinja2', 'grove_shell.html.rendering') if name in sys.modules])"
        )
        done = grove_python(program)
        assert done.endswith(f"{['jinja2', 'grove_shell.html.rendering'] if loads else []}\n")


def grove_python(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120)
    return done.stdout


class TestHP012:
    """`--html` MUST change neither what a command prints nor its exit code. A file that cannot be written is an error,
    with exit code 1, after the result was printed.
    """

    @pytest.mark.parametrize("output", ["human", "json"])
    def test_output_and_exit_code(self, output: str, tmp_path: Path) -> None:
        words = ("plan", "-f", str(REAL), "--until", "30m", "-o", output, "--fail-on", "terminate")
        alone, saved = grove(*words), grove(*words, "--html", str(tmp_path / "page.html"))
        assert alone.returncode == saved.returncode == 3
        assert saved.stdout == alone.stdout
        assert saved.stderr == alone.stderr
        assert (tmp_path / "page.html").is_file()

    def test_a_file_that_cannot_be_written(self, tmp_path: Path) -> None:
        path = tmp_path / "no-such-folder" / "page.html"
        done = grove("plan", "-f", str(REAL), "--html", str(path))
        assert done.returncode == 1
        assert done.stdout == grove("plan", "-f", str(REAL)).stdout
        assert done.stderr.decode() == f"cannot write {path}: No such file or directory\n"
