"""The rows of the table: what is measured, beside what, and how good is good enough.

Candidate and baseline take turns, and their medians are compared: on a shared machine trust ratios, not seconds.
Seconds are of the processor, but for P10 and P11, where they are what a person waits.
"""

import json
import math
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, Final, TypeAlias

from benchmarks.data.cast import NOW
from benchmarks.data.lists import Form, write_list
from benchmarks.nodes import TOPOLOGIES, gang_of, nodes, text_of
from grove_core.kernel.times import format_time

Numbers: TypeAlias = Mapping[str, Any]
Bounds: TypeAlias = tuple[float, float] | None
_ROOT: Final = Path(__file__).parents[1]
_TO_REST: Final = (("first", "the first round"), ("all", "all rounds to rest"))


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much to measure. Exponents span ``few`` to ``many``, or to ``most`` for decisions.

    Attributes:
        rounds: how often each thing is timed; start-up, which is short, ``starts`` times.
    """

    few: int
    some: int
    many: int
    most: int
    rounds: int
    starts: int


FULL: Final = Sizes(few=1_000, some=10_000, many=100_000, most=1_000_000, rounds=5, starts=11)
QUICK: Final = Sizes(few=1_000, some=1_000, many=10_000, most=100_000, rounds=5, starts=11)
TINY: Final = Sizes(few=80, some=80, many=160, most=160, rounds=1, starts=1)


@dataclass(frozen=True, slots=True)
class Samples:
    """What was measured, several times, in one unit."""

    values: Sequence[float]
    unit: str

    @property
    def median(self) -> float:
        """The value in the middle."""
        return median(self.values)

    def __str__(self) -> str:
        return f"{amount(self.median, self.unit)} (min {amount(min(self.values), self.unit)})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the table.

    Attributes:
        value: what is compared with the bounds; ``unit`` belongs to it.
        bounds: the goal, and the bound beyond which it is a failure; None where the row is only for information.
        more_is_better: whether they are lower bounds.
        n: how many measurements the medians are of.
    """

    id: str
    what: str
    candidate: str
    baseline: str = ""
    value: float
    unit: str
    bounds: Bounds = None
    more_is_better: bool = False
    n: int

    @property
    def measure(self) -> str:
        """The value for a person."""
        return amount(self.value, self.unit)

    @property
    def goal(self) -> str:
        """Both bounds for a person."""
        if self.bounds is None:
            return ""
        goal, fail = (amount(bound, self.unit) for bound in self.bounds)
        return f"{'>=' if self.more_is_better else '<='} {goal} ({fail})"

    @property
    def verdict(self) -> str:
        """How the value stands to its bounds."""
        if self.bounds is None:
            return "for information"
        sign = -1 if self.more_is_better else 1
        goal, fail = (self.value * sign <= bound * sign for bound in self.bounds)
        return "meets goal" if goal else "within fail bound" if fail else "over"


def amount(value: float, unit: str) -> str:
    """A number with its unit, with three digits that count."""
    if unit == "s" and value < 1:
        return amount(value * 1000, "ms") if value >= 1e-3 else f"{value * 1e6:.3g} us"
    text = f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return f"{text}x" if unit == "x" else f"{text} {unit}".rstrip()


@dataclass(frozen=True, slots=True)
class Runs:
    """How long some runs of a program took: by the clock, and of the processor."""

    wall: Samples
    processor: Samples


@dataclass(frozen=True)
class Bench:
    """One run: a folder for its files, and how much to measure."""

    folder: Path
    sizes: Sizes
    _decisions: dict[int, Mapping[str, list[float]]] = field(default_factory=dict)

    def file(self, form: Form, pods: int, *, owners: bool = False, annotated: bool = False) -> str:
        """A list of that many pods; written when first asked for."""
        path = self.folder / f"{'cluster' if owners else 'pods'}-{pods}{'-annotated' * annotated}{form.value}"
        if not path.exists():
            write_list(path, form, pods, owners=owners, annotated=annotated)
        return str(path)

    @property
    def environment(self) -> dict[str, str]:
        """Of the processes that are measured: compiled modules are kept, as in an installation, but in our folder."""
        kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        return kept | {"PYTHONPYCACHEPREFIX": str(self.folder / "pycache")}

    def probe(self, name: str, options: Numbers) -> Numbers:
        """Measure in a fresh process."""
        command = [sys.executable, "-m", "benchmarks.probes", name, json.dumps(options)]
        done = subprocess.run(command, cwd=_ROOT, check=True, stdout=subprocess.PIPE, env=self.environment)
        answer: Numbers = json.loads(done.stdout)
        return answer

    def in_turn(self, *probes: tuple[str, Numbers], rounds: int = 0) -> list[list[Numbers]]:
        """Run some probes one after the other, round by round; for each the list of its answers."""
        answers: list[list[Numbers]] = [[] for _ in probes]
        for _ in range(rounds or self.sizes.rounds):
            for (name, options), found in zip(probes, answers, strict=True):
                found.append(self.probe(name, options))
        return answers

    def decisions(self, pods: int) -> Mapping[str, list[float]]:
        """Decision times of a cluster; measured once, for several rows ask for them."""
        if pods not in self._decisions:
            whole = pods <= self.sizes.many
            options = {"pods": pods, "rounds": self.sizes.rounds, "whole_plans": whole}
            self._decisions[pods] = self.probe("decisions", options)
        return self._decisions[pods]

    def commands_in_turn(self, commands: Sequence[Sequence[str]], rounds: int) -> list[Runs]:
        """Times of some programs, after one run of each that warms up."""
        times: list[list[tuple[float, float]]] = [[] for _ in commands]
        for measured in range(-1, rounds):
            for command, found in zip(commands, times, strict=True):
                start, used = perf_counter(), _processor_time_of_children()
                subprocess.run(command, cwd=_ROOT, check=True, stdout=subprocess.DEVNULL, env=self.environment)
                if measured >= 0:
                    found.append((perf_counter() - start, _processor_time_of_children() - used))
        return [Runs(*(Samples(values, "s") for values in zip(*found, strict=True))) for found in times]


def _samples(answers: Iterable[Numbers], key: str, unit: str) -> Samples:
    return Samples([answer[key] for answer in answers], unit)


def _exponent(smaller: float, larger: float, growth: float) -> float:
    """With which power of the size the time grows; 1 is linear."""
    return math.log(larger / smaller) / math.log(growth)


# ------------------------------------------------------------------------------------------------------ loading


def p1_json(bench: Bench) -> Iterator[Row]:
    """A big JSON list against the standard library, which does half of the work."""
    pods = bench.sizes.many
    path = bench.file(Form.COMPACT, pods)
    ours, theirs = bench.in_turn(("load_facts", {"path": path}), ("json_loads", {"path": path}))
    what = f"JSON list to facts, {pods:,} pods / json.loads of the text, collector off"
    yield from _times("P1", what, ours, theirs, bounds=(1.1, 1.5))
    yield from _peaks("P1", "peak memory of the same", ours, theirs)
    escaped = bench.file(Form.COMPACT, pods, annotated=True)
    ours, theirs = bench.in_turn(("load_facts", {"path": escaped}), ("json_loads", {"path": escaped}))
    yield from _times("P1", "the same with escapes in an annotation of each pod", ours, theirs)
    whole = bench.file(Form.COMPACT, pods, owners=True)
    ours, theirs = bench.in_turn(("load_facts", {"path": whole}), ("json_loads", {"path": whole}))
    yield from _times("P1", f"the same with the sets, groups and cliques of {pods:,} pods", ours, theirs)
    pretty = bench.file(Form.PRETTY, pods)
    ours, theirs = bench.in_turn(("load_facts", {"path": pretty}), ("json_loads", {"path": pretty}))
    yield from _times("P1", f"-o json list to facts, {pods:,} pods / json.loads of it", ours, theirs)


def p2_json_growth(bench: Bench) -> Iterator[Row]:
    """How loading JSON grows."""
    yield _growth_of_loading(bench, "P2", "JSON", Form.COMPACT)


def p3_yaml(bench: Bench) -> Iterator[Row]:
    """A YAML list against PyYAML's C loader, as it is and with the collector off."""
    pods = bench.sizes.some
    path = bench.file(Form.YAML, pods)
    ours, theirs, quiet = bench.in_turn(
        ("load_facts", {"path": path}),
        ("yaml_load", {"path": path, "collector": True}),
        ("yaml_load", {"path": path, "collector": False}),
    )
    yield from _times(
        "P3", f"YAML list to facts, {pods:,} pods / yaml.load(CSafeLoader)", ours, theirs, bounds=(0.15, 0.25)
    )
    yield from _peaks("P3", "peak memory of the same", ours, theirs, bounds=(0.03, 0.1))
    yield from _times("P3", "the same / yaml.load(CSafeLoader) with the collector off", ours, quiet)


def p4_yaml_growth(bench: Bench) -> Iterator[Row]:
    """How loading YAML grows."""
    yield _growth_of_loading(bench, "P4", "YAML", Form.YAML)


def _times(
    id_: str,
    what: str,
    ours: Sequence[Numbers],
    theirs: Sequence[Numbers],
    *,
    bounds: Bounds = None,
) -> Iterator[Row]:
    yield _ratio(id_, what, _samples(ours, "seconds", "s"), _samples(theirs, "seconds", "s"), bounds=bounds)


def _peaks(
    id_: str,
    what: str,
    ours: Sequence[Numbers],
    theirs: Sequence[Numbers],
    *,
    bounds: Bounds = None,
) -> Iterator[Row]:
    """Nothing where the system does not tell."""
    if not any(math.isnan(answer["peak_mb"]) for answer in (*ours, *theirs)):
        yield _ratio(id_, what, _samples(ours, "peak_mb", "MB"), _samples(theirs, "peak_mb", "MB"), bounds=bounds)


def _ratio(id_: str, what: str, ours: Samples, theirs: Samples, *, bounds: Bounds = None) -> Row:
    return Row(
        id=id_,
        what=what,
        candidate=str(ours),
        baseline=str(theirs),
        value=ours.median / theirs.median,
        unit="x",
        bounds=bounds,
        n=len(ours.values),
    )


def _growth_of_loading(bench: Bench, id_: str, what: str, form: Form) -> Row:
    few, many = bench.sizes.few, bench.sizes.many
    answers = bench.in_turn(
        ("load_facts", {"path": bench.file(form, few)}), ("load_facts", {"path": bench.file(form, many)})
    )
    small, large = (_samples(found, "seconds", "s") for found in answers)
    return Row(
        id=id_,
        what=f"{what} list to facts, exponent from {few:,} to {many:,} pods",
        candidate=str(large),
        baseline=str(small),
        value=_exponent(small.median, large.median, many / few),
        unit="",
        bounds=(1.05, 1.15),
        n=len(large.values),
    )


# ------------------------------------------------------------------------------------------------------ keeping


def p5_kept(bench: Bench) -> Iterator[Row]:
    """Memory of a pod that is kept."""
    options = {"pods": bench.sizes.some}
    ours, theirs = bench.in_turn(("kept_facts", options), ("kept_models", options), rounds=1)
    facts, models = _samples(ours, "bytes", "B"), _samples(theirs, "bytes", "B")
    yield _ratio(
        "P5", "memory kept for each pod, a fact / a nested frozen pydantic model", facts, models, bounds=(0.1, 0.15)
    )
    yield Row(
        id="P5",
        what="memory kept for each pod",
        candidate=str(facts),
        value=facts.median,
        unit="B",
        bounds=(800, 1200),
        n=len(facts.values),
    )


# ----------------------------------------------------------------------------------------------------- deciding


def p6_decision(bench: Bench) -> Iterator[Row]:
    """A whole decision against a loop that only reads."""
    pods = bench.sizes.many
    found = bench.decisions(pods)
    floor = Samples(found["floor, shuffled"], "s")
    ways: tuple[tuple[str, str, Bounds], ...] = (
        ("decide", "full decision", (8, 12)),
        ("index", "of which indexing", None),
        ("judge", "judging only, indexed before", None),
        ("plan", "indexing and whole plans: statuses, steps, findings", None),
    )
    for way, what, bounds in ways:
        text = f"{what}, {pods:,} facts shuffled / reading five slots of them"
        yield _ratio("P6", text, Samples(found[f"{way}, shuffled"], "s"), floor, bounds=bounds)


def p7_rate(bench: Bench) -> Iterator[Row]:
    """Pods decided in a second, in both orders."""
    pods = bench.sizes.most
    found = bench.decisions(pods)
    for order, bounds in (("shuffled", (1, 0.7)), ("in order", (3, 2))):
        ours, floor = (Samples(found[f"{way}, {order}"], "s") for way in ("decide", "floor"))
        yield Row(
            id="P7",
            what=f"full decision, {pods:,} facts {order}",
            candidate=str(ours),
            baseline=str(floor),
            value=pods / ours.median / 1e6,
            unit="M/s",
            bounds=bounds,
            more_is_better=True,
            n=len(ours.values),
        )


def p8_growth(bench: Bench) -> Iterator[Row]:
    """How deciding grows, in both orders."""
    few, most = bench.sizes.few, bench.sizes.most
    for order, bounds in (("in order", (1.2, 1.3)), ("shuffled", (1.35, 1.45))):
        small, large = (Samples(bench.decisions(pods)[f"decide, {order}"], "s") for pods in (few, most))
        yield Row(
            id="P8",
            what=f"full decision {order}, exponent from {few:,} to {most:,} facts",
            candidate=str(large),
            baseline=str(small),
            value=_exponent(small.median, large.median, most / few),
            unit="",
            bounds=bounds,
            n=len(large.values),
        )


# --------------------------------------------------------------------------------------------------- the program


def p10_start(bench: Bench) -> Iterator[Row]:
    """How long a person waits for help."""
    ours, theirs = bench.commands_in_turn(
        [[sys.executable, "-m", "grove_shell", "plan", "--help"], [sys.executable, "-c", "pass"]], bench.sizes.starts
    )
    yield _ratio("P10", "grove plan --help / python -c pass", ours.wall, theirs.wall, bounds=(5, 7.5))
    yield Row(
        id="P10",
        what="grove plan --help",
        candidate=str(ours.wall),
        value=ours.wall.median * 1000,
        unit="ms",
        bounds=(80, 150),
        n=len(ours.wall.values),
    )
    yield _ratio("P10", "the same in processor time", ours.processor, theirs.processor)


def p11_plan(bench: Bench) -> Iterator[Row]:
    """How long a person waits for a plan."""
    pods = bench.sizes.some
    path = bench.file(Form.PRETTY, pods, owners=True)
    command = [sys.executable, "-m", "grove_shell", "plan", "-f", path, "--now", format_time(NOW)]
    read = f"import json, gc; gc.disable(); json.loads(open({path!r}, encoding='utf-8').read())"
    ours, machine, theirs = bench.commands_in_turn(
        [command, [*command, "-o", "json"], [sys.executable, "-c", read]], bench.sizes.rounds
    )
    yield Row(
        id="P11",
        what=f"grove plan of {pods:,} pods, -o json file / python that only runs json.loads on it",
        candidate=str(ours.wall),
        baseline=str(theirs.wall),
        value=ours.wall.median,
        unit="s",
        bounds=(0.8, 1.5),
        n=len(ours.wall.values),
    )
    yield _ratio("P11", "the same in processor time", ours.processor, theirs.processor)
    yield _ratio("P11", "the same with -o json, in processor time", machine.processor, theirs.processor)


def w1_expansion(bench: Bench) -> Iterator[Row]:
    """How planning a set from nothing grows with its replicas."""
    few, most = max(1, bench.sizes.few // 100), max(2, bench.sizes.many // 100)
    small, large = (
        bench.probe("expansion", {"replicas": count, "rounds": bench.sizes.rounds}) for count in (few, most)
    )
    for way, what in _TO_REST:
        less, more = (Samples(found[way], "s") for found in (small, large))
        yield Row(
            id="W1",
            what=f"a set from nothing, {what}, exponent from {few:,} to {most:,} replicas of 40 pods",
            candidate=str(more),
            baseline=str(less),
            value=_exponent(less.median, more.median, most / few),
            unit="",
            bounds=(1.1, 1.2),
            n=len(more.values),
        )


def w2_reviews(bench: Bench) -> Iterator[Row]:
    """How long an API server waits for the webhooks, the way there and back apart."""
    others = bench.sizes.some
    found = bench.probe("reviews", {"sets": others, "rounds": bench.sizes.rounds})
    for way, what in (("defaults", "defaults written"), ("verdict", "judged")):
        ours, floor = Samples(found[way], "s"), Samples(found["parse"], "s")
        yield Row(
            id="W2",
            what=f"a set of 40 pods a replica reviewed beside {others:,} others: {what}",
            candidate=str(ours),
            baseline=str(floor),
            value=ours.median * 1000,
            unit="ms",
            bounds=(3, 9),
            n=len(ours.values),
        )


def w3_domains(bench: Bench) -> Iterator[Row]:
    """What ComputeDomains add to planning a set from nothing, and how that grows with its replicas."""
    few, most = max(1, bench.sizes.few // 100), max(2, bench.sizes.many // 200)
    small, large = (bench.probe("domains", {"replicas": count, "rounds": bench.sizes.rounds}) for count in (few, most))
    for mode, (way, what) in product(("operator", "annotations"), _TO_REST):
        on, off = (Samples(large[f"{way}, {switch}"], "s") for switch in (mode, "off"))
        text = f"a set of {most:,} replicas with its {most:,} ComputeDomains, mode {mode}, {what} / with MNNVL off"
        ensures = (mode, way) == ("annotations", "first")  # all domains and claims are steps of that one round
        yield _ratio("W3", text, on, off, bounds=None if ensures else (1.3, 1.5))
        less = Samples(small[f"{way}, {mode}"], "s")
        yield Row(
            id="W3",
            what=f"the same with its ComputeDomains, exponent from {few:,} to {most:,} replicas of 40 pods",
            candidate=str(on),
            baseline=str(less),
            value=_exponent(less.median, on.median, most / few),
            unit="",
            bounds=(1.1, 1.2),
            n=len(on.values),
        )


def w4_places(bench: Bench) -> Iterator[Row]:
    """How long a person waits to be told whether a gang has a place, and how that grows with the nodes."""
    most = max(40, bench.sizes.many // 20)
    few = most // 5
    pods = min(bench.sizes.few, 2 * few)
    command = (sys.executable, "-m", "grove_shell", "topology", "check")
    commands = [[*command, *_check_files(bench.folder, *size)] for size in ((few, pods), (most, pods), (8, 8))]
    small, large, least = bench.commands_in_turn(commands, bench.sizes.rounds)
    yield Row(
        id="W4",
        what=f"grove topology check: {most:,} nodes, two topologies, a gang of {pods:,} pods at three levels",
        candidate=str(large.wall),
        baseline=str(least.wall),
        value=large.wall.median,
        unit="s",
        bounds=(2, 3),
        n=len(large.wall.values),
    )
    start = least.processor.median
    yield Row(
        id="W4",
        what=f"the same beyond what 8 nodes take, exponent from {few:,} to {most:,} nodes",
        candidate=str(large.processor),
        baseline=str(small.processor),
        value=_exponent(
            max(small.processor.median - start, 1e-3), max(large.processor.median - start, 1e-3), most / few
        ),
        unit="",
        bounds=(1.2, 1.3),
        n=len(large.processor.values),
    )


def _check_files(folder: Path, count: int, pods: int) -> list[str]:
    """Half of the nodes are of one kind and half of the other; the set knows both topologies, and uses one."""
    written = {
        f"nodes-{count}.json": text_of(nodes(h100=count // 2, gb200=count - count // 2)),
        f"gang-{pods}.json": json.dumps(gang_of(pods)),
        "topologies.json": json.dumps({"kind": "List", "apiVersion": "v1", "items": TOPOLOGIES}),
    }
    words: list[str] = []
    for name, text in written.items():
        (folder / name).write_text(text, encoding="utf-8")
        words += ["-f", str(folder / name)]
    return words


def _processor_time_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


ROWS: Final[Mapping[str, Callable[[Bench], Iterator[Row]]]] = {
    "P1": p1_json,
    "P2": p2_json_growth,
    "P3": p3_yaml,
    "P4": p4_yaml_growth,
    "P5": p5_kept,
    "P6": p6_decision,
    "P7": p7_rate,
    "P8": p8_growth,
    "P10": p10_start,
    "P11": p11_plan,
    "W1": w1_expansion,
    "W2": w2_reviews,
    "W3": w3_domains,
    "W4": w4_places,
}
