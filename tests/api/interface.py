"""Every name of the interface that is no Python name, one a line, for `test_interface.py`."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from docs.generator.commands import every_command
from docs.generator.configuration import fields_of
from grove_core.document.plan_document import FORMAT_VERSION
from grove_shell import exit_codes
from grove_shell.catalogue.specification_rules import reason_codes_by_rule_number
from grove_shell.monitoring.metric_descriptions import operator_metric_descriptions, webhook_metric_descriptions
from grove_shell.reading.input_completeness import SNAPSHOT_VERSION
from grove_shell.replay.decision_log_format import FORMAT
from grove_shell.settings.operator_settings import OperatorSettings
from grove_shell.settings.webhook_settings import WebhookSettings

_CHART: Final = Path(__file__).parents[2] / "deploy/helm/grove"


def interface_lines() -> Iterator[str]:
    """Yield one line for each name, sorted within each part."""
    for part in (_formats, _exit_codes, _commands, _settings, _metrics, _chart_values, _reasons):
        yield from sorted(part())


def _formats() -> Iterator[str]:
    yield f"format plan {FORMAT_VERSION.partition('.')[0]}"
    yield f"format decision log {FORMAT.partition('.')[0]}"
    yield f"format snapshot {SNAPSHOT_VERSION}"


def _exit_codes() -> Iterator[str]:
    yield from (
        f"exit code {code} {name}"
        for name, code in vars(exit_codes).items()
        if name.isupper() and isinstance(code, int)
    )


def _commands() -> Iterator[str]:
    for context in every_command():
        yield f"command {context.command_path}"
        for parameter in context.command.get_params(context):
            for word in (*parameter.opts, *parameter.secondary_opts):
                if word.startswith("-"):
                    yield f"option {context.command_path} {word}"


def _settings() -> Iterator[str]:
    for name, model in (("operator", OperatorSettings), ("webhooks", WebhookSettings)):
        yield from (f"setting {name} {field.strip('`')}" for field, *_ in fields_of(model))


def _metrics() -> Iterator[str]:
    for one in (*operator_metric_descriptions(), *webhook_metric_descriptions()):
        yield " ".join(("metric", one.kind, one.name, *one.labels))


def _chart_values() -> Iterator[str]:
    yield from _paths("", yaml.safe_load((_CHART / "values.yaml").read_text(encoding="utf-8")))


def _paths(before: str, values: Mapping[str, Any]) -> Iterator[str]:
    for name, value in values.items():
        yield f"value {before}{name}"
        if isinstance(value, dict):
            yield from _paths(f"{before}{name}.", value)


def _reasons() -> Iterator[str]:
    yield from (f"reason {number} {code}" for number, code in reason_codes_by_rule_number().items())
