"""Parses the options of ``grove converge`` into points, and reports every problem at once (CL-005)."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import product
from typing import Final, TypeVar, cast

from grove_core.areas.domain_cliques.daemon.registration_protocols import (
    RegistrationProtocol,
    registration_protocol_by_name,
    registration_protocol_problems,
)
from grove_core.kernel.errors import ObjectProblem
from grove_core.kernel.time_formats import parse_duration
from grove_shell.converge.run_parameters_and_results import ConvergenceRunParameters

T = TypeVar("T")
UNLIMITED: Final = "unlimited"
ALL: Final = "all"
_MAX_NODES: Final = 100_000
_MAX_SEEDS: Final = 1_000
_MAX_CORES: Final = 1_024
_MAX_SECONDS: Final = 24 * 3600.0
_MAX_RATE: Final = 1_000_000.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvergeCommandOptions:
    """The options as written; see ``grove converge --help``."""

    nodes: str = "18..1152"
    protocols: tuple[str, ...] = (ALL,)
    clique_size: str = "18"
    limit: str = "18"
    seeds: str = "5"
    arrival: str = "2s"
    readiness: str = "1s"
    limiter: str = "5/10"
    server_cores: str = "2"
    run_limit: str = "10m"


def convergence_run_parameters_from_options(
    arguments: ConvergeCommandOptions,
) -> tuple[tuple[ConvergenceRunParameters, ...], tuple[ObjectProblem, ...]]:
    """Return all points; no points if there are problems."""
    problems: list[ObjectProblem] = []

    def parsed(option: str, text: str, parse: Callable[[str], T | None], expected: str) -> T:
        found = parse(text)
        if found is None:
            problems.append(ObjectProblem(path=option, expected=expected, got=f'"{text}"'))
        return cast("T", found)  # None only with a problem, and then no point is made

    duration = 'a duration such as "2s", at most a day'
    sizes_expected = f'numbers of nodes such as "18..1152" or "4,18,144", each at most {_MAX_NODES}'
    nodes = parsed("--nodes", arguments.nodes, _numbers, sizes_expected)
    sizes = parsed("--clique-size", arguments.clique_size, _numbers, 'sizes such as "18" or "4,9,18"')
    limit = parsed("--limit", arguments.limit, _number, "a number of indices")
    seeds = parsed("--seeds", arguments.seeds, _at_most(_MAX_SEEDS), f"a number from 1 to {_MAX_SEEDS}")
    arrival = parsed("--arrival", arguments.arrival, _seconds, duration)
    readiness = parsed("--readiness", arguments.readiness, _seconds, duration)
    run_limit = parsed("--run-limit", arguments.run_limit, _positive_seconds, f"{duration}, and more than 0s")
    limiter = parsed("--limiter", arguments.limiter, _limiter, 'requests/s and burst such as "5/10", or "none"')
    cores = parsed("--server-cores", arguments.server_cores, _cores, f'a number of cores, or "{UNLIMITED}"')
    protocols = tuple(_protocols(arguments.protocols, problems))
    if limit is not None and sizes is not None:
        problems += _of_settings(limit, sizes)
    if problems:
        return (), tuple(problems)
    return tuple(
        ConvergenceRunParameters(
            protocol=protocol,
            nodes=count,
            clique_size=size,
            limit=limit,
            seed=seed,
            arrival_s=arrival,
            readiness_s=readiness,
            rate=limiter[0],
            burst=limiter[1],
            server_cores=cores or None,
            run_limit_s=run_limit,
        )
        for protocol, size, count, seed in product(protocols, sizes, nodes, range(seeds))
    ), ()


def _of_settings(limit: int, sizes: tuple[int, ...]) -> Iterator[ObjectProblem]:
    """Problems of the limit once, and of each clique size above it."""
    options = {"limit": "--limit", "clique size": "--clique-size"}
    found = [
        problem
        for size in sizes
        for problem in registration_protocol_problems(RegistrationProtocol.SSA.short_name, limit, size)
    ]
    for problem in dict.fromkeys(found):
        more = "; --limit raises it" if problem.path == "clique size" else ""
        yield ObjectProblem(path=options[problem.path], expected=f"{problem.expected}{more}", got=problem.got)


def _protocols(words: tuple[str, ...], problems: list[ObjectProblem]) -> Iterator[RegistrationProtocol]:
    if ALL in words:
        yield from RegistrationProtocol
    known = [one.short_name for one in RegistrationProtocol]
    for word in dict.fromkeys(words):
        found = registration_protocol_by_name(word)
        if found is not None and ALL not in words:
            yield found
        if found is None and word != ALL:
            near = get_close_matches(word.lower(), [*known, ALL], n=1)
            hint = f'; did you mean "{near[0]}"?' if near else ""
            expected = f"one of {', '.join(known)} or {ALL}{hint}"
            problems.append(ObjectProblem(path="--protocol", expected=expected, got=f'"{word}"'))


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() and 0 < len(text) <= 9 else None  # noqa: PLR2004 - digits


def _at_most(most: int) -> Callable[[str], int | None]:
    def read(text: str) -> int | None:
        found = _number(text)
        return found if found is not None and 1 <= found <= most else None

    return read


def _numbers(text: str) -> tuple[int, ...] | None:
    """Parse numbers and doubling ranges, separated by commas; sorted, without repetitions."""
    found: set[int] = set()
    for part in text.split(","):
        first, dots, last = (word.strip() for word in part.partition(".."))
        low = _at_most(_MAX_NODES)(first)
        high = _at_most(_MAX_NODES)(last) if dots else low
        if low is None or high is None or low > high:
            return None
        while low < high:
            found.add(low)
            low *= 2
        found.add(high)
    return tuple(sorted(found))


def _seconds(text: str) -> float | None:
    span = parse_duration(text)
    return span.total_seconds() if span is not None and span.total_seconds() <= _MAX_SECONDS else None


def _positive_seconds(text: str) -> float | None:
    return _seconds(text) or None


def _limiter(text: str) -> tuple[float, int] | None:
    """Parse rate and burst; ``none`` is a rate of 0."""
    if text == "none":
        return 0.0, 1
    rate, slash, burst = text.partition("/")
    count = _number(burst)
    try:
        speed = float(rate)
    except ValueError:
        return None
    return (speed, count) if slash and count and 0 < speed <= _MAX_RATE else None


def _cores(text: str) -> int | None:
    """Parse a number of cores; ``unlimited`` is 0."""
    return 0 if text == UNLIMITED else _at_most(_MAX_CORES)(text)
