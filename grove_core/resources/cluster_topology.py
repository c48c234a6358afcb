"""ClusterTopology: names the levels of a topology and the node labels that distinguish their domains."""

import re
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from typing import Final, NamedTuple

from grove_core.kernel.errors import ObjectProblem
from grove_core.kernel.frozen import EMPTY, FrozenDict, FrozenMap
from grove_core.kernel.refs import Ref
from grove_core.kernel.structs import replace
from grove_core.resources.api_names import BINDING_KIND, GROVE, TOPOLOGY_KIND
from grove_core.resources.json_field_reader import JsonFieldReader
from grove_core.resources.metadata_readers import Resource, read_labels, read_metadata, stored_inner_object

TOPOLOGY_KINDS: Final = (TOPOLOGY_KIND, BINDING_KIND)
DEFAULT_TOPOLOGY: Final = "grove-topology"
RANKED: Final = ("region", "zone", "datacenter", "block", "rack", "host", "numa")
"""Well-known domains in their order, from broad to narrow; any other has its place in the list of levels."""
MOST_LEVELS: Final = 16
_LONGEST: Final = 63
_DOMAIN: Final = re.compile(r"[a-z][a-z0-9-]*")
_LABEL: Final = re.compile(
    r"([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?"
)


class TopologyLevel(NamedTuple):
    """One level of a topology: its domain, and the key of the node label whose value distinguishes the domains."""

    domain: str
    key: str


Levels = tuple[TopologyLevel, ...]
"""From broad to narrow."""


class ClusterTopology(Resource, frozen=True, kw_only=True):
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


def cluster_topology_from_json(
    raw: Mapping[str, object], shared: MutableMapping[str, str] | None = None
) -> ClusterTopology:
    """Read a topology of either kind; raises MalformedObject with every problem (IN-030)."""
    top = JsonFieldReader(raw, "", [])
    kind = raw.get("kind")
    identity = read_metadata(top, GROVE, kind if kind in TOPOLOGY_KINDS else TOPOLOGY_KIND, shared)
    identity["ref"] = replace(identity["ref"], namespace="")
    return top.result_or_problems(
        ClusterTopology(
            **identity,
            labels=stored_inner_object(read_labels(top)),
            levels=topology_levels_in(top.inner_object("spec")),
        )
    )


def topology_levels_in(spec: JsonFieldReader) -> Levels:
    """Return the ``levels`` of a topology's spec, as written."""
    return tuple(
        TopologyLevel(level.text("domain", required=True), level.text("key", required=True))
        for level in spec.inner_objects("levels")
    )


def effective_topologies(topologies: Iterable[ClusterTopology]) -> FrozenDict[str, ClusterTopology]:
    """Return topologies by name; a ClusterTopology counts before a ClusterTopologyBinding of its name (TP-049)."""
    found: dict[str, ClusterTopology] = {}
    for topology in topologies:
        if topology.ref.kind == TOPOLOGY_KIND or topology.ref.name not in found:
            found[topology.ref.name] = topology
    return FrozenDict(found)


def unreadable_topology_names(unread: Iterable[Ref], known: Iterable[ClusterTopology]) -> frozenset[str]:
    """Return the names whose effective topology (TP-049) cannot be read, by the unread and the read topologies."""
    sure = {topology.ref.name for topology in known if topology.ref.kind == TOPOLOGY_KIND}
    return frozenset(ref.name for ref in unread) - sure


def shadowed_topology_bindings(topologies: Iterable[ClusterTopology]) -> FrozenDict[str, ClusterTopology]:
    """Return by name the bindings that do not count, because a ClusterTopology has their name (TP-049)."""
    every = tuple(topologies)
    counting = {one.ref.name for one in every if one.ref.kind == TOPOLOGY_KIND}
    shadowed = (one for one in every if one.ref.kind != TOPOLOGY_KIND and one.ref.name in counting)
    return FrozenDict((one.ref.name, one) for one in shadowed)


def topology_level_problems(levels: Levels) -> Iterator[ObjectProblem]:
    """Yield the problems of levels, each with its path below ``levels`` (TP-080)."""
    if not 1 <= len(levels) <= MOST_LEVELS:
        yield ObjectProblem(path="", expected=f"between 1 and {MOST_LEVELS} levels", got=str(len(levels)))
    for name, texts, pattern, says in (
        ("domain", [level.domain for level in levels], _DOMAIN, "small letters, digits and '-', a letter first"),
        ("key", [level.key for level in levels], _LABEL, "the key of a node label"),
    ):
        first: dict[str, int] = {}
        for index, text in enumerate(texts):
            if not pattern.fullmatch(text) or len(text) > _LONGEST:
                yield ObjectProblem(
                    path=f"[{index}].{name}", expected=f"{says}, at most {_LONGEST} characters", got=text
                )
            if first.setdefault(text, index) != index:
                yield ObjectProblem(
                    path=f"[{index}].{name}", expected=f"another one than level {first[text]}", got=text
                )
    widest = -1
    for index, level in enumerate(levels):
        rank = RANKED.index(level.domain) if level.domain in RANKED else widest
        if rank < widest:
            expected = f"levels from broad to narrow: {level.domain} is broader than {RANKED[widest]}"
            yield ObjectProblem(path=f"[{index}].domain", expected=expected, got=level.domain)
        widest = max(widest, rank)
