"""Admission of the levels of a ClusterTopology (TP-080 to TP-087)."""

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
    new: ClusterTopology, old: ClusterTopology | None, configuration: Configuration, view: TopologyView
) -> Iterator[Violation]:
    """Yield every violation in the levels of a topology; none if an update leaves the levels unchanged.

    Args:
        new: the topology.
        old: the topology before the update; None if it is created.
        configuration: of the operator.
        view: its `users` are compared.
    """
    if old is not None and old.levels == new.levels:
        return
    for problem in level_problems(new.levels):
        yield Violation(f"{LEVELS}{problem.path}", problem.got, Refuse.LEVELS_INVALID, {"expected": problem.expected})
    settings = configuration.topology
    if settings.enabled and new.ref.name == DEFAULT_TOPOLOGY and new.levels != settings.levels:
        yield Violation(LEVELS, levels_text(new.levels), Refuse.NAME_RESERVED, {"levels": levels_text(settings.levels)})
    placed_users = users_with_bound_pods((view.users or {}).get(new.ref.name, ())) if old is not None else ()
    if placed_users:
        yield Violation(LEVELS, levels_text(new.levels), Refuse.LEVELS_IN_USE, {"users": users_text(placed_users)})


def level_warnings(
    subject: Ref, new: ClusterTopology, old: ClusterTopology | None, view: TopologyView
) -> Iterator[Caution]:
    """Yield a warning if the levels change and the users of the topology are not all known."""
    if old is not None and old.levels != new.levels and (view.users is None or view.incomplete_kinds):
        yield Violation(LEVELS, levels_text(new.levels), Warn.USERS_NOT_KNOWN, {}).caution(subject)


def levels_text(levels: Levels) -> str:
    """Return levels on one line: ``zone (topology.kubernetes.io/zone), host (kubernetes.io/hostname)``."""
    return ", ".join(f"{level.domain} ({level.key})" for level in levels) or "none"


def users_text(users: Iterable[TopologyUser]) -> str:
    """Return the names of sets on one line."""
    return listed(user.text for user in users)
