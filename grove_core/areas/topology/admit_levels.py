"""Admission of topologies themselves (TP-080 to TP-087)."""

from collections.abc import Iterable, Iterator

from grove_core.areas.topology.admit import TopologyView
from grove_core.areas.topology.rules import Refuse, Warn
from grove_core.kernel.admission import Caution
from grove_core.kernel.refs import Ref
from grove_core.resources.cluster_topology import DEFAULT_TOPOLOGY, ClusterTopology, Levels, level_problems
from grove_core.resources.configuration import Configuration
from grove_core.resources.names import listed
from grove_core.resources.topology_usage import TopologyUser, users_with_bound_pods
from grove_core.resources.violation import Violation

LEVELS = "spec.levels"


def level_violations(
    new: ClusterTopology, old: ClusterTopology | None, configuration: Configuration, around: TopologyView
) -> Iterator[Violation]:
    """Every objection; none to what leaves the levels as they are, whatever else changes."""
    if old is not None and old.levels == new.levels:
        return
    for problem in level_problems(new.levels):
        yield Violation(f"{LEVELS}{problem.path}", problem.got, Refuse.LEVELS_INVALID, {"expected": problem.expected})
    told = configuration.topology
    if told.enabled and new.ref.name == DEFAULT_TOPOLOGY and new.levels != told.levels:
        yield Violation(LEVELS, levels_text(new.levels), Refuse.NAME_RESERVED, {"levels": levels_text(told.levels)})
    bound = users_with_bound_pods((around.users or {}).get(new.ref.name, ())) if old is not None else ()
    if bound:
        yield Violation(LEVELS, levels_text(new.levels), Refuse.LEVELS_IN_USE, {"users": users_text(bound)})


def level_warnings(
    subject: Ref, new: ClusterTopology, old: ClusterTopology | None, around: TopologyView
) -> Iterator[Caution]:
    """Who uses it could not be looked up, or not all of them."""
    if old is not None and old.levels != new.levels and (around.users is None or around.partial):
        yield Violation(LEVELS, levels_text(new.levels), Warn.USERS_NOT_KNOWN, {}).caution(subject)


def levels_text(levels: Levels) -> str:
    """Levels on one line: ``zone (topology.kubernetes.io/zone), host (kubernetes.io/hostname)``."""
    return ", ".join(f"{level.domain} ({level.key})" for level in levels) or "none"


def users_text(users: Iterable[TopologyUser]) -> str:
    """Sets on one line."""
    return listed(user.text for user in users)
