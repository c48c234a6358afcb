"""The types of the values of options: times, durations, words, rule sets, namespaces, kinds."""

from datetime import datetime, timedelta
from typing import Any, Final

import click
from click.shell_completion import CompletionItem

_EVERY: Final = "all"


class TimeOption(click.ParamType[datetime]):
    """An RFC 3339 time."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        """Parse the text; a text that is no time fails with an example."""
        from grove_core.kernel.time_formats import parse_time

        moment = value if isinstance(value, datetime) else parse_time(value)
        return moment or self.fail(f"{value!r} is not a time such as 2026-11-20T09:00:00Z", param, ctx)


class NowOption(TimeOption):
    """An RFC 3339 time, ``dump`` or ``clock`` (IN-081)."""

    name = "time|dump|clock"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Parse the text; a text that is neither fails with an example."""
        from grove_shell.actions.decision_time import NowWord

        words = {word.value: word for word in NowWord}
        if not isinstance(value, str) or value in words:
            return words.get(value, value)
        from grove_core.kernel.time_formats import parse_time

        moment = parse_time(value)
        return moment or self.fail(f"{value!r} is not dump, clock or a time such as 2026-11-20T09:00:00Z", param, ctx)


class DurationOption(click.ParamType[timedelta]):
    """A Go duration greater than zero."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        """Parse the text; a text that is no duration greater than zero fails with an example."""
        from grove_core.kernel.time_formats import parse_duration

        span = value if isinstance(value, timedelta) else parse_duration(value)
        example = "such as 6h, 90s or 1h30m: hours, minutes and seconds, greater than zero"
        hint = "; a day is 24h" if str(value).rstrip().endswith(("d", "day", "days")) else ""
        return span or self.fail(f"{value!r} is not a duration {example}{hint}", param, ctx)


class RepeatableChoiceOption(click.Choice[str]):
    """One of a set of words, for an option that may be repeated."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the word; several words with commas fail with how they are written instead (CL-009)."""
        several = [word.strip() for word in str(value).split(",")]
        if param is not None and len(several) > 1 and all(word in self.choices for word in several):
            name = param.opts[0]
            self.fail(f"repeat {name} for each value: {' '.join(f'{name} {word}' for word in several)}", param, ctx)
        return super().convert(value, param, ctx)


def validate_namespace_option(_ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Return the name. Raises BadParameter, a usage error, for a name that no API server accepts for a namespace."""
    from grove_core.resources.naming_rules import is_dns_label

    if value not in (None, param.default) and not is_dns_label(value or ""):
        raise click.BadParameter(f"{value!r} is not a namespace name: lower case letters, digits and '-', at most 63")
    return value


class RuleSetOption(click.ParamType[str]):
    """The name of a rule set; an unknown name is a usage error that lists the known ones.

    Args:
        auto: whether ``auto`` is a value too: the rule set of the operator that the input shows (CL-055).
    """

    name = "NAME"

    def __init__(self, *, auto: bool = False) -> None:
        self.auto = auto

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the canonical name; an unknown one fails with the known ones."""
        if value == "design" or (value == "auto" and self.auto):
            return str(value)  # without importing the rule sets (P10)
        from grove_shell.actions.installed_rule_sets import known_rule_set_name

        try:
            return known_rule_set_name(str(value))
        except ValueError as fault:
            self.fail(f"{value!r} is not one of {fault}", param, ctx)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002 - click calls it by position
        """Return the names that begin with the text."""
        from grove_core.rule_sets.rule_set_by_name import rule_sets
        from grove_shell.actions.installed_rule_sets import rule_set_entry_points

        installed = (one.name for one in rule_set_entry_points())
        names = dict.fromkeys((*(("auto",) if self.auto else ()), *rule_sets(), *installed))
        return [CompletionItem(name) for name in names if name.startswith(incomplete)]


class CompleteKindsOption(click.ParamType[tuple[str, ...]]):
    """Kinds as ``kubectl get`` takes them, with commas, or ``all``: kinds that are complete in the input (IN-054)."""

    name = "KINDS"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        """Return the kinds; an unknown name is a usage error that lists the known ones."""
        from grove_core.snapshot.snapshot import EVERY_KIND
        from grove_shell.client.api_kinds import KINDS
        from grove_shell.client.kind_names import kind_named

        if value == _EVERY:
            return tuple(sorted(EVERY_KIND))
        found = []
        for name in str(value).lower().split(","):
            kind = kind_named(name)
            if not kind:
                plurals = ", ".join(sorted(one.plural for one in KINDS.values()))
                self.fail(f"{name!r} is none of {_EVERY}, {plurals}", param, ctx)
            found.append(kind)
        return tuple(found)
