"""Rows about loading a cluster, and keeping it (P1 to P5)."""

import math
from collections.abc import Iterator, Sequence

from benchmarks.bench import Bench
from benchmarks.data.lists import Form
from benchmarks.samples import Bounds, Numbers, Row, growth, ratio, samples_of


def p1_json(bench: Bench) -> Iterator[Row]:
    """A big JSON list against the standard library, which does half of the work."""
    pods = bench.sizes.many
    path = bench.file(Form.COMPACT, pods)
    ours, theirs = bench.in_turn(("load_facts", {"path": path}), ("json_loads", {"path": path}))
    what = f"JSON list to facts, {pods:,} pods / json.loads of the text, collector off"
    yield from _times("P1", what, ours, theirs, bounds=(0.4, 0.5))
    yield from _peaks("P1", "peak memory of the same", ours, theirs)
    escaped = bench.file(Form.COMPACT, pods, annotated=True)
    ours, theirs = bench.in_turn(("load_facts", {"path": escaped}), ("json_loads", {"path": escaped}))
    yield from _times("P1", "the same with escapes in an annotation of each pod", ours, theirs)
    whole = bench.file(Form.COMPACT, pods, owners=True)
    ours, theirs = bench.in_turn(("load_facts", {"path": whole}), ("json_loads", {"path": whole}))
    yield from _times("P1", f"the same with the sets, groups and cliques of {pods:,} pods", ours, theirs)
    pretty = bench.file(Form.PRETTY, pods)
    ours, theirs = bench.in_turn(("load_facts", {"path": pretty}), ("json_loads", {"path": pretty}))
    what = f"-o json list to facts, {pods:,} pods / json.loads of it"
    yield from _times("P1", what, ours, theirs, bounds=(0.5, 0.6))


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
        "P3", f"YAML list to facts, {pods:,} pods / yaml.load(CSafeLoader)", ours, theirs, bounds=(0.06, 0.09)
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
    yield ratio(id_, what, samples_of(ours, "seconds", "s"), samples_of(theirs, "seconds", "s"), bounds=bounds)


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
        yield ratio(id_, what, samples_of(ours, "peak_mb", "MB"), samples_of(theirs, "peak_mb", "MB"), bounds=bounds)


def _growth_of_loading(bench: Bench, id_: str, what: str, form: Form) -> Row:
    few, many = bench.sizes.few, bench.sizes.many
    answers = bench.in_turn(
        ("load_facts", {"path": bench.file(form, few)}), ("load_facts", {"path": bench.file(form, many)})
    )
    small, large = (samples_of(found, "seconds", "s") for found in answers)
    text = f"{what} list to facts, exponent from {{}} to {{}} pods"
    return growth(id_, text, small, large, (few, many), bounds=(1.05, 1.15))


def p5_kept(bench: Bench) -> Iterator[Row]:
    """Memory of a pod that is kept."""
    options = {"pods": bench.sizes.some}
    ours, theirs = bench.in_turn(("kept_facts", options), ("kept_models", options), rounds=1)
    facts, models = samples_of(ours, "bytes", "B"), samples_of(theirs, "bytes", "B")
    yield ratio(
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
