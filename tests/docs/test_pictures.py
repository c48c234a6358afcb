"""Pictures of outputs are those of the program as it is (rewrite with --bless)."""

import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Final

import pytest

from docs.generator.pictures import FOLDER, LOG, PICTURES, Picture, picture_of
from docs.generator.terminal_svg import terminal_svg
from tests.docs.site import ROOT
from tests.replay.recorded_logs import SCENARIOS, played

SVG: Final = "{http://www.w3.org/2000/svg}"
LARGEST: Final = 20_000


@pytest.mark.parametrize("one", PICTURES, ids=lambda one: one.name)
def test_a_picture_shows_what_the_program_prints(
    one: Picture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, bless: bool
) -> None:
    for name in ("examples", "tests"):
        (tmp_path / name).symlink_to(ROOT / name, target_is_directory=True)
    if LOG in one.command:
        (tmp_path / LOG).write_text(played(SCENARIOS[0]).out.getvalue(), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    drawn, path = picture_of(one), FOLDER / f"{one.name}.svg"
    if bless:
        path.write_text(drawn, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == drawn
    assert len(drawn) < LARGEST


def test_no_other_file_is_beside_the_pictures() -> None:
    assert {path.name for path in FOLDER.iterdir()} == {f"{one.name}.svg" for one in PICTURES}


def test_text_stays_text_and_columns_stay_columns() -> None:
    drawn = ET.fromstring(terminal_svg("a < b", ["  \x1b[1;31m<b>\x1b[0m   &", "", "end"], 20))  # noqa: S314 - ours
    assert drawn.findtext(f"{SVG}title") == "a < b"
    first, last = drawn.findall(f"{SVG}text")
    spans = [(part.text, part.get("class")) for part in first]
    assert spans == [("<b>", "c1 b"), ("&", None)]
    starts = [float(part.get("x") or 0) for part in first]
    assert starts == [14 + 2 * 7.25, 14 + 8 * 7.25]
    assert int(last.get("y") or 0) - int(first.get("y") or 0) == 2 * 17
