"""Completion of names: what shells and kubectl ask for and get."""

import os
import subprocess
import sys
from itertools import chain, repeat
from pathlib import Path
from typing import Final

import pytest
from click.shell_completion import BashComplete

from grove_shell.actions.completion_object_names import LONGEST_S, object_names_in_files
from grove_shell.cli.kubectl_completion import complete_for_kubectl
from grove_shell.cli.main import grove

ROOT: Final = Path(__file__).parents[2]
DEGRADED: Final = str(ROOT / "examples/degraded.yaml")
REAL: Final = str(ROOT / "examples/real-cluster.yaml")
TOPOLOGIES: Final = str(ROOT / "examples/topology/clouds")
SETS: Final = ["deepseek", "gemma", "llama-70b", "mixtral", "phi", "qwen"]


def completed(*words: str) -> list[str]:
    """What a shell is offered for the last word."""
    *before, incomplete = words
    return [item.value for item in BashComplete(grove, {}, "grove", "").get_completions(before, incomplete)]


class TestCL116:
    """Shells MUST complete the names of sets, KIND/NAME and topologies from the files given with `-f`, or with `--live`
    from the cluster, within 3 seconds and without an error, and names of files after `-f`.
    """

    @pytest.mark.parametrize("command", ["plan", "tree", "compare"])
    def test_sets(self, command: str) -> None:
        assert completed(command, "-f", DEGRADED, "") == SETS
        assert completed(command, "-f", DEGRADED, "ll") == ["llama-70b"]
        assert completed(command, "-f", DEGRADED, "inference/q") == ["inference/qwen"]
        assert completed(command, "-f", DEGRADED, "-n", "other", "") == []
        assert completed(command, "") == []

    def test_sets_of_several_namespaces(self) -> None:
        offered = completed("plan", "-f", DEGRADED, "-f", REAL, "")
        assert "inference/qwen" in offered
        assert "llm-serving/qwen" in offered
        assert completed("plan", "-f", DEGRADED, "-f", REAL, "gem") == ["gemma"]

    @pytest.mark.parametrize(
        ("word", "offered"),
        [
            ("p", ["pcs/", "pcsg/", "pclq/", "pg/", "po/", "podgroup/"]),
            ("pclq/qwen-0-p", ["pclq/qwen-0-pool-0-pf"]),
            ("PodClique/qwen-0-p", ["PodClique/qwen-0-pool-0-pf"]),
            ("pcs/", [f"pcs/{name}" for name in SETS]),
            ("sec", ["secret/"]),
            ("secret/", []),
            ("nonsense/", []),
        ],
    )
    def test_objects(self, word: str, offered: list[str]) -> None:
        assert completed("explain", "-f", DEGRADED, word) == offered

    def test_why_offers_its_kinds(self) -> None:
        assert completed("why", "") == ["pcs/", "pcsg/", "pclq/", "po/"]
        assert completed("why", "-f", DEGRADED, "pcs/m") == ["pcs/mixtral"]

    def test_topologies(self) -> None:
        assert completed("topology", "impact", "-f", TOPOLOGIES, "") == ["aws-p5", "gcp-a3", "grove-topology"]

    def test_files_are_left_to_the_shell(self) -> None:
        (item,) = BashComplete(grove, {}, "grove", "").get_completions(["plan", "-f"], "exam")
        assert (item.type, item.value) == ("file", "exam")

    def test_reading_ends_in_time(self) -> None:
        at = chain(repeat(0.0, 30), repeat(LONGEST_S + 0.1))
        found = object_names_in_files([DEGRADED], ("PodCliqueSet",), lambda: next(at))
        assert sorted(one.name for one in object_names_in_files([DEGRADED], ("PodCliqueSet",), lambda: 0.0)) == SETS
        assert 0 < len(found) < len(SETS)

    @pytest.mark.parametrize("words", [("-f", __file__), ("-f", "-"), ("--live", "--kubeconfig", "/no/such/file")])
    def test_what_cannot_be_read_is_no_error(self, words: tuple[str, ...]) -> None:
        assert completed("plan", *words, "") == []

    def test_a_shell_sees_nothing_else(self) -> None:
        asked = {
            "_GROVE_COMPLETE": "bash_complete",
            "COMP_WORDS": "grove plan --live --kubeconfig /no/file ",
            "COMP_CWORD": "5",
        }
        words = (sys.executable, "-m", "grove_shell")
        done = subprocess.run(words, capture_output=True, cwd=ROOT, check=False, env={**os.environ, **asked})
        assert (done.stdout, done.stderr) == (b"\n", b"")


class TestCL117:
    """The program `kubectl_complete-grove` MUST print to kubectl what shells complete for `grove`, in the form that
    kubectl reads.
    """

    @pytest.mark.parametrize(
        ("words", "says"),
        [
            (("pl",), "plan\tShow what the operator will do, in which...\n:4\n"),
            (("plan", "-f", DEGRADED, "m"), "mixtral\n:4\n"),
            (("plan", "-f", ""), ":0\n"),
            (("plan", "--fail-on", "wi"), "withheld\n:4\n"),
        ],
    )
    def test_lines(self, words: tuple[str, ...], says: str, capsys: pytest.CaptureFixture[str]) -> None:
        assert complete_for_kubectl(words) == 0
        assert capsys.readouterr().out == says

    def test_without_a_word(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert complete_for_kubectl(()) == 0
        assert capsys.readouterr().out.startswith("plan\t")

    def test_the_program_is_known_by_its_name(self, tmp_path: Path) -> None:
        program = tmp_path / "kubectl_complete-grove"
        program.write_text("from grove_shell.__main__ import main\n\nmain()\n")
        done = subprocess.run((sys.executable, program, "topology", "ch"), capture_output=True, cwd=ROOT, check=False)
        assert (done.returncode, done.stderr) == (0, b"")
        assert done.stdout == b"check\tCheck whether each gang of a set fits on...\n:4\n"
