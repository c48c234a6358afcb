"""ClusterTopology: names the levels of a topology and the node labels that distinguish their domains."""

import re
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from grove_core.kernel.errors import MalformedObject, Problem
from grove_core.kernel.frozen import EMPTY, FrozenMap
from grove_core.kernel.refs import Ref
from grove_core.resources.api_names import GROVE
from grove_core.resources.fields import Fields
from grove_core.resources.meta import Resource, read_identity, read_labels, view_of

TOPOLOGY_KIND: Final = "ClusterTopology"
BINDING_KIND: Final = "ClusterTopologyBinding"
"""What newer clusters call it (decision D17)."""
TOPOLOGY_KINDS: Final = (TOPOLOGY_KIND, BINDING_KIND)
DEFAULT_TOPOLOGY: Final = "grove-topology"
RANKED: Final = ("region", "zone", "datacenter", "block", "rack", "host", "numa")
"""Domains whose order everybody knows, from broad to narrow; others are as narrow as where they stand."""
MOST_LEVELS: Final = 16
_LONGEST: Final = 63
_DOMAIN: Final = re.compile(r"[a-z][a-z0-9-]*")
_LABEL: Final = re.compile(
    r"([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?"
)


class Level(NamedTuple):
    """One level of a topology: its domain, and the key of the node label whose value distinguishes the domains."""

    domain: str
    key: str


Levels = tuple[Level, ...]
"""From broad to narrow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterTopology(Resource):
    """A ClusterTopology, or a ClusterTopologyBinding read as one. It has no namespace.

    Attributes:
        labels: as stored.
        levels: from broad to narrow, as written.
    """

    labels: FrozenMap = EMPTY
    levels: Levels = ()


def topology_ref(name: str, kind: str = TOPOLOGY_KIND) -> Ref:
    """Where a topology stands."""
    return Ref(GROVE, kind, "", name)


def cluster_topology_of(raw: Mapping[str, Any], shared: MutableMapping[str, str] | None = None) -> ClusterTopology:
    """Project a topology of either kind; unknown fields are ignored.

    Raises:
        MalformedObject: with every problem (IN-030).
    """
    problems: list[Problem] = []
    top = Fields(raw, "", problems)
    kind = raw.get("kind")
    identity = read_identity(top, GROVE, kind if kind in TOPOLOGY_KINDS else TOPOLOGY_KIND, shared)
    identity["ref"] = replace(identity["ref"], namespace="")
    topology = ClusterTopology(**identity, labels=view_of(read_labels(top)), levels=levels_in(top.part("spec")))
    if problems:
        raise MalformedObject(tuple(problems))
    return topology


def levels_in(spec: Fields) -> Levels:
    """Return the ``levels`` of a topology's spec, as written."""
    return tuple(
        Level(level.text("domain", required=True), level.text("key", required=True)) for level in spec.parts("levels")
    )


def effective_topologies(topologies: Iterable[ClusterTopology]) -> dict[str, ClusterTopology]:
    """Return topologies by name; a ClusterTopology counts before a ClusterTopologyBinding of its name (TP-004)."""
    found: dict[str, ClusterTopology] = {}
    for topology in topologies:
        if topology.ref.kind == TOPOLOGY_KIND or topology.ref.name not in found:
            found[topology.ref.name] = topology
    return found


def unreadable_names(unread: Iterable[Ref], known: Iterable[ClusterTopology]) -> frozenset[str]:
    """Return the names whose effective topology (TP-004) cannot be read.

    Args:
        unread: the topologies that cannot be read.
        known: the topologies that can be read.
    """
    sure = {topology.ref.name for topology in known if topology.ref.kind == TOPOLOGY_KIND}
    return frozenset(ref.name for ref in unread) - sure


def shadowed_bindings(topologies: Iterable[ClusterTopology]) -> dict[str, ClusterTopology]:
    """Return by name the bindings that do not count, because a ClusterTopology has their name (TP-004, TP-049)."""
    every = tuple(topologies)
    counting = {one.ref.name for one in every if one.ref.kind == TOPOLOGY_KIND}
    return {one.ref.name: one for one in every if one.ref.kind != TOPOLOGY_KIND and one.ref.name in counting}


def level_problems(levels: Levels) -> Iterator[Problem]:
    """Return the problems of levels, each with its path below ``levels`` (TP-080)."""
    if not 1 <= len(levels) <= MOST_LEVELS:
        yield Problem(path="", expected=f"between 1 and {MOST_LEVELS} levels", got=str(len(levels)))
    for name, texts, pattern, says in (
        ("domain", [level.domain for level in levels], _DOMAIN, "small letters, digits and '-', a letter first"),
        ("key", [level.key for level in levels], _LABEL, "the key of a node label"),
    ):
        first: dict[str, int] = {}
        for index, text in enumerate(texts):
            if not pattern.fullmatch(text) or len(text) > _LONGEST:
                yield Problem(path=f"[{index}].{name}", expected=f"{says}, at most {_LONGEST} characters", got=text)
            if first.setdefault(text, index) != index:
                yield Problem(path=f"[{index}].{name}", expected=f"another one than level {first[text]}", got=text)
    widest = -1
    for index, level in enumerate(levels):
        rank = RANKED.index(level.domain) if level.domain in RANKED else widest
        if rank < widest:
            expected = f"levels from broad to narrow: {level.domain} is broader than {RANKED[widest]}"
            yield Problem(path=f"[{index}].domain", expected=expected, got=level.domain)
        widest = max(widest, rank)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a suggestion for an unknown name, as the end of a sentence; empty where no known name is similar.

    The cost is the length of the name times the total length of the known names.
    """
    names = list(known)
    found = most_similar(name, names)
    return f", did you mean {found if len(names) > 1 else 'that'}?" if found else ""


def most_similar(name: str, known: Iterable[str]) -> str:
    """Return the known name with the fewest different letters; empty where all differ by more than a typing error."""
    distance, found = min(((_distance(name, other), other) for other in known), default=(0, ""))
    return found if distance <= max(1, len(name) // 4) else ""


def _distance(one: str, other: str) -> int:
    """Return how many letters have to be added, removed or replaced."""
    row = list(range(len(other) + 1))
    for place, letter in enumerate(one, 1):
        before, row[0] = row[0], place
        for index, there in enumerate(other, 1):
            before, row[index] = row[index], min(row[index] + 1, row[index - 1] + 1, before + (letter != there))
    return row[-1]
