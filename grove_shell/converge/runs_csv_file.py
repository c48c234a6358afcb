"""``runs.csv``: one line for each run, written after each run and read by ``--resume``.

Runs read back equal to what was written, to the last digit (CV-030).
"""

import csv
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from io import StringIO
from pathlib import Path
from typing import Any, Final, TypeAlias

from grove_core.areas.domain_cliques.daemon.registration_protocols import (
    RegistrationProtocol,
    registration_protocol_by_name,
)
from grove_shell.converge.run_parameters_and_results import (
    ConvergenceRun,
    ConvergenceRunOutcome,
    ConvergenceRunParameters,
)
from grove_shell.reading.input_faults import InputFault

_UNLIMITED: Final = "unlimited"


_Column: TypeAlias = tuple[Callable[[str], Any], str]
"""How a cell is parsed, by a function that raises ValueError for invalid texts, and what valid ones are."""


def _count(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() else _invalid(text)


def _seconds(text: str) -> float:
    value = float(text)
    return value if 0 <= value < float("inf") else _invalid(text)


def _invalid(text: str) -> Any:  # noqa: ANN401 - it never returns
    raise ValueError(text)


def _many(text: str) -> tuple[float, ...]:
    found = tuple(_seconds(part) for part in text.split())
    return found if found == tuple(sorted(found)) else _invalid(text)


def _cell_of(name: str, value: object) -> str:
    if value is None:
        return _UNLIMITED if name == "server_cores" else ""
    if isinstance(value, RegistrationProtocol):
        return value.short_name
    if isinstance(value, ConvergenceRunOutcome):
        return str(value.value)
    if isinstance(value, tuple):
        return " ".join(map(repr, value))
    return repr(value) if isinstance(value, float) else str(value)


def _columns() -> Iterator[tuple[str, _Column]]:
    protocols = ", ".join(one.short_name for one in RegistrationProtocol)
    special: dict[str, _Column] = {
        "protocol": (lambda text: registration_protocol_by_name(text) or _invalid(text), f"one of {protocols}"),
        "outcome": (ConvergenceRunOutcome, f"one of {', '.join(one.value for one in ConvergenceRunOutcome)}"),
        "server_cores": (
            lambda text: None if text == _UNLIMITED else _count(text) or _invalid(text),
            f"a number of cores, or {_UNLIMITED}",
        ),
        "t_views_s": (_many, "seconds, sorted, with spaces between them"),
    }
    by_type: dict[str, _Column] = {
        "str": (str, "text"),
        "int": (_count, "a whole number"),
        "float": (_seconds, "a number that is not negative"),
        "float | None": (lambda text: _seconds(text) if text else None, "a number that is not negative, or nothing"),
    }
    for field in (*fields(ConvergenceRunParameters), *(one for one in fields(ConvergenceRun) if one.name != "point")):
        kind = field.type.__name__ if isinstance(field.type, type) else str(field.type)
        yield field.name, special[field.name] if field.name in special else by_type[kind]


COLUMNS: Final = dict(_columns())
_OF_POINT: Final = frozenset(field.name for field in fields(ConvergenceRunParameters))


def convergence_runs_as_csv(runs: Iterable[ConvergenceRun]) -> str:
    """Return the whole file: a line with the column names, then one line for each run."""
    lines = [list(COLUMNS)]
    for run in runs:
        values = {name: getattr(run.point if name in _OF_POINT else run, name) for name in lines[0]}
        lines.append([_cell_of(name, value) for name, value in values.items()])
    return "".join(_line(cells) for cells in lines)


def write_convergence_runs_csv(path: Path, runs: Iterable[ConvergenceRun]) -> None:
    """Replace the file atomically, so that a reader never sees a part of it, even after a crash (CV-030)."""
    temporary = path.with_name(f".{path.name}.new")
    temporary.write_text(convergence_runs_as_csv(runs), encoding="utf-8", newline="")
    os.replace(temporary, path)  # noqa: PTH105 - the atomic call itself


def parse_convergence_runs_csv(text: str, file: str) -> tuple[tuple[ConvergenceRun, ...], tuple[InputFault, ...]]:
    """Parse a file of runs (CL-005).

    Returns:
        The runs and no fault, or no run and every fault with its line and column.
    """
    lines = text.splitlines()
    if not lines:
        return (), (InputFault(file=file, line=1, column=1, expected="a line of column names", got="nothing"),)
    csv.field_size_limit(sys.maxsize)  # one cell has the times of ten thousand daemons
    header = _cells(lines[0])
    faults = list(_faults_of_header(header, file))
    if faults:
        return (), tuple(faults)
    runs = []
    for number, line in enumerate(lines[1:], 2):
        read, wrong = _read_line(_cells(line), header, file, number)
        faults += wrong
        runs += [read] if read is not None else []
    return (() if faults else tuple(runs)), tuple(faults)


def _faults_of_header(header: list[str], file: str) -> Iterator[InputFault]:
    for at, name in enumerate(header):
        if name not in COLUMNS or name in header[:at]:
            expected = "each column once" if name in COLUMNS else "a column that is known"
            yield InputFault(file=file, line=1, column=_place(header, at), expected=expected, got=f'"{name}"')
    for name in COLUMNS:
        if name not in header:
            yield InputFault(file=file, line=1, column=1, expected=f"a column {name}", got="none")


def _read_line(
    cells: list[str], header: list[str], file: str, line: int
) -> tuple[ConvergenceRun | None, list[InputFault]]:
    if len(cells) != len(header):
        expected = f"{len(header)} cells"
        return None, [InputFault(file=file, line=line, column=1, expected=expected, got=str(len(cells)))]
    faults: list[InputFault] = []
    values: dict[str, Any] = {}
    for at, (name, cell) in enumerate(zip(header, cells, strict=True)):
        read, expected = COLUMNS[name]
        try:
            values[name] = read(cell)
        except ValueError:
            place = _place(cells, at)
            faults.append(InputFault(file=file, line=line, column=place, path=name, expected=expected, got=f'"{cell}"'))
    if faults:
        return None, faults
    point = ConvergenceRunParameters(**{name: value for name, value in values.items() if name in _OF_POINT})
    return ConvergenceRun(point=point, **{name: value for name, value in values.items() if name not in _OF_POINT}), []


def _line(cells: list[str]) -> str:
    out = StringIO()
    csv.writer(out, lineterminator="\n").writerow(cells)
    return out.getvalue()


def _cells(line: str) -> list[str]:
    return next(csv.reader([line]), [])


def _place(cells: list[str], at: int) -> int:
    """The column at which a cell begins, in characters from 1."""
    return len(_line(cells[:at])) + 1 if at else 1
