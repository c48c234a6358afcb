"""Reads configuration files, with the reader and the fault reports of manifests."""

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, TypeVar

from grove_core.kernel.errors import ObjectProblem
from grove_core.resources.configuration import Configuration
from grove_shell.reading.input_faults import InputFault
from grove_shell.reading.input_items import item_problem_as_fault
from grove_shell.reading.input_sources import input_items_in_path, standard_input_bytes

T = TypeVar("T")
FIELD: Final = "field"
"""The rule set of a file of the Go operator, whatever its release."""
Reader = Callable[[Mapping[str, Any]], tuple[T, tuple[ObjectProblem, ...]]]


def read_one_configuration(path: str | None, read: Reader[T]) -> tuple[T, tuple[InputFault, ...]]:
    """Return the configuration and its faults; the defaults without a file (IN-030).

    A file must have exactly one configuration (CL-055). One with another number of objects, or with an object of
    another kind, has one problem alone: it is another file than was meant.
    """
    faults: list[InputFault] = []
    found = (
        []
        if path is None
        else [(item, *read(item.value)) for item in input_items_in_path(path, faults, standard_input_bytes())]
    )
    if path is not None and len(found) != 1:
        if found or not faults:
            faults.append(InputFault(file=path, expected="one configuration", got=str(len(found) or "none")))
        return read({})[0], tuple(faults)
    for item, _, problems in found:
        where = str(item.value.get("kind") or "")
        of_kind = [one for one in problems if one.path == "kind"]
        faults.extend(
            item_problem_as_fault(item, where, (one.path, one.expected, one.got), None, kind=one.kind)
            for one in of_kind or problems
        )
    return found[0][1] if found else read({})[0], tuple(faults)


class OperatorConfigurationFile(NamedTuple):
    """The content of an operator's configuration file.

    Attributes:
        configuration: the part that decisions depend on.
        rules: the rule set that the file names; ``field`` for a file of the Go operator; None where it names none.
        raw: the file as it is written.
        note: which fields of a file of the Go operator are not used; empty for other files (IN-072).
        lease: name and namespace of the Lease of leader election; empty where the defaults hold.
    """

    configuration: Configuration
    rules: str | None
    raw: Mapping[str, Any]
    problems: tuple[InputFault, ...]
    note: str = ""
    lease: tuple[str, str] = ("", "")


def unused_go_operator_fields_note(path: str, raw: Mapping[str, Any]) -> str:
    """Return which fields of a file of the Go operator are not used; empty for another file (IN-072)."""
    from grove_shell.settings.go_operator_settings import is_go_operator_file, unused_go_operator_fields  # noqa: PLC0415 - brings pydantic

    if not is_go_operator_file(raw):
        return ""
    unused = ", ".join(unused_go_operator_fields(raw))
    return f"{path}: the Go operator's configuration" + (f"; not used: {unused}" if unused else "")


def read_operator_configuration(path: str | None) -> OperatorConfigurationFile:
    """Read an operator's configuration file; without a file the defaults (CL-055)."""
    if path is None:
        return OperatorConfigurationFile(Configuration(), None, {}, ())
    from grove_shell.settings.operator_settings import OperatorSettings, parse_operator_settings  # noqa: PLC0415 - brings pydantic

    def read(raw: Mapping[str, Any]) -> tuple[tuple[OperatorSettings, Mapping[str, Any]], tuple[ObjectProblem, ...]]:
        settings, problems = parse_operator_settings(raw)
        return (settings, raw), problems

    (settings, raw), problems = read_one_configuration(path, read)
    named = settings.rules if "rules" in settings.model_fields_set else None
    note = unused_go_operator_fields_note(path, raw) if not problems else ""
    lease = settings.leader_election.name, settings.leader_election.namespace
    return OperatorConfigurationFile(settings.configuration, FIELD if note else named, raw, problems, note, lease)
