"""Golden answers of `grove topology`.

A folder holds `given.yaml` (what kubectl printed), `command.yaml` (the words behind `grove topology`, and what was
expected by hand: the exit code, parts of the document, and how the page begins) and `said.txt`, which is written by
`pytest --bless`.
"""

from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from grove_shell.cli.main import run

Json = dict[str, Any]
HERE: Final = Path(__file__).parent / "topology"
FOLDERS: Final = sorted(path.parent for path in HERE.glob("*/command.yaml"))
NOW: Final = ("--now", "2026-11-20T09:00:00Z")


@pytest.fixture(params=FOLDERS, ids=lambda folder: folder.name)
def folder(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Path:
    path: Path = request.param
    monkeypatch.chdir(path)
    return path


def said(capsys: pytest.CaptureFixture[str], case: Json, *more: str) -> str:
    """What the command prints; it leaves with the code that was expected, and complains of nothing."""
    clock = () if case["args"][0] == "check" else NOW
    code = run(["topology", *case["args"], "-f", "given.yaml", *clock, *more], "grove")
    printed = capsys.readouterr()
    assert (code, printed.err) == (case["code"], ""), case["why"]
    return printed.out


@pytest.mark.req("TP-122")
@pytest.mark.req("TP-123")
@pytest.mark.req("TP-124")
def test_tp121_the_answer_is_as_expected(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case: Json = yaml.safe_load((folder / "command.yaml").read_text(encoding="utf-8"))
    document = yaml.safe_load(said(capsys, case, "-o", "yaml"))
    assert lacking_in(document, case["expect"]) == [], case["why"]
    assert document == yaml.safe_load(said(capsys, case, "-o", "json"))


def test_tp121_the_page_is_as_blessed(folder: Path, capsys: pytest.CaptureFixture[str], *, bless: bool) -> None:
    case: Json = yaml.safe_load((folder / "command.yaml").read_text(encoding="utf-8"))
    page = said(capsys, case)
    if bless:
        (folder / "said.txt").write_text(page, encoding="utf-8")
    for line, begun in zip(page.splitlines(), case.get("lines", ()), strict=False):
        assert line.startswith(begun), case["why"]
    assert (folder / "said.txt").read_text(encoding="utf-8") == page, case["why"]


def lacking_in(found: Any, wanted: Any, path: str = "") -> list[str]:
    """Where a document says otherwise: keys that are not expected may say anything, lists are compared whole."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        return [one for key, value in wanted.items() for one in lacking_in(found.get(key), value, f"{path}.{key}")]
    if isinstance(wanted, list) and isinstance(found, list) and len(wanted) == len(found):
        pairs = enumerate(zip(found, wanted, strict=True))
        return [one for index, (got, value) in pairs for one in lacking_in(got, value, f"{path}[{index}]")]
    return [] if found == wanted else [f"{path}: {found!r} and not {wanted!r}"]
