"""``python -m benchmarks [--quick] [--plain] [P1 P3 ...]``: measure, and print one table."""

import argparse
import platform
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

from benchmarks.bench import FULL, QUICK, TINY, Bench
from benchmarks.rows import ROWS
from benchmarks.samples import Row

_COLUMNS = ("id", "what", "candidate", "baseline", "measure", "goal (fail)", "verdict", "n")
_COLOURS = {"meets goal": "green", "within fail bound": "yellow", "over": "red", "for information": "dim"}
_SIZES = {"full": FULL, "quick": QUICK, "tiny": TINY}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the rows that were asked for; 1 if any is over its fail bound, else 0."""
    options = _parser().parse_args(arguments)
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="grove-benchmarks-") as folder:
        bench = Bench(Path(folder), _SIZES[options.size])
        for name in options.rows or ROWS:
            print(f"{name} ...", file=sys.stderr, flush=True)
            rows.extend(ROWS[name](bench))
    print(_plain(rows)) if options.plain else _show(rows)
    print(
        "\nMedians, and minima in brackets, of n measurements taken in turn. Seconds are of the processor; "
        f"for P10 and P11 of the clock, unless said.\n{platform.python_implementation()} "
        f"{platform.python_version()}, {platform.system()} {platform.machine()}; sizes: {options.size}."
    )
    return 1 if options.size != "tiny" and any(row.verdict == "over" for row in rows) else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("rows", nargs="*", metavar="ROW", help=f"which rows; all by default: {', '.join(ROWS)}")
    parser.add_argument(
        "--quick",
        dest="size",
        action="store_const",
        const="quick",
        help="a tenth of the sizes; the goals are meant for the full ones",
    )
    parser.add_argument(
        "--tiny", dest="size", action="store_const", const="tiny", help="only see whether every row can be measured"
    )
    parser.add_argument("--plain", action="store_true", help="print a Markdown table")
    parser.set_defaults(size="full")
    return parser


def _cells(row: Row) -> tuple[str, ...]:
    return (row.id, row.what, row.candidate, row.baseline, row.measure, row.goal, row.verdict, str(row.n))


def _plain(rows: Sequence[Row]) -> str:
    lines = [_COLUMNS, tuple("---" for _ in _COLUMNS), *map(_cells, rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _show(rows: Sequence[Row]) -> None:
    table = Table(box=box.SIMPLE_HEAD)
    for column in _COLUMNS:
        table.add_column(column, justify="right" if column in {"measure", "n"} else "left")
    for row in rows:
        table.add_row(*_cells(row), style=_COLOURS[row.verdict] if row.verdict != "meets goal" else "")
    Console().print(table)


if __name__ == "__main__":
    sys.exit(main())
