"""What happened, as lines for readers."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from grove_core.kernel.steps import Attempt, AttemptOutcome, Delete, SetStatus, Step
from grove_core.resources.metadata_readers import Resource
from grove_core.resources.podclique import PodClique
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.resources.status_comparison import breach_condition_of
from grove_core.snapshot.snapshot import Snapshot
from grove_core.testing.invariants.invariant import Round

_MOST: Final = 6


def time_on_history_line(moment: datetime) -> str:
    """Return the time of a line."""
    return f"{moment:%Y-%m-%d %H:%M:%S}"


def lines_of_snapshot(seen: Snapshot) -> Iterator[str]:
    """Yield a set and its parts, a line each."""
    template, at = seen.root.spec.template, time_on_history_line(seen.now)
    delay = f"termination delay {template.termination_delay}" if template.termination_delay else "no termination delay"
    yield f"{at} {seen.root.ref.short}: {seen.root.spec.replicas} replicas, {delay}{_deleting(seen.root)}"
    for kind in sorted(seen.not_collected):
        yield f"{at} not collected: {kind}"
    for config in template.pod_clique_scaling_groups:
        own = f", termination delay {config.termination_delay}" if config.termination_delay else ""
        yield f"{at} scaling group {config.name} of the template: {', '.join(config.clique_names)}{own}"
    for group in seen.groups:
        yield f"{at} {group.ref.short}: {group.replicas} replicas, needs {group.needed_replicas}{_state(group)}"
    for clique in seen.cliques:
        pods = seen.pods_of.get(clique.uid, ())
        ready = f"{sum(pod.ready for pod in pods)} of {len(pods)} pods ready, needs {clique.min_available}"
        yield f"{at} {clique.ref.short}: {ready}, {_availability(clique)}{_state(clique)}"


def _availability(clique: PodClique) -> str:
    if not clique.status.recorded:
        return "no status"
    return {True: "was available", False: "was never available", None: "no wasAvailable"}[clique.status.was_available]


def _deleting(one: Resource) -> str:
    return ", being deleted" if one.deleting else ""


def _state(one: PodClique | ScalingGroup) -> str:
    stored = breach_condition_of(one.status)
    since = f" since {time_on_history_line(stored.last_transition_time)}" if stored else ""
    breach = f", stored MinAvailableBreached {stored.status.value}{since}" if stored else ""
    return f"{', being updated' if one.status.updating else ''}{_deleting(one)}{breach}"


def lines_of_round(now: datetime, found: Round) -> Iterator[str]:
    """Yield what a plan does; one line, however many steps it has."""
    words = [_words(step) for step in found.plan.steps]
    more = f" and {len(words) - _MOST} more" if len(words) > _MOST else ""
    yield f"{time_on_history_line(now)} plan: {'; '.join(words[:_MOST]) or 'no steps'}{more}"


def _words(step: Step) -> str:
    if isinstance(step.action, Delete):
        return f"delete {step.target.short}"
    if isinstance(step.action, SetStatus):
        return f"write status of {step.target.short}"
    return f"{type(step.action).__name__} {step.target.short}"


def line_of_failures(attempts: tuple[Attempt, ...]) -> str:
    """Return which writes failed, and how."""
    failed = [one for one in attempts if one.outcome is not AttemptOutcome.DONE]
    return "failed: " + "; ".join(f"{_words(one.step)} ({one.outcome.value})" for one in failed[:_MOST])
