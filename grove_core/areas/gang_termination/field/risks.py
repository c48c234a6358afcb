"""Warnings of `explain` and `validate` about sets that the Go operator runs (GF-120 to GF-123)."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Final

from grove_core.areas.gang_termination.field.clique import is_updated
from grove_core.areas.gang_termination.field.group import JudgedGroup
from grove_core.areas.gang_termination.field.judge import FieldJudgement
from grove_core.areas.gang_termination.field.rules import Why
from grove_core.kernel.admission import Caution
from grove_core.kernel.decisions import Finding
from grove_core.kernel.durations import short_duration
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.kernel.times import format_time
from grove_core.resources.fields import shown
from grove_core.resources.manifest import TEMPLATE
from grove_core.resources.pod import UNSCHEDULABLE
from grove_core.resources.podclique import PodClique
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.resources.statuses import update_start_time
from grove_core.resources.template import SetSpec
from grove_core.resources.topology_usage import is_ineffective
from grove_core.snapshot.snapshot import Snapshot

RISK: Final = "risk"
_REBOOT: Final = timedelta(minutes=10)
"""The time from the loss of a node with eight GPUs until its pods are ready again; longer with large models."""


def cautions_to(subject: Ref, spec: SetSpec, default: timedelta) -> tuple[Caution, ...]:
    """Return the warnings about a manifest (GF-120).

    Args:
        default: the delay of a set without one (GF-001).
    """
    delay = spec.template.delay or default
    if delay >= _REBOOT:
        return ()
    return (Caution(f"{TEMPLATE}.terminationDelay", shown(short_duration(delay)), _too_short(subject, delay)),)


def risks_in(snapshot: Snapshot, judgement: FieldJudgement) -> Iterator[Finding]:
    """Yield the warnings about a running set as findings."""
    root, now, template = snapshot.root.ref, snapshot.now, snapshot.root.spec.template
    delay = template.delay if not judgement.unknown else None
    of_root: list[Reason] = []
    if delay is not None and delay < _REBOOT:
        of_root.append(_too_short(root, delay))
    if is_ineffective(template):
        of_root.append(Why.CONSTRAINT_IN_VAIN.because(root))
    if of_root:
        yield Finding(root, RISK, "Warn", tuple(of_root))
    if delay is None:
        return
    updated: list[PodClique | ScalingGroup] = [seen.clique for seen in judgement.cliques]
    updated += [found.group for found in judgement.groups]
    for item in updated:
        started = update_start_time(item.status.progress) if is_updated(item.status) else None
        if started is not None and now - started > delay:
            facts = {"since": format_time(started), "delay": short_duration(delay)}
            yield Finding(item.ref, RISK, "Warn", (Why.UPDATE_SUSPENDS_FOR_LONG.because(item.ref, **facts),))
    for found in judgement.groups:
        if found.candidate(delay) and _lacks_room(snapshot, found):
            because = Why.ENDS_AGAIN_WITHOUT_ROOM.because(found.group.ref, delay=short_duration(delay))
            yield Finding(found.group.ref, RISK, "Warn", (because,))


def _too_short(subject: Ref, delay: timedelta) -> Reason:
    facts = {"delay": short_duration(delay), "reboot": short_duration(_REBOOT)}
    return Why.DELAY_SHORTER_THAN_A_REBOOT.because(subject, **facts)


def _lacks_room(snapshot: Snapshot, found: JudgedGroup) -> bool:
    """Return whether the group is breached because pods of it cannot be scheduled."""
    lacking = (one for one in found.members if one.breached and not one.has_enough_scheduled)
    pods = (pod for one in lacking for pod in snapshot.pods_of.get(one.clique.uid, ()))
    return any(pod.trouble == UNSCHEDULABLE for pod in pods)
