"""Pages show real output, and lead nowhere that is not there (rewrite the output with --bless)."""

import re
import shlex
from pathlib import Path
from typing import Final

import click
import pytest

from docs.generator.commands import every_command
from grove_shell.cli.main import run_command_line
from grove_shell.exit_codes import USAGE
from tests.console_blocks import BLOCK, check_console_blocks
from tests.docs.site import DOCS, ROOT, WRITTEN, anchors_of, in_nav, links_of, pages
from tests.library.installed_packages import EXAMPLE, install_example
from tests.replay.recorded_logs import SCENARIOS, played

OWN_RULES: Final = "how-to/write-your-own-rules.md"
"""The page whose commands need its package."""
WRITE: Final = "how-to/write-a-podcliqueset.md"
SETS: Final = ROOT / "examples" / "write-a-set"
SHELL: Final = re.compile(r"```sh\n(.*?)```", re.DOTALL)
GO_ON: Final = frozenset({"converge", "daemon", "operator", "watch"})
"""Commands that do not end at once where their files or the cluster are not there."""
AFTER: Final = re.compile(r" \| | \|\| | && | >+ ")
LOG: Final = "plans.jsonl"
"""The decision log of the how-to; a reader has one of an operator, we have one of a scenario."""


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with what a reader has: the files of the checkout, and a decision log."""
    for name in ("examples", "tests"):
        (tmp_path / name).symlink_to(ROOT / name, target_is_directory=True)
    (tmp_path / LOG).write_text(played(SCENARIOS[0]).out.getvalue(), encoding="utf-8")
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("page", WRITTEN)
@pytest.mark.usefixtures("checkout")
def test_pl001_a_page_shows_what_the_program_says(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, bless: bool
) -> None:
    if page == OWN_RULES:
        install_example(tmp_path / "site", monkeypatch)
    check_console_blocks(DOCS / page, bless=bless)


def test_the_site_has_commands_that_are_run() -> None:
    run = [page for page in WRITTEN if BLOCK.search((DOCS / page).read_text(encoding="utf-8"))]
    assert {"tutorial", "how-to", "explanation"} <= {page.partition("/")[0] for page in run}


@pytest.mark.parametrize("page", WRITTEN)
def test_commands_that_need_a_cluster_have_options_that_are_there(page: str) -> None:
    known = {context.command_path: context for context in every_command()}
    for line in shell_commands_on(page):
        assert_is_understood(line, known)


def test_no_command_on_a_page_is_wrong_usage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Options may be there and exclude each other; without files and a cluster every other command ends at once."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "nowhere"))
    lines = [line for page in WRITTEN for line in shell_commands_on(page)]
    tried = [shlex.split(line, comments=True)[1:] for line in lines]
    for words in tried:
        if words[0] not in GO_ON and "--watch" not in words:
            code = run_command_line(words, "grove")
            assert code != USAGE, f"grove {shlex.join(words)}: {capsys.readouterr().err}"
    assert {"plan", "validate", "snapshot", "why"} <= {words[0] for words in tried}


def shell_commands_on(page: str) -> list[str]:
    """Return the commands of the program in the shell blocks of a page, without what the shell does with them."""
    blocks = SHELL.findall((DOCS / page).read_text(encoding="utf-8"))
    lines = [line.strip() for block in blocks for line in block.splitlines()]
    return [AFTER.split(line)[0] for line in lines if line.startswith("grove ")]


def assert_is_understood(line: str, known: dict[str, click.Context]) -> None:
    """The command takes these options; whether its files are there is another question."""
    program, name, *rest = shlex.split(line)
    name = {"upgrade-check": "compare"}.get(name, name)
    path = next(path for path in (f"{program} {name} {rest[0]}" if rest else "", f"{program} {name}") if path in known)
    words = rest[1:] if path.count(" ") > 1 else rest
    options = {word for parameter in known[path].command.get_params(known[path]) for word in parameter.opts}
    assert {word for word in words if word.startswith("-")} <= options, line


def test_the_page_about_rules_of_your_own_shows_the_package_as_it_is() -> None:
    text = (DOCS / OWN_RULES).read_text(encoding="utf-8")
    shown = [block for _, block in re.findall(r"```(python|toml) title=[^\n]*\n(.*?)```", text, re.DOTALL)]
    assert shown == [(EXAMPLE / name).read_text(encoding="utf-8") for name in ("my_rules.py", "pyproject.toml")]


def test_manifests_on_a_page_are_those_of_the_examples() -> None:
    text = (DOCS / WRITE).read_text(encoding="utf-8")
    shown = re.findall(r'```yaml title="examples/write-a-set/([^"]+)"\n(.*?)```', text, re.DOTALL)
    assert len(shown) == 7
    assert [(name, (SETS / name).read_text(encoding="utf-8")) for name, _ in shown] == shown


@pytest.mark.parametrize("rules", ["design", "field"])
@pytest.mark.parametrize("path", sorted(SETS.glob("[1-5]-*.yaml")), ids=lambda path: path.stem)
def test_each_set_of_the_page_is_admitted_by_both_operators(
    path: Path, rules: str, capsys: pytest.CaptureFixture[str]
) -> None:
    around = ["-f", str(SETS / "topology.yaml"), "--config", str(SETS / "operator.yaml")]
    assert run_command_line(["validate", "-f", str(path), *around, "--rules", rules], "grove") == 0
    assert "warning" not in capsys.readouterr().out


def test_the_nav_has_every_page_once() -> None:
    assert sorted(in_nav()) == sorted(pages())


@pytest.mark.parametrize("page", pages())
def test_no_link_leads_nowhere(page: str) -> None:
    for target, anchor in links_of(page):
        if target.endswith(".md"):
            assert target in pages(), f"{page} leads to {target}"
            assert not anchor or anchor in anchors_of(target), f"{page} leads to {target}#{anchor}"
        else:
            assert (DOCS / target).is_file(), f"{page} leads to {target}"
