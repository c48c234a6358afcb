"""The sentences of the rules that are invariants, as specs/ has them."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

SENTENCES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "GT-002": (
            "A PodClique MUST be judged by the pods of the snapshot, not by stored counts. Ready, scheduled and "
            "gated pods are counted by their conditions, even while they are being deleted. `replicas` counts the "
            "pods that are not being deleted, `updatedReplicas` all pods with the target hash."
        ),
        "GT-011": (
            "While `readyReplicas >= minAvailable`, `MinAvailableBreached` of a PodClique MUST be `False`, with "
            "reason `SufficientReadyPods` unless GT-068 applies."
        ),
        "GT-012": (
            "`MinAvailableBreached` of a PodClique MUST be `False` with reason `NeverAvailable` while it has too "
            "few ready pods and its `wasAvailable` is `false`."
        ),
        "GT-013": (
            "`MinAvailableBreached` of a PodClique MUST be `Unknown` with reason `UpdateInProgress` while it has "
            "too few ready pods, was available before, and is being updated."
        ),
        "GT-014": (
            "`MinAvailableBreached` of a PodClique MUST be `True` while it has too few ready pods, was available "
            "before, and is not being updated. Its reason is `InsufficientReadyPods` unless GT-068 applies."
        ),
        "GT-015": (
            "`MinAvailableBreached` of a PodClique MUST be `False` with reason `AvailabilityNotRecorded` while "
            "it has too few ready pods and its stored status has no `wasAvailable`. The field stays absent until "
            "it becomes `true`."
        ),
        "GT-016": (
            "`wasAvailable` of a new PodClique MUST be `false`. It becomes `true` once `readyReplicas >= "
            "minAvailable > 0` while no update of the PodClique runs. It never changes from `true` for one uid."
        ),
        "GT-019": (
            "`lastTransitionTime` of a condition MUST change only when the status of the condition changes, to "
            "the snapshot's time in whole seconds. The message depends on counts and thresholds, never on the "
            "time that has passed."
        ),
        "GT-021": (
            "`PodCliqueScheduled` MUST be `True` with reason `SufficientScheduledPods` while `scheduledReplicas "
            ">= minAvailable`."
        ),
        "GT-022": (
            "`PodCliqueScheduled` MUST be `False` with reason `InsufficientScheduledPods` while "
            "`scheduledReplicas < minAvailable`."
        ),
        "GT-023": (
            "A PodClique that is being deleted MUST count as missing, for its scaling group and for its set. It "
            "gets no verdict on a breach and no status."
        ),
        "GT-024": (
            "If the pods, PodCliques or scaling groups that a set has were not collected, its breaches and "
            "terminations MUST be `Unknown` with reason `NotCollected`. No status is written for the set, and "
            "nothing of it is deleted."
        ),
        "GT-031": (
            "A set without a `terminationDelay` greater than zero MUST keep every replica, whatever is breached. "
            "Its conditions are still computed."
        ),
        "GT-032": (
            "A breach MUST be due, that is past its delay, exactly from `lastTransitionTime + effective delay` "
            "on, even if the transition time lies after now."
        ),
        "GT-033": (
            "When the breach of a standalone clique or scaling group of a PodCliqueSet replica has lasted for its "
            "delay, the plan MUST delete every PodClique of that replica, healthy ones included, unless GT-037, "
            "GT-064 or GT-065 applies."
        ),
        "GT-034": (
            "A replica of the set with breached standalone cliques or scaling groups, none of them past its "
            "delay, MUST be kept, and looked at again when the first delay ends."
        ),
        "GT-035": (
            "A replica of the set MUST be kept if none of its standalone cliques and scaling groups is breached."
        ),
        "GT-036": (
            "When a replica of the set is terminated, each deletion MUST name the breach whose delay ended "
            "first, even the deletion of a healthy clique."
        ),
        "GT-037": "A set that is being deleted MUST NOT have any part of it terminated.",
        "GT-041": (
            "While a scaling group is being updated, its `MinAvailableBreached` MUST be `Unknown` with reason "
            "`UpdateInProgress`."
        ),
        "GT-042": (
            "While a scaling group's `replicas` minus its breached replicas are below its `minAvailable`, its "
            "`MinAvailableBreached` MUST be `True` with reason "
            "`InsufficientAvailablePodCliqueScalingGroupReplicas`."
        ),
        "GT-043": (
            "While a scaling group's `replicas` minus its breached replicas are at least its `minAvailable`, its "
            "`MinAvailableBreached` MUST be `False` with reason "
            "`SufficientAvailablePodCliqueScalingGroupReplicas`."
        ),
        "GT-050": (
            "While a scaling group's `replicas` minus its breached replicas are at least its `minAvailable`, the "
            "plan MUST delete all PodCliques of each of its replicas that has a clique past its delay."
        ),
        "GT-051": (
            "A replica of a scaling group with breached cliques, none of them past its delay, MUST be kept and "
            "count as breached. It is looked at again when the first delay ends."
        ),
        "GT-052": (
            "If a scaling group's `replicas` minus its breached replicas are below its `minAvailable`, it MUST "
            "delete nothing and leave the decision to its set. Replicas whose delay still runs count as "
            "breached."
        ),
        "GT-053": "While a scaling group is being updated it MUST delete none of its replicas.",
        "GT-054": (
            "When a replica of a scaling group is terminated, each deletion MUST name the breach whose delay "
            "ended first, even the deletion of a healthy clique."
        ),
        "GT-055": "A scaling group without a breached replica MUST delete nothing.",
        "GT-060": (
            "`wakeAt` MUST be the earliest moment at which the delay of a breach ends that its scaling group or "
            "set can act on. It is absent if there is no such breach."
        ),
        "GT-063": (
            "When a replica is terminated, the cause MUST be deleted after everything else. The cause is the "
            "clique whose delay ended first, or the breached cliques of the scaling group whose delay ended "
            "first."
        ),
        "GT-065": (
            "A scaling group whose replica index is not below the `replicas` of the set MUST NOT have any part "
            "of it terminated."
        ),
        "PL-002": (
            "If no other client writes, a bounded number of reconciles MUST reach a plan without steps, even if "
            "all recorded results of writes are lost. Later plans stay without steps until time alone changes a "
            "decision."
        ),
        "PL-004": (
            "Every step except a creation and the removal of a gate MUST name the uid and resource version of "
            "the object that was judged. A deletion or finalizer removal is about an object of the snapshot that "
            "the planned set or topology owns."
        ),
        "PL-012": (
            "A refused write MUST be withheld, with the detail of the API server, until a later retry or until "
            "the object changes. A status that reports another state of a breach is another write. So is the "
            "deletion of a terminated part for a further breach."
        ),
        "PL-027": (
            "While the API server refuses to delete the breached PodCliques that caused a termination, a plan "
            "MUST NOT contain another deletion of that termination."
        ),
        "PL-029": (
            "If the uncached read before a termination failed, so that it was not attempted, a plan MUST withhold "
            "every termination for this reason. It reports no termination, recreates nothing of a replica whose "
            "delay has ended (WL-076), and otherwise decides as if no delay had ended."
        ),
        "GF-002": (
            "Of a stored set without a delay, or with a delay of zero, the operator MUST NOT terminate anything. "
            "The verdict says that the Go operator fails on such a set."
        ),
        "GF-009": (
            "A set MUST be judged `Unknown`, and nothing of it is terminated, if its PodCliques or pods were not "
            "collected, or if it has scaling groups and these were not collected."
        ),
        "GF-050": (
            "A breach MUST be acted on once its transition time plus the delay is over, if its object was "
            "healthy once (GF-040, GF-041) and is not in `GangTerminationInProgress` (GF-051), even while the "
            "object is being deleted. A set looks only at breaches of standalone PodCliques and scaling groups."
        ),
        "GF-073": (
            "When a replica of the set is terminated, all its PodCliques MUST be deleted, standalone ones and "
            "those of scaling groups, healthy ones too, and nothing else."
        ),
        "GF-077": (
            "The set MUST NOT terminate any of its replicas while it is being deleted; its scaling groups still "
            "may. A rollout of the set suspends no termination."
        ),
    }
)
"""Number -> sentence; a test compares them with specs/."""
