"""What pipelines, dashboards and values files are written with changes on purpose only."""

from pathlib import Path
from typing import Final

from tests.api.interface import interface_lines

STORED: Final = Path(__file__).with_name("interface.txt")


class TestCL107:
    """Every command, option, exit code, setting, metric with its labels, chart value, reason code and major format
    version MUST stand in `tests/api/interface.txt`. Within a minor version none of them is removed or renamed.
    """

    def test_the_names_are_as_blessed(self, *, bless: bool) -> None:
        page = "\n".join(interface_lines()) + "\n"
        if bless:
            STORED.write_text(page, encoding="utf-8")
        assert STORED.read_text(encoding="utf-8") == page
