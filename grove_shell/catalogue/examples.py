"""Examples to begin with: files of the repository, which the wheel has too (CL-118)."""

from pathlib import Path
from typing import Final, NamedTuple


class Example(NamedTuple):
    """An example: its file below ``examples/``, and what it shows."""

    file: str
    meaning: str


EXAMPLES: Final = {
    "one-clique": Example("write-a-set/1-one-clique.yaml", "the smallest set: pods of one role"),
    "two-cliques": Example("write-a-set/2-two-cliques.yaml", "two roles, a minimum, and an order of start"),
    "scaling-group": Example("write-a-set/3-scaling-group.yaml", "cliques that are scaled together"),
    "termination-delay": Example("write-a-set/4-termination-delay.yaml", "how long a broken gang may live"),
    "topology-constraint": Example("write-a-set/5-topology.yaml", "pods of a gang in one rack"),
    "degraded-cluster": Example("degraded.yaml", "a dump of six sets, two of which are terminated; for grove plan"),
}
"""By name; a test compares the files with those that the wheel takes along."""


def example_text(name: str) -> str:
    """Return the file of an example."""
    packaged = Path(__file__).with_name("examples") / f"{name}.yaml"
    checkout = Path(__file__).parents[2] / "examples" / EXAMPLES[name].file
    return (packaged if packaged.is_file() else checkout).read_text(encoding="utf-8")
