"""What was measured, as lines of a table."""

from collections.abc import Iterable, Sequence
from typing import Final

from benchmarks.cluster.admission import IN_FLIGHT, Latency
from benchmarks.cluster.clients import Beside
from benchmarks.cluster.process import Cost
from benchmarks.cluster.runs import Measured, exponent

_WORKLOADS: Final = (
    "workload",
    "pods",
    "all created",
    "all Ready",
    "x floor",
    "requests/pod",
    "x fewest writes",
    "CPU",
    "CPU/pod",
    "peak",
)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, ["---"] * len(head), *rows))


def workloads_table(rows: Iterable[tuple[Measured, Measured]]) -> str:
    """Workloads, each with the floor it is held against."""
    return table(_WORKLOADS, (_cells(row, floor) for row, floor in rows))


def _cells(row: Measured, floor: Measured) -> tuple[str, ...]:
    cost = row.cost
    created = f"{row.created / floor.created:.2f} / " if row.created else ""
    return (
        row.name,
        str(row.pods),
        f"{row.created:.1f} s" if row.created else "",
        f"{row.ready:.1f} s",
        f"{created}{row.ready / floor.ready:.2f}",
        f"{cost.requests / row.pods:.2f}" if cost else "",
        f"{cost.writes / cost.fewest:.2f}" if cost and cost.fewest else "",
        f"{cost.processor:.1f} s" if cost else "",
        f"{1000 * cost.processor / row.pods:.1f} ms" if cost else "",
        f"{cost.peak:.0f} MiB" if cost else "",
    )


def clients_table(rows: Iterable[Beside]) -> str:
    """Our client beside the typed one."""
    return table(
        ("processor time per pod", "ours", "typed kubernetes.aio", "ratio", "the loop stood still"),
        (
            (
                row.name,
                f"{1e6 * row.ours:.0f} us",
                f"{1e6 * row.theirs:.0f} us",
                f"{row.ours / row.theirs:.2f}",
                f"{1000 * row.stood:.0f} ms / {1000 * row.stood_theirs:.0f} ms" if row.stood else "",
            )
            for row in rows
        ),
    )


def reviews_table(rows: Iterable[Latency], in_flight: int = IN_FLIGHT) -> str:
    """How long answers of the webhooks take."""
    return table(
        (f"admission, {in_flight} in flight", "asked through", "answers", "median", "p99", "a second"),
        (
            (
                row.what,
                row.way,
                f"{len(row.taken):,}",
                f"{1000 * row.median:.0f} ms",
                f"{1000 * row.p99:.0f} ms",
                f"{row.rate:,.0f}",
            )
            for row in rows
        ),
    )


def growth_table(rows: Sequence[tuple[Measured, Measured]]) -> str:
    """How time, processor time and requests grow with the number of pods."""
    lines = []
    for name in dict.fromkeys(row.name for row, _ in rows):
        found = [(row, row.cost) for row, _ in rows if row.name == name]
        times = exponent([(row.pods, row.ready) for row, _ in found])
        spent = [exponent([(row.pods, cost.processor) for row, cost in found if cost])] if found[0][1] else []
        asked = [exponent([(row.pods, cost.requests) for row, cost in found if cost])] if found[0][1] else []
        cells = [" ".join(f"{value:.2f}" for value in values) for values in ([times], spent, asked)]
        lines.append((name, f"{found[0][0].pods} to {found[-1][0].pods}", *cells))
    return table(("growth", "pods", "all Ready: exponent", "CPU", "requests"), lines)


def rest_line(pods: int, seconds: float, used: Cost) -> str:
    """What was done while nothing was to be done."""
    return (
        f"P18 at rest, {pods} pods, {seconds:.0f} s: {used.writes} writes, {used.requests} requests, "
        f"{used.processor:.2f} s of processor"
    )
