"""Checks of arguments: each error says in one sentence what is wrong and what to write instead (LB-003)."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from io import BytesIO
from os import PathLike, fspath
from typing import IO, Any, NamedTuple, TypeAlias

from grove_core.kernel.time_formats import format_time, parse_duration, parse_time
from grove_core.rule_sets.rule_set import RuleSet
from grove_core.rule_sets.rule_set_by_name import rule_sets
from grove_shell.actions.decision_time import Now, NowWord
from grove_shell.actions.installed_rule_sets import known_rule_set_name
from grove_shell.actions.rule_set_choice import AUTO, GivenRules
from grove_shell.library.objects import SetState

Source: TypeAlias = str | PathLike[str] | IO[bytes] | IO[str] | Mapping[str, Any]
"""A path of a file or folder, an open stream, or one object as JSON."""

Sets: TypeAlias = str | SetState | Iterable[str | SetState] | None
"""A PodCliqueSet or its name, or several; None for all of them."""

_EXAMPLE_OF_TIME = "datetime(2026, 11, 20, 9, tzinfo=UTC)"


class RemainingFileContent(NamedTuple):
    """What was left in an open file.

    Attributes:
        name: as its ``name``, else its type.
    """

    name: str
    content: BytesIO


def split_sources_by_type(
    given: Iterable[Any],
) -> tuple[tuple[str, ...], tuple[dict[str, Any], ...], RemainingFileContent | None]:
    """Return the paths, the objects and the open file among some sources; lists are flattened.

    Raises:
        TypeError: something is none of these.
        ValueError: there is more than one stream.
    """
    paths: list[str] = []
    objects: list[dict[str, Any]] = []
    streams: list[RemainingFileContent] = []
    for one in _flat(given):
        if isinstance(one, str | PathLike):
            paths.append(_path(one))
        elif isinstance(one, Mapping):
            objects += _objects_in(one)
        elif hasattr(one, "read"):
            streams.append(_content(one))
        else:
            hint = ": give its content as io.BytesIO" if isinstance(one, bytes) else ""
            raise TypeError(f"a source is a path, an open file or an object as a dict; got {_type_name(one)}{hint}")
    if len(streams) > 1:
        raise ValueError(f"at most one open file can be read at once, got {len(streams)}; give the others by path")
    return tuple(paths), tuple(objects), streams[0] if streams else None


def _content(stream: Any) -> RemainingFileContent:  # noqa: ANN401 - any open file
    """Return what is left in an open file. Raises ValueError where that is nothing, or it cannot be read."""
    name = str(getattr(stream, "name", _type_name(stream)))
    try:
        content = stream.read()
    except (OSError, ValueError) as fault:
        raise ValueError(f"the open file {name} cannot be read: {fault}") from None
    if not content:
        raise ValueError(f"the open file {name} has nothing left to read: it is empty, or was read before; say seek(0)")
    return RemainingFileContent(name, BytesIO(content.encode() if isinstance(content, str) else content))


def _flat(given: Iterable[Any]) -> Iterable[Any]:
    for one in given:
        if isinstance(one, list | tuple | set | frozenset) or (isinstance(one, Iterator) and not hasattr(one, "read")):
            yield from _flat(one)
        else:
            yield one


def _path(given: str | PathLike[str]) -> str:
    path = fspath(given)
    if isinstance(path, bytes):
        raise TypeError("a path is text; got bytes: decode them first")
    if not path or "\n" in path or path.startswith("{"):
        what = "an empty text" if not path else "JSON" if path.startswith("{") else "text of several lines"
        raise ValueError(f"a source is a path; got {what}: give the content as io.StringIO(text)")
    return path


def _objects_in(given: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the objects of a list, or the object itself."""
    items = given.get("items")
    if isinstance(items, list) and str(given.get("kind", "List")).endswith("List"):
        return [dict(item) if isinstance(item, Mapping) else _no_object(item) for item in items]
    return [dict(given)]


def _no_object(item: object) -> dict[str, Any]:
    raise TypeError(f"an item of a list is an object as a dict; got {_type_name(item)}")


def utc_time_argument(given: datetime | str | None, name: str) -> "datetime | None":
    """Return a time in UTC.

    Raises:
        TypeError: it is no time.
        ValueError: it has no time zone, or the text is no time.
    """
    if isinstance(given, str):
        found = parse_time(given)
        if found is None:
            raise ValueError(f"{name} is no time with a zone, such as 2026-11-20T09:00:00Z: got {given!r}")
        return found
    if given is None:
        return None
    if not isinstance(given, datetime):
        raise TypeError(f"{name} is a datetime or a text such as 2026-11-20T09:00:00Z; got {_type_name(given)}")
    if given.utcoffset() is None:
        raise ValueError(f"{name} has no time zone: {given.isoformat()}; say {_EXAMPLE_OF_TIME}")
    try:
        return given.astimezone(UTC)
    except OverflowError:
        raise ValueError(f"{name} is before the year 1 or after the year 9999: {given.isoformat()}") from None


def require_decision_time(given: datetime | str | None) -> Now:
    """Return the value of ``now``: a time, ``dump``, ``clock``, or None."""
    words = {one.value: one for one in NowWord}
    if isinstance(given, str) and given in words:
        return words[given]
    return utc_time_argument(given, "now")


def time_span_from_argument(given: timedelta | datetime | str | None, now: datetime, name: str) -> timedelta:
    """Return a span of time after ``now``.

    Raises:
        TypeError: it is neither a span nor a time.
        ValueError: it is not after ``now``, or the text is no span.
    """
    if isinstance(given, str):
        found = parse_duration(given) or parse_time(given)
        if found is None:
            raise ValueError(f"{name} is no time span such as 6h or 1h30m; a day is 24h: got {given!r}")
        given = found
    if isinstance(given, datetime):
        given = (utc_time_argument(given, name) or given) - now
    if not isinstance(given, timedelta):
        raise TypeError(f"{name} is a timedelta, a datetime or a text such as 6h; got {_type_name(given)}")
    if given <= timedelta(0):
        raise ValueError(f"{name} must be after the time of the plan, {format_time(now)}")
    return given


def given_rules(given: object, name: str = "rules") -> GivenRules:
    """Return the full name of a rule set, ``auto``, or a rule set of a program.

    Raises:
        TypeError: it is neither a text nor a rule set.
        ValueError: there is no such rule set, or that of a program has the name of a built-in one.
    """
    if isinstance(given, RuleSet):
        if given.name == AUTO or rule_sets().get(given.name, given) != given:
            raise ValueError(f"{name} is another rule set than the built-in one of its name {given.name!r}: rename it")
        return given
    if not isinstance(given, str):
        raise TypeError(f"{name} is the name of a rule set, a RuleSet or 'auto'; got {_type_name(given)}")
    if given == AUTO:
        return given
    try:
        return known_rule_set_name(given)
    except ValueError as fault:
        raise ValueError(f"{name} {given!r} is not one of auto, {fault}") from None


def require_text_or_none(given: object, name: str) -> str | None:
    """Return a text or None. Raises TypeError or ValueError for anything else and for an empty text."""
    if given == "":
        raise ValueError(f"{name} is an empty text; leave it out for the default")
    if given is None or isinstance(given, str):
        return given
    raise TypeError(f"{name} is a text; got {_type_name(given)}")


def optional_path(given: object, name: str) -> str | None:
    """Return a path or None. Raises TypeError for anything else."""
    if given is None or isinstance(given, str | PathLike):
        return None if given is None else _path(given)
    raise TypeError(f"{name} is a path; got {_type_name(given)}")


def require_bool(given: object, name: str) -> bool:
    """Return True or False. Raises TypeError for anything else."""
    if isinstance(given, bool):
        return given
    raise TypeError(f"{name} is True or False; got {given!r}")


def require_set_names(given: object) -> tuple[str, ...]:
    """Return names of sets; none for None, which stands for all of them.

    Raises:
        TypeError: something is no name.
        ValueError: the list is empty.
    """
    if given is None:
        return ()
    found = tuple(given) if isinstance(given, Iterable) and not isinstance(given, str | bytes) else (given,)
    names = tuple(f"{one.namespace}/{one.name}" if isinstance(one, SetState) else one for one in found)
    for one in names:
        if not isinstance(one, str):
            raise TypeError(f"sets are names of PodCliqueSets, as 'prod/llama'; got {_type_name(one)}")
    if not names or "" in names:
        raise ValueError("sets names no PodCliqueSet; leave it out for all of them")
    return names


def one_of(given: object, known: Collection[str], name: str) -> str:
    """Return a word. Raises ValueError where it is none of the known ones."""
    if given not in known:
        raise ValueError(f"{name} is one of {', '.join(known)}; got {given!r}")
    return str(given)


def _type_name(given: object) -> str:
    return type(given).__name__
