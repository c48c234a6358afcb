"""Objects that a plan creates, in which round and by which rule, and the state of their set after the last round."""

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from grove_core.in_memory.forecasts import forecast_until_settled
from grove_core.in_memory.in_memory_cluster import InMemoryCluster
from grove_core.kernel.frozen import FrozenMap, object_under_key
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Make, SetStatus, Step
from grove_core.kernel.structs import replace
from grove_core.plan.forecast import ForecastRound
from grove_core.plan.plan import Plan
from grove_core.reconcile import reconcile
from grove_core.resources.api_names import GROUP_KIND
from grove_core.resources.naming_rules import rbac_role_name
from grove_core.rule_sets.rule_set import RuleSet
from grove_core.snapshot.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class SetAfterRounds:
    """The rounds of the plan for one set, and the set after the last one (CL-080).

    Attributes:
        snapshot: of the set after the last round.
        plan: of that snapshot; it has what the created objects wait for.
    """

    rounds: tuple[ForecastRound, ...]
    snapshot: Snapshot
    plan: Plan

    def name_of_created_object(self, kind: str, name: str) -> str:
        """Return the name of the object that the rounds create; empty where they create none of that name.

        The host name of a pod counts as its name too, because the letters at the end of the other one are random.
        """
        for ref, manifest in self._created():
            if ref.kind == kind and name in {ref.name, _host_name(manifest) if kind == "Pod" else ref.name}:
                return ref.name
        return ""

    def names_of_created_objects(self, kind: str) -> list[str]:
        """Return the names of the created objects of one kind, sorted."""
        return sorted(ref.name for ref, _ in self._created() if ref.kind == kind)

    def steps_for_object(self, kind: str, name: str) -> tuple[tuple[ForecastRound, Step], ...]:
        """Return the steps for one object with their rounds, without status steps."""
        return tuple(
            (one, step)
            for one in self.rounds
            for step in one.steps
            if (step.target.kind, step.target.name) == (kind, name) and not isinstance(step.action, SetStatus)
        )

    def _created(self) -> Iterator[tuple[Ref, FrozenMap]]:
        for one in self.rounds:
            for step in one.steps:
                if isinstance(step.action, Make):
                    yield step.target, step.action.manifest


def _host_name(manifest: FrozenMap) -> str:
    return str(object_under_key(manifest, "spec").get("hostname", ""))


def may_create_object_named(snapshot: Snapshot, name: str) -> bool:
    """Return whether a set may create an object of that name, by the names of the set and of its Role."""
    root = snapshot.root.ref.name
    return name.startswith(f"{root}-") or name in {root, rbac_role_name(root)}


def creations_in_next_reconcile(snapshot: Snapshot, rules: RuleSet, kinds: AbstractSet[str]) -> Iterator[Step]:
    """Yield the creations of objects of some kinds in the next reconcile of a set.

    The scaling groups count as not listed meanwhile, because creations of unwatched objects alone would wait for that
    reconcile (WF-047).

    Args:
        snapshot: of a set; what it lacks of these kinds does not exist.
    """
    seen = replace(snapshot, complete=(snapshot.complete | kinds) - {GROUP_KIND})
    for step in reconcile(seen, rules).steps:
        if step.target.kind in kinds and isinstance(step.action, Make):
            yield step


def creation_reasons(snapshot: Snapshot, rules: RuleSet, kind: str, name: str) -> tuple[Reason, ...]:
    """Return why a set would create one of its objects without pods if it did not exist; empty where it would not.

    Args:
        kind, name: of the object, in the namespace of the set.
    """
    others = tuple(one for one in snapshot.others if (one.ref.kind, one.ref.name) != (kind, name))
    creations = creations_in_next_reconcile(replace(snapshot, others=others), rules, {kind})
    return next((step.because for step in creations if step.target.name == name), ())


def played_rounds_of_set(snapshot: Snapshot, rules: RuleSet) -> SetAfterRounds:
    """Return the rounds of the plan for a set without time that passes, and the set after the last one.

    Args:
        snapshot: of the set as it is stored.
    """
    cluster = InMemoryCluster((snapshot,))
    forecast = forecast_until_settled(cluster, snapshot, rules, limit=None, until=None)
    after = cluster.snapshot_of_set(snapshot.root.ref, forecast.rounds[-1].at) or snapshot
    return SetAfterRounds(forecast.rounds, after, reconcile(after, rules))
