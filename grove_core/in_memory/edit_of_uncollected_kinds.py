"""What an edit does to objects of kinds that were not collected, which its plan lacks (ED-012)."""

from collections import Counter
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from typing import Final

from grove_core.in_memory.forecasts import forecast_until_settled, snapshot_with_set_as_stored
from grove_core.in_memory.in_memory_cluster import InMemoryCluster
from grove_core.kernel.decisions import AreaResult
from grove_core.kernel.steps import Apply, Create, Delete, Step
from grove_core.kernel.structs import replace
from grove_core.plan.update_forecast import UncollectedObjectCounts
from grove_core.reconcile import reconcile
from grove_core.resources.api_names import CLAIM_KIND, GANG_KIND
from grove_core.resources.podcliqueset import PlannedSetChange, PodCliqueSet
from grove_core.resources.podcliqueset_spec import SetSpec
from grove_core.rule_sets.rule_set import RuleSet
from grove_core.snapshot.expected_replicas import expected_set_of
from grove_core.snapshot.snapshot import Snapshot

_TOUCHED: Final = frozenset({"HorizontalPodAutoscaler", CLAIM_KIND, "Service"})
"""The kinds that edits touch and that a set can be planned without; RBAC objects depend on its name alone."""
_FEW_ROUNDS: Final = 4
"""Rounds until the claims of the PodCliques of a new replica are created."""


def edit_effects_on_uncollected_objects(
    given: Snapshot, before: PodCliqueSet, rules: RuleSet
) -> tuple[UncollectedObjectCounts, ...]:
    """Return what an edit does to objects of kinds that were not collected, if the set had all of them before.

    Args:
        given: the snapshot with the edit.
        before: the set without it.
        rules: the operator that acts.

    Returns:
        one entry for each kind of which an object is created, changed or deleted, sorted by kind.
    """
    start = snapshot_with_set_as_stored(given, rules)
    kinds = _TOUCHED - start.complete
    found: dict[str, Counter[type]] = {kind: Counter() for kind in sorted(kinds)}
    if GANG_KIND not in start.complete:
        found |= {GANG_KIND: _numbers_of_gangs(start, before, rules)}
    if kinds:
        whole = _with_every_object(start, before, rules, kinds)
        for step in _steps_of_edit(whole, start.root, rules, kinds):
            found[step.target.kind][type(step.action)] += 1
    return tuple(
        UncollectedObjectCounts(kind, counts[Create], counts[Apply], counts[Delete])
        for kind, counts in sorted(found.items())
        if counts[Create] or counts[Apply] or counts[Delete]
    )


def _numbers_of_gangs(start: Snapshot, before: PodCliqueSet, rules: RuleSet) -> Counter[type]:
    """Return how many PodGangs an edit adds and removes; those that stay follow their pods."""
    has, had = _gang_names(start, rules), _gang_names(replace(start, root=before), rules)
    return Counter({Create: len(has - had), Delete: len(had - has)})


def _gang_names(seen: Snapshot, rules: RuleSet) -> frozenset[str]:
    backends = rules.gang_backends(seen)
    gangs = (gang.name for replica in expected_set_of(seen).replicas for gang in replica.gangs)
    return frozenset(name for name in gangs if not backends.has_groups(name))


def _with_every_object(start: Snapshot, before: PodCliqueSet, rules: RuleSet, kinds: AbstractSet[str]) -> Snapshot:
    """Return the set before the edit with every object of these kinds that it should have then."""
    root = replace(before, edit=PlannedSetChange.OF_MORE)
    seen = replace(start, root=root, complete=start.complete | kinds)
    at_once, cluster = replace(rules, withholds=_nothing_withheld), InMemoryCluster((seen,))
    for step in _of_kinds(reconcile(seen, at_once).steps, kinds):
        if isinstance(step.action, Create):
            cluster.attempt_step(step)
    return cluster.snapshot_of_set(root.ref, start.now) or seen


def _steps_of_edit(seen: Snapshot, root: PodCliqueSet, rules: RuleSet, kinds: AbstractSet[str]) -> Iterator[Step]:
    """Yield the steps of an edit for objects of these kinds; only claims are created in later rounds than the first."""
    edited = replace(seen, root=root)
    if CLAIM_KIND not in kinds or not (_shares_claims(seen.root.spec) or _shares_claims(root.spec)):
        yield from _of_kinds(reconcile(edited, rules).steps, kinds)
        return
    cluster = InMemoryCluster((edited,))
    for round_ in forecast_until_settled(cluster, edited, rules, limit=_FEW_ROUNDS, until=None).rounds:
        yield from _of_kinds(round_.steps, kinds)


def _shares_claims(spec: SetSpec) -> bool:
    template = spec.template
    of_parts = (
        *(one.resource_sharing for one in template.cliques),
        *(one.resource_sharing for one in template.pod_clique_scaling_groups),
    )
    return any((template.resource_sharing, *of_parts))


def _of_kinds(steps: Iterable[Step], kinds: AbstractSet[str]) -> Iterator[Step]:
    return (step for step in steps if step.target.kind in kinds)


def _nothing_withheld(_: Snapshot, result: AreaResult) -> AreaResult:
    return result
