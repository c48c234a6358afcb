"""Golden output of `grove topology`.

A folder has `given.yaml` (output of kubectl), `command.yaml` (the arguments, and the expected exit code, parts of the
document and beginnings of the lines of the page) and `page.txt`, which `pytest --bless` writes.
"""

from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from grove_shell.cli.main import run_command_line

Json = dict[str, Any]
HERE: Final = Path(__file__).parent / "topology"
FOLDERS: Final = sorted(path.parent for path in HERE.glob("*/command.yaml"))
NOW: Final = ("--now", "2026-11-20T09:00:00Z")


@pytest.fixture(params=FOLDERS, ids=lambda folder: folder.name)
def folder(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Path:
    path: Path = request.param
    monkeypatch.chdir(path)
    return path


def printed_by(capsys: pytest.CaptureFixture[str], case: Json, *more: str) -> str:
    """Return what the command prints; require the expected exit code and no error output."""
    clock = () if case["args"][0] == "check" else NOW
    code = run_command_line(["topology", *case["args"], "-f", "given.yaml", *clock, *more], "grove")
    printed = capsys.readouterr()
    assert (code, printed.err) == (case["code"], ""), case["why"]
    return printed.out


@pytest.mark.req("TP-123")
def test_tp121_the_answer_is_as_expected(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case: Json = yaml.load((folder / "command.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader)
    document = yaml.load(printed_by(capsys, case, "-o", "yaml"), yaml.CSafeLoader)
    assert differences(document, case["expect"]) == [], case["why"]
    assert document == yaml.load(printed_by(capsys, case, "-o", "json"), yaml.CSafeLoader)


def test_tp121_the_page_is_as_blessed(folder: Path, capsys: pytest.CaptureFixture[str], *, bless: bool) -> None:
    case: Json = yaml.load((folder / "command.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader)
    page = printed_by(capsys, case)
    if bless:
        (folder / "page.txt").write_text(page, encoding="utf-8")
    for line, begun in zip(page.splitlines(), case.get("lines", ()), strict=False):
        assert line.startswith(begun), case["why"]
    assert (folder / "page.txt").read_text(encoding="utf-8") == page, case["why"]


def differences(found: Any, wanted: Any, path: str = "") -> list[str]:
    """Differences of a document from an expectation: other keys are ignored, and lists are compared whole."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        return [one for key, value in wanted.items() for one in differences(found.get(key), value, f"{path}.{key}")]
    if isinstance(wanted, list) and isinstance(found, list) and len(wanted) == len(found):
        pairs = enumerate(zip(found, wanted, strict=True))
        return [one for index, (got, value) in pairs for one in differences(got, value, f"{path}[{index}]")]
    return [] if found == wanted else [f"{path}: {found!r} and not {wanted!r}"]
