"""Which kinds must have been collected before a set can be judged (GT-024, GF-009)."""

from grove_core.kernel.reasons import Reason, Rule
from grove_core.snapshot.snapshot import Snapshot


def not_collected(snapshot: Snapshot, rule: Rule) -> tuple[Reason, ...]:
    """Return a reason for each kind that a judgement of this set needs and that was not collected.

    Args:
        rule: the rule of the reasons; its fact is the ``kind``.
    """
    if not snapshot.not_collected:
        return ()
    grouped = bool(snapshot.root.spec.template.pod_clique_scaling_groups)
    needed = ("PodClique", "PodCliqueScalingGroup", "Pod") if grouped else ("PodClique", "Pod")
    return tuple(rule.because(snapshot.root.ref, kind=kind) for kind in needed if kind in snapshot.not_collected)
