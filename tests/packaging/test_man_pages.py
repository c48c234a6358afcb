"""Manual pages have what ``--help`` has, and formatters have nothing to say of them."""

import shutil
import subprocess
from pathlib import Path
from typing import Final

import click
import pytest

from docs.generator.commands import every_command
from docs.generator.man_pages import man_pages, roff_text
from grove_core.version import VERSION

PAGES: Final = man_pages("2026-11-20")


def plain(page: str) -> str:
    """The words of a page without the escapes of roff."""
    for written, shown in (("\\-", "-"), ("\\(aq", "'"), ("\\(ti", "~"), ("\\(dq", '"'), ("\\(ga", "`"), ("\\e", "\\")):
        page = page.replace(written, shown)
    return page


class TestRL004:
    """The wheel MUST have a manual page for `grove` and for each command, with the text of `--help` and every option
    and argument. It passes `man --warnings`.
    """

    def test_each_command_has_one(self) -> None:
        names = {f"{context.command_path.replace(' ', '-')}.1" for context in every_command()}
        assert set(PAGES) == {"grove.1", *names}

    @pytest.mark.parametrize("context", list(every_command()), ids=lambda context: context.command_path)
    def test_it_has_every_option_and_argument(self, context: click.Context) -> None:
        page = plain(PAGES[f"{context.command_path.replace(' ', '-')}.1"])
        command = context.command
        assert " ".join(command.collect_usage_pieces(context)) in page
        for parameter in command.get_params(context):
            assert all(word in page for word in parameter.opts if word.startswith("-")), parameter.opts
        sections = [line for line in page.splitlines() if line.startswith(".SH ")]
        assert (".SH EXAMPLES" in sections) == ("Example" in (command.help or ""))
        assert (".SH EXIT STATUS" in sections) == ("Exit codes: " in (command.help or ""))
        assert f'"2026-11-20" "grove {VERSION}"' in page

    def test_pages_refer_to_each_other(self) -> None:
        assert ".BR grove (1),\n.BR grove-topology-check (1),\n" in plain(PAGES["grove-topology.1"])
        assert plain(PAGES["grove-topology-check.1"]).endswith(".SH SEE ALSO\n.BR grove (1),\n.BR grove-topology (1)\n")

    @pytest.mark.parametrize("command", [("man", "--warnings", "-l"), ("mandoc", "-Tlint", "-Wstyle")])
    def test_formatters_print_no_warning(self, command: tuple[str, ...], tmp_path: Path) -> None:
        if shutil.which(command[0]) is None:
            pytest.skip(f"{command[0]} is not installed")
        for name, page in PAGES.items():
            (tmp_path / name).write_text(page, encoding="utf-8")
        files = sorted(PAGES) if command[0] == "mandoc" else ["grove.1", "grove-plan.1"]
        for words in [files] if command[0] == "mandoc" else [[one] for one in files]:
            environment = {"LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin", "MANWIDTH": "100"}
            done = subprocess.run((*command, *words), cwd=tmp_path, env=environment, capture_output=True, check=False)
            assert done.stderr == b""
            assert command[0] == "man" or (done.returncode, done.stdout) == (0, b"")

    def test_a_line_that_looks_like_a_request_is_text(self) -> None:
        assert roff_text(".sh \\n 'quoted' --all") == "\\&.sh \\en \\(aqquoted\\(aq \\-\\-all"
