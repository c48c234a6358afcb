"""``grove compare`` with a manifest beside the dump: it names what it takes into the comparison (CL-102)."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

import grove_shell as grove
from grove_shell.cli.main import run_command_line
from grove_shell.redaction import ObjectRedaction
from tests.command_line.test_open_plans import NOW, REAL, Json, file_of, manifest_of
from tests.kubectl_yaml import items_in

QWEN: Final = "llm-serving/qwen"
Compared = Callable[..., tuple[int, str, Json]]


@pytest.fixture
def compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Compared:
    """Return the exit code, the page and the document of a comparison of a cluster and an edit of ``qwen``."""

    def found(
        *options: str, command: str = "compare", image: str = "other:1", salt: bytes = b""
    ) -> tuple[int, str, Json]:
        edited, items = copy.deepcopy(manifest_of("qwen", "llm-serving")), list(items_in(REAL))
        edited["spec"]["template"]["cliques"][1]["spec"]["podSpec"]["containers"][0]["image"] = image
        shown = ObjectRedaction(salt).redacted_objects(copy.deepcopy(items)) if salt else items
        files = (file_of(tmp_path / "cluster.json", shown), file_of(tmp_path / "edited.json", [edited]))
        words = [command, "-f", files[0], "-f", files[1], *NOW, "--until", "5m", *options]
        code = run_command_line([*words, "--fail-on", "unknown"], "grove")
        page = capsys.readouterr().out
        assert run_command_line([*words, "-o", "json"], "grove") == 0
        return code, page, json.loads(capsys.readouterr().out)

    return found


@pytest.mark.req("CL-102")
@pytest.mark.parametrize("command", ["compare", "upgrade-check"])
def test_cl102_an_edit_is_named(command: str, compared: Compared) -> None:
    code, page, document = compared(command=command)
    note = f"note: planned as if the manifest in the input had just been applied to {QWEN}\n"
    assert (code, document["edited"]) == (0, [QWEN])
    assert note in page.partition("\n\n")[0] + "\n"
    assert "applied to" in compared("-o", "markdown", command=command)[1]


@pytest.mark.req("CL-102", "ED-015")
@pytest.mark.parametrize("salt", [b"", b"salt"])
def test_cl102_an_explanation_names_the_edit_of_its_set(
    salt: bytes, compared: Compared, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hidden = compared(salt=salt)[2]
    (one,) = (found for found in hidden["sets"] if found["root"]["name"] == "qwen")
    paths = {QWEN: one["notCompared"]} if salt else {}
    words = ["explain", "-f", str(tmp_path / "cluster.json"), "-f", str(tmp_path / "edited.json"), *NOW]
    for target, names in (("pcs/qwen", [QWEN]), ("pcs/embed", [])):
        assert run_command_line([*words, target], "grove") == 0
        head = capsys.readouterr().out.partition("PodCliqueSet llm-serving/")[0]
        note = f"note: planned as if the manifest in the input had just been applied to {QWEN}\n"
        assert (note in head) == bool(names)
        assert ("redacted values is not seen" in head) == bool(names and paths)
        assert run_command_line([*words, target, "-o", "json"], "grove") == 0
        document = json.loads(capsys.readouterr().out)
        assert document.get("edited", []) == names
        assert document.get("notCompared", {}) == (paths if names else {})


@pytest.mark.req("CL-102", "IN-087")
def test_in087_a_comparison_names_what_it_leaves_out(compared: Compared) -> None:
    code, page, document = compared("embed")
    assert (code, document["notPlanned"], "edited" in document) == (3, [QWEN], False)
    assert page.startswith("1 manifest not planned; no termination under either rule set in 1 PodCliqueSet\n")
    assert f"note: manifests of sets that are not selected are not planned: {QWEN}\n" in page


@pytest.mark.req("CL-102", "ED-015")
def test_ed015_a_comparison_names_what_a_capture_redacted(compared: Compared, tmp_path: Path) -> None:
    code, page, document = compared(salt=b"salt")
    (one,) = (found for found in document["sets"] if found["root"]["name"] == "qwen")
    assert code == 3
    assert page.startswith("1 edit not compared in full: values are redacted; ")
    assert f"note: {QWEN}: an edit of {len(one['notCompared'])} redacted values is not seen: spec.template." in page
    files = [str(tmp_path / name) for name in ("cluster.json", "edited.json")]
    (sentence,) = grove.compare(grove.read(files, now=NOW[1]), "field", "design").unknown
    assert f"note: {sentence}\n" in page
