"""Rows about decisions: of clusters, of sets from nothing, of what is asked at admission (P6 to P8, W1 to W3)."""

from collections.abc import Iterator
from itertools import product
from typing import Final

from benchmarks.bench import Bench
from benchmarks.samples import Bounds, Row, Samples, growth, ratio

_TO_REST: Final = (("first", "the first round"), ("all", "all rounds to rest"))


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
        yield ratio("P6", text, Samples(found[f"{way}, shuffled"], "s"), floor, bounds=bounds)


def p7_rate(bench: Bench) -> Iterator[Row]:
    """Pods decided in a second, in both orders: from loose facts, and grouped by owner as an operator keeps them."""
    pods = bench.sizes.most
    found = bench.decisions(pods)
    orders: tuple[tuple[str, Bounds], ...] = (("shuffled", (1, 0.7)), ("in order", (3, 2)))
    ways = (("decide", "full decision"), ("judge", "the same, grouped by owner before"))
    for (order, bounds), (way, what) in product(orders, ways):
        ours, floor = Samples(found[f"{way}, {order}"], "s"), Samples(found[f"floor, {order}"], "s")
        yield Row(
            id="P7",
            what=f"{what}, {pods:,} facts {order}",
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
        text = f"full decision {order}, exponent from {{}} to {{}} facts"
        yield growth("P8", text, small, large, (few, most), bounds=bounds)


def w1_expansion(bench: Bench) -> Iterator[Row]:
    """How planning a set from nothing grows with its replicas."""
    few, most = max(1, bench.sizes.few // 100), max(2, bench.sizes.many // 100)
    small, large = (
        bench.probe("expansion", {"replicas": count, "rounds": bench.sizes.rounds}) for count in (few, most)
    )
    for way, what in _TO_REST:
        less, more = (Samples(found[way], "s") for found in (small, large))
        text = f"a set from nothing, {what}, exponent from {{}} to {{}} replicas of 40 pods"
        yield growth("W1", text, less, more, (few, most), bounds=(1.1, 1.2))


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
        yield ratio("W3", text, on, off, bounds=None if ensures else (1.3, 1.5))
        less = Samples(small[f"{way}, {mode}"], "s")
        text = "the same with its ComputeDomains, exponent from {} to {} replicas of 40 pods"
        yield growth("W3", text, less, on, (few, most), bounds=(1.1, 1.2))
