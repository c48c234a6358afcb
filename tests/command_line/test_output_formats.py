"""Every command that has a page offers every renderer, and prints what that renderer returns."""

from collections.abc import Callable
from typing import Any, Final

import click
import pytest

from docs.generator.commands import every_command
from grove_shell.actions import topology
from grove_shell.actions.command_input import InputSource
from grove_shell.styled_text_page import StyledTextPage
from grove_shell.views.renderers import ANNOTATION_FORMATS, RENDERERS, SERIALIZERS, OutputRenderer
from tests.command_line.process import ROOT

DOCUMENTS: Final = {"grove snapshot", "grove manifests"}
DEGRADED: Final = str(ROOT / "examples" / "degraded.yaml")


def formats_by_command() -> dict[str, tuple[str, ...]]:
    """Command -> the values of its ``-o``."""
    return {
        context.command_path: tuple(option.type.choices)
        for context in every_command()
        for option in context.command.params
        if option.name == "output" and isinstance(option.type, click.Choice)
    }


def test_a_command_with_a_page_offers_every_renderer() -> None:
    found = formats_by_command()
    assert {name for name in found if name not in DOCUMENTS} > {"grove plan", "grove explain", "grove topology check"}
    every = tuple(RENDERERS)
    assert found.pop("grove validate") == (*every, *ANNOTATION_FORMATS)
    assert {formats for name, formats in found.items() if name not in DOCUMENTS} == {every}


def test_a_command_without_a_page_offers_every_serializer() -> None:
    found = formats_by_command()
    assert all(set(found[name]) == set(SERIALIZERS) for name in DOCUMENTS)


def test_another_renderer_is_used_as_it_is_added(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def as_lines(page: Callable[[], StyledTextPage], _document: Callable[[], Any]) -> str:
        return f"{len(page().lines)} lines\n"

    added = {**RENDERERS, "count": OutputRenderer(shows_page=True, text=as_lines)}
    monkeypatch.setattr(topology, "RENDERERS", added)
    assert topology.print_topologies_with_users(InputSource(filenames=(DEGRADED,)), "count") == 0
    assert capsys.readouterr().out.endswith(" lines\n")
