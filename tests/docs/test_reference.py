"""The reference says all that the code knows: nothing is left out, and nothing is empty."""

import re
from typing import Final

import pytest
from prometheus_client import generate_latest
from pydantic import BaseModel

from docs.generator.commands import every_command
from docs.generator.configuration import defaults_of, fields_of
from docs.generator.metrics import metrics_of
from docs.generator.pages import generated
from docs.generator.python_api import python_pages
from docs.generator.rules import heading_of
from grove_core.areas.gang_termination.rules import TerminationReason
from grove_shell import exit_codes
from grove_shell.catalogue.specification_rules import specification_rules_by_number
from grove_shell.monitoring.metric_descriptions import operator_metric_descriptions
from grove_shell.operator.metrics import OperatorMetrics
from grove_shell.settings.operator_settings import OperatorSettings
from grove_shell.settings.operator_settings import parse_operator_settings as operator_settings
from grove_shell.settings.webhook_settings import WebhookSettings
from grove_shell.settings.webhook_settings import parse_webhook_settings as webhook_settings

MODELS: Final = (OperatorSettings, WebhookSettings)
SPOILT: Final = re.compile(r"^\| .*`[^`|]*\\\|[^`]*`.* \|$")
ADDRESS: Final = re.compile(r"0x[0-9a-f]{6,}")


def test_every_command_and_option_is_there() -> None:
    page = generated()["reference/commands.md"]
    for context in every_command():
        section = page.partition(f"## {context.command_path}\n")[2].partition("\n## ")[0]
        assert section, context.command_path
        for parameter in context.command.get_params(context):
            assert all(word in section for word in parameter.opts if word.startswith("-"))


def test_no_bar_is_shown_with_a_backslash() -> None:
    assert not [line for page in generated().values() for line in page.splitlines() if SPOILT.search(line)]


def test_every_exit_code_has_a_row() -> None:
    page = generated()["reference/exit-codes.md"]
    for name, code in vars(exit_codes).items():
        if name.isupper() and isinstance(code, int):
            assert f"| {code} | `{name}` |" in page


@pytest.mark.parametrize("model", MODELS)
def test_every_setting_has_a_meaning(model: type[BaseModel]) -> None:
    rows = list(fields_of(model))
    assert all(meaning for *_, meaning in rows), [name for name, *_, meaning in rows if not meaning]


def test_the_defaults_that_are_shown_are_the_defaults() -> None:
    assert operator_settings(defaults_of(OperatorSettings)) == (OperatorSettings(), ())
    assert webhook_settings(defaults_of(WebhookSettings)) == (WebhookSettings(), ())


def test_metrics_have_the_names_that_are_served() -> None:
    served = generate_latest(OperatorMetrics().registry).decode()
    names = [name.strip("`") for name, *_ in metrics_of(operator_metric_descriptions())]
    assert [line.split()[2] for line in served.splitlines() if line.startswith("# TYPE")] == names


def test_every_rule_is_in_the_page_of_its_area() -> None:
    text = "\n".join(page for path, page in generated().items() if path.startswith("reference/rules/"))
    for rule in specification_rules_by_number().values():
        assert f"## {heading_of(rule)} {{ #{rule.id.lower()} }}" in text
        assert f"- kind: {rule.rule_kind}" in text
    assert len(re.findall(r"^## [A-Z]{2}-\d{3} ", text, re.MULTILINE)) == len(specification_rules_by_number())


def test_a_rule_is_reported_in_full() -> None:
    rule = specification_rules_by_number()[TerminationReason.DELAY_RUNNING.requirement]
    page = generated()["reference/rules/gang_termination.md"]
    section = page.partition("{ #gt-034 }")[2].partition("\n## ")[0]
    assert rule.text in section
    assert f"- code: `{TerminationReason.DELAY_RUNNING.code}`" in section
    assert "- kind: decision" in section
    assert "- source: Gang Termination Design Doc" in section


def test_public_names_are_there_and_a_page_is_the_same_tomorrow() -> None:
    pages = python_pages()
    assert "### reconcile" in pages["index.md"]
    assert "### Snapshot" in pages["snapshot.md"]
    assert "### Plan" in pages["plan.md"]
    assert not any(ADDRESS.search(page) for page in pages.values())


def test_arguments_are_a_list_and_examples_are_code() -> None:
    section = python_pages()["library.md"].partition("### compare\n")[2].partition("\n### ")[0]
    assert "**Arguments**\n\n- `cluster`: as `grove_shell.read` returns it.\n- `first`, `second`: names" in section
    assert "```pycon\n>>> " in section
    assert not re.search(r"^(?:Args|Attributes|Raises|Returns|Example):", section, re.MULTILINE)


def test_the_breach_table_is_printed_in_the_order_in_which_it_is_asked() -> None:
    page = generated()["reference/rules/gang_termination.md"]
    rows = [line for line in page.splitlines() if re.match(r"\| [1-9] \|", line)]
    assert [re.findall(r"GT-\d{3}", row)[0] for row in rows] == ["GT-011", "GT-015", "GT-012", "GT-013", "GT-014"]
    assert "| 4 | `Unknown` | `UpdateInProgress` | [GT-013](gang_termination.md#gt-013) |" in page
