"""The real executable in a process of its own: streams, terminals, pipes, imports."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest
import yaml

from grove_shell.cli.main import run_command_line
from tests.command_line.process import GROVE, ROOT, grove, on_a_terminal

DEGRADED: Final = ROOT / "examples/degraded.yaml"
NOW: Final = ["--now", "2026-11-20T09:00:00Z"]
HEAVY: Final = (
    "pydantic",
    "msgspec",
    "matplotlib",
    "grove_shell.simulator",
    "yaml",
    "rich",
    "kubernetes",
    "asyncio",
    "json",
    "aiohttp",
    "grove_core.reconcile",
)


def test_cl001_standard_input_and_both_streams() -> None:
    done = grove("plan", "-f", "-", *NOW, stdin=DEGRADED.read_bytes())
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == grove("plan", "-f", str(DEGRADED), *NOW).stdout


def test_cl005_what_cannot_be_written_is_named() -> None:
    done = grove("plan", "-f", str(DEGRADED), *NOW, "--out", "nowhere/plan.json")
    assert (done.returncode, done.stderr) == (1, b"cannot write nowhere/plan.json: No such file or directory\n")


def test_cl049_colours_only_on_a_terminal() -> None:
    assert b"\x1b[" not in grove("plan", "-f", str(DEGRADED), *NOW).stdout
    assert b"\x1b[" in on_a_terminal("plan", "-f", str(DEGRADED), *NOW)
    assert b"\x1b[" not in on_a_terminal("plan", "-f", str(DEGRADED), *NOW, NO_COLOR="1")


def test_cl049_a_terminal_without_colours_shows_what_a_pipe_gets() -> None:
    said = on_a_terminal("plan", "-f", str(DEGRADED), *NOW, NO_COLOR="1", COLUMNS="500")
    assert said.replace(b"\r\n", b"\n") == grove("plan", "-f", str(DEGRADED), *NOW).stdout


def test_cl089_long_lines_are_wrapped_below_their_text_on_a_terminal() -> None:
    words = ("plan", "-f", str(DEGRADED), *NOW)
    wide = grove(*words).stdout.decode().splitlines()
    lines = on_a_terminal(*words, NO_COLOR="1", COLUMNS="80").decode().replace("\r\n", "\n").splitlines()
    assert max(map(len, wide)) > 80 >= max(map(len, lines))
    assert " ".join(" ".join(lines).split()) == " ".join(" ".join(wide).split())


def test_cl001_long_work_is_counted_on_one_line_and_leaves_nothing_on_the_terminal() -> None:
    code = """
import time
from grove_shell.views.progress_bars import progress_counter
for patience in (0, 0.8):
    with progress_counter("reading", "object") as count:
        time.sleep(patience)
        for _ in range(1000):
            count(None)
print("the page")
"""
    said = on_a_terminal(program=[sys.executable, "-c", code])
    assert said == b"\r\x1b[Kreading: 500 objects\r\x1b[Kreading: 1,000 objects\r\x1b[Kthe page\r\n"


@pytest.mark.parametrize(("variable", "styled"), [("FORCE_COLOR", True), ("NO_COLOR", False)])
def test_cl049_colours_in_a_pipe_only_where_they_are_forced(variable: str, styled: bool) -> None:
    words = [*GROVE, "plan", "-f", str(DEGRADED), *NOW]
    environment = {**os.environ, "TERM": "xterm", variable: "1"}  # a dumb terminal has no colours to force
    done = subprocess.run(words, capture_output=True, cwd=ROOT, check=True, env=environment, timeout=60)
    assert (b"\x1b[" in done.stdout) == styled


@pytest.mark.parametrize(
    "words", [[], ["plan"], ["explain"], ["validate"], ["simulate"], ["manifests"], ["topology"], ["topology", "check"]]
)
def test_cl003_help_imports_click_only(words: list[str]) -> None:
    words = [*words, "--help"]
    code = (
        "import sys\nfrom grove_shell.cli.main import run_command_line\n"
        f"run_command_line({words!r}, 'grove')\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, cwd=ROOT, check=True, timeout=60)
    assert done.stderr.strip() == b"[]"
    assert b"Usage: grove" in done.stdout


def test_cl003_a_plan_of_a_dump_loads_no_definitions() -> None:
    code = (
        "import sys\nfrom grove_shell.cli.main import run_command_line\n"
        f"run_command_line(['plan', '-f', {str(DEGRADED)!r}, *{NOW!r}], 'grove')\n"
        "print([name for name in sys.modules if name.startswith('grove_shell.manifests')], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, cwd=ROOT, check=True, timeout=60)
    assert done.stderr.strip() == b"[]"


@pytest.mark.parametrize(
    ("words", "module", "function", "reported"),
    [
        (["operator"], "operator_and_webhooks", "run_operator", "on"),
        (["webhooks"], "operator_and_webhooks", "run_webhooks", "on"),
        (["daemon", "--domain", "ml/fast", "--clique", "c"], "daemon_and_domain_controller", "run_daemon", "on"),
        (["domain-controller"], "daemon_and_domain_controller", "run_domain_controller", "on"),
        (["plan", "-f", "x"], "plan", "plan_and_print", "off"),
    ],
)
def test_cl003_only_what_ends_soon_runs_without_the_collector(
    words: list[str], module: str, function: str, reported: str
) -> None:
    """The executable, not the function that runs commands: it is there that the collector was once turned off."""
    code = (
        f"import gc, sys\nimport grove_shell.__main__, grove_shell.actions.{module} as action\n"
        f"action.{function} = lambda *words, **more: print('on' if gc.isenabled() else 'off') or 0\n"
        f"sys.argv = ['grove', *{words!r}]\ngrove_shell.__main__.main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, cwd=ROOT, check=True, timeout=60)
    assert done.stdout.split() == [reported.encode()]


@pytest.mark.parametrize("command", ["plan", "explain", "validate"])
def test_cl003_help_teaches_with_an_example(command: str) -> None:
    assert f"grove {command} -f".encode() in grove(command, "--help").stdout


def test_cl001_a_closed_pipe_is_no_error() -> None:
    with subprocess.Popen(
        [*GROVE, "plan", "-f", str(DEGRADED), *NOW, "-v"], stdout=subprocess.PIPE, cwd=ROOT
    ) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.wait(timeout=60) == 0


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_cl001_completion_scripts(shell: str) -> None:
    done = grove("completion", shell)
    assert done.returncode == 0
    assert b"_GROVE_COMPLETE" in done.stdout


def test_cl001_completion_knows_commands_of_commands() -> None:
    asked = {**os.environ, "_GROVE_COMPLETE": "bash_complete", "COMP_WORDS": "grove topology ", "COMP_CWORD": "2"}
    done = subprocess.run([*GROVE[:-1], "grove_shell"], capture_output=True, cwd=ROOT, check=False, env=asked)
    assert done.stdout.split() == [b"plain,check", b"plain,impact", b"plain,list"]


def test_pl001_the_same_bytes_under_another_hash_seed() -> None:
    words = [*GROVE, "plan", "-f", str(DEGRADED), *NOW, "-o", "json", "--decisions", "--until", "6h"]
    said = {
        subprocess.run(
            words, capture_output=True, cwd=ROOT, check=True, env={**os.environ, "PYTHONHASHSEED": seed}
        ).stdout
        for seed in ("0", "1", "4711")
    }
    assert len(said) == 1
    assert json.loads(said.pop())["summary"]["delete"] == 12


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["plan", "-f", "nowhere"], 1),
        (["plan", "--bogus"], 64),
        (["explain", "-f", "nowhere", "nonsense"], 64),
        (["simulate", "nowhere"], 1),
        (["converge", "--from", "nowhere"], 64),
        (["daemon", "--domain", "ml/d", "--clique", "c", "--fabric", "'no end"], 64),
        (["plan", "-f", str(DEGRADED), *NOW], 0),
        (["validate", "-f", "nowhere", "-f", str(ROOT / "examples/manifests/disaggregated.yaml"), "-o", "json"], 1),
    ],
)
def test_cl001_a_closed_standard_error_is_no_standard_output(
    words: list[str], code: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing ends in a traceback, and what is wrong does not get into a document."""
    monkeypatch.setattr(sys, "stderr", None)
    assert run_command_line(words, "grove") == code
    said = capsys.readouterr().out
    assert "nowhere" not in said
    assert "Usage" not in said
    if "json" in words:
        assert json.loads(said)["verdicts"]


@pytest.mark.parametrize(
    ("redirection", "code"),
    [("<&-", 0), (">&-", 0), ("2>&-", 0), ("> /dev/full", 1), ("| head -1", 0)],
)
@pytest.mark.req("CL-005")
def test_cl001_streams_that_are_closed_or_full(redirection: str, code: int) -> None:
    command = f"{sys.executable} -m grove_shell plan -f {DEGRADED} {' '.join(NOW)} {redirection}"
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, cwd=ROOT, check=False, timeout=60)
    assert (done.returncode, b"Traceback" in done.stderr, b"Exception" in done.stderr) == (code, False, False)


def test_cl001_an_ascii_terminal_shows_what_it_can() -> None:
    done = subprocess.run(
        [*GROVE, "plan", "-f", str(DEGRADED), *NOW, "--until", "6h"],
        capture_output=True,
        cwd=ROOT,
        check=False,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )
    assert (done.returncode, done.stderr) == (0, b"")


def test_in040_pods_that_a_selector_left_out_are_spoken_of(tmp_path: Path) -> None:
    healthy = ROOT / "tests/snapshots/s2-healthy.yaml"
    dump = yaml.load(healthy.read_text(encoding="utf-8"), yaml.CSafeLoader)
    kept = [item for item in dump["items"] if "qwen-1-worker" not in item["metadata"]["name"] or item["kind"] != "Pod"]
    cut = tmp_path / "cut.json"
    cut.write_text(json.dumps({**dump, "items": kept}, default=lambda time: f"{time:%FT%TZ}"), encoding="utf-8")
    assert b"selector" not in grove("plan", "-f", str(healthy)).stdout
    said = grove("plan", "-f", str(cut)).stdout
    assert b"note: the status of llm-serving/qwen-1-worker counts pods, and the input has none of them." in said


def test_in040_a_set_whose_cliques_a_selector_left_out_is_spoken_of(tmp_path: Path) -> None:
    """Others have theirs, so nothing says that PodCliques were not collected."""
    dump = yaml.load(DEGRADED.read_text(encoding="utf-8"), yaml.CSafeLoader)
    lost = {"PodClique", "Pod"}
    kept = [
        item for item in dump["items"] if not (item["kind"] in lost and item["metadata"]["name"].startswith("gemma"))
    ]
    assert len(kept) < len(dump["items"])
    cut = tmp_path / "cut.json"
    cut.write_text(json.dumps({**dump, "items": kept}, default=lambda time: f"{time:%FT%TZ}"), encoding="utf-8")
    words = b"note: the status of inference/gemma counts available replicas, and the input has no PodClique of them."
    assert words in grove("plan", "-f", str(cut), *NOW).stdout
    assert words not in grove("plan", "-f", str(DEGRADED), *NOW).stdout
    groupless = [item for item in dump["items"] if item["kind"] != "PodCliqueScalingGroup"]
    cut.write_text(json.dumps({**dump, "items": groupless}, default=lambda time: f"{time:%FT%TZ}"), encoding="utf-8")
    assert b"the input has no PodClique of them" not in grove("plan", "-f", str(cut), *NOW).stdout
