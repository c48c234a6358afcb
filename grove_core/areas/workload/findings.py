"""Findings about a set by the input alone, besides its plan.

They are about writes that failed before and that the plan has again (WL-255), for a quota too (WL-256), about pods that
the scheduling gate of another product holds (WL-246), and about pods that kai-scheduler evicts (WL-257).
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from grove_core.areas.workload.rules import WorkloadReason
from grove_core.kernel.decisions import Finding
from grove_core.kernel.frozen import text_under_key
from grove_core.kernel.questions import FAILED_WRITE, FOREIGN_GATE, STALE_GANG
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import SetStatus, Step
from grove_core.kernel.time_formats import format_time
from grove_core.resources.api_names import POD_KIND, SCHEDULER_FIELD
from grove_core.resources.failed_write import FailedWrite
from grove_core.resources.naming_rules import name_list_text
from grove_core.resources.pod import active_pods
from grove_core.resources.podclique import PodClique
from grove_core.snapshot.snapshot import Snapshot

_AMOUNTS: Final = r"[\w./=,-]*\w"
_QUOTA: Final = re.compile(
    rf"exceeded quota: ([^\s,]+)(?:, (requested: {_AMOUNTS}, used: {_AMOUNTS}, limited: {_AMOUNTS}))?"
)
"""The API server's words: the name of a ResourceQuota, then what is requested, used and allowed of its resources."""
_KAI_SCHEDULER: Final = "kai-scheduler"


def failed_write_findings(
    snapshot: Snapshot, failed: Iterable[FailedWrite], steps: Sequence[Step]
) -> Iterator[Finding]:
    """Yield a finding on each object of a set with a failed write that is still to be done, with the newest failure.

    Args:
        failed: of any objects; one of an earlier object of the same name does not count.
        steps: of the plan of the set.
    """
    uids = {one.ref: one.uid for one in (snapshot.root, *snapshot.groups, *snapshot.cliques)}
    kinds = {step.target.kind for step in steps if not isinstance(step.action, SetStatus)}
    newest: dict[Ref, FailedWrite] = {}
    for one in failed:
        if one.about in uids and one.uid in {"", uids[one.about]}:
            newest[one.about] = max(one, newest.get(one.about, one), key=_rank)
    for ref, one in sorted(newest.items(), key=lambda pair: pair[0].sort_key):
        reporting = [clique for clique in snapshot.cliques if ref in {clique.ref, snapshot.root.ref}]
        is_of_pod = one.kind == POD_KIND or (one.kind, ref.kind) == ("", "PodClique")
        if any(_lacks_pods(snapshot, clique) for clique in reporting) if is_of_pod else _is_planned(one, kinds):
            yield Finding(ref, FAILED_WRITE, "Failed", (_failure(one), *_quotas(one)))


def _rank(one: FailedWrite) -> tuple[bool, str]:
    """Rank failures of one object: an Event, which names the kind, before a status; then the newer one."""
    return bool(one.kind), format_time(one.at)


def _is_planned(one: FailedWrite, kinds: set[str]) -> bool:
    return one.kind in kinds if one.kind else bool(kinds)


def _lacks_pods(snapshot: Snapshot, clique: PodClique) -> bool:
    return sum(not pod.deleting for pod in snapshot.pods_of.get(clique.uid, ())) < clique.replicas


def _failure(one: FailedWrite) -> Reason:
    facts = {"what": one.kind or "objects", "at": format_time(one.at), "message": one.message}
    return WorkloadReason.WRITE_FAILED.because(one.about, times=one.times, **facts)


def _quotas(one: FailedWrite) -> Iterator[Reason]:
    """Yield a reason for each quota that a failure names (WL-256)."""
    for quota, amounts in dict.fromkeys(_QUOTA.findall(one.message)):
        shown = f" ({amounts})" if amounts else ""
        yield WorkloadReason.QUOTA_EXCEEDED.because(one.about, quota=quota, amounts=shown)


def foreign_gate_findings(snapshot: Snapshot) -> Iterator[Finding]:
    """Yield a finding on each PodClique with pods that a scheduling gate of another product holds. Linear."""
    for clique in snapshot.cliques:
        held: defaultdict[str, list[str]] = defaultdict(list)
        for pod in snapshot.pods_of.get(clique.uid, ()):
            for gate in pod.foreign_gates:
                held[gate].append(pod.name)
        if held:
            because = tuple(
                WorkloadReason.FOREIGN_GATE.because(clique.ref, gate=gate, names=name_list_text(names))
                for gate, names in sorted(held.items())
            )
            yield Finding(
                clique.ref, FOREIGN_GATE, "Held", because, within=clique.enclosing_replicas(snapshot.root.ref)
            )


def kai_eviction_findings(snapshot: Snapshot) -> Iterator[Finding]:
    """Yield a finding on each PodClique with scheduled pods that kai-scheduler evicts, below its minimum. Linear."""
    for clique in snapshot.cliques:
        if text_under_key(clique.pod_spec, SCHEDULER_FIELD) != _KAI_SCHEDULER or clique.deleting:
            continue
        scheduled = sum(pod.scheduled for pod in active_pods(snapshot.pods_of.get(clique.uid, ())))
        if 0 < scheduled < clique.min_available:
            needed = clique.min_available
            because = WorkloadReason.STALE_GANG.because(clique.ref, scheduled=scheduled, needed=needed)
            yield Finding(
                clique.ref, STALE_GANG, "Risk", (because,), within=clique.enclosing_replicas(snapshot.root.ref)
            )
