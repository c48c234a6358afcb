"""The rows of the table by their names: what is measured, beside what, and how good is good enough."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from benchmarks.bench import Bench
from benchmarks.deciding import p6_decision, p7_rate, p8_growth, w1_expansion, w2_reviews, w3_domains
from benchmarks.loading import p1_json, p2_json_growth, p3_yaml, p4_yaml_growth, p5_kept
from benchmarks.program import p10_start, p11_plan, w4_places
from benchmarks.samples import Row

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
