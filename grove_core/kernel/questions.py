"""The questions of findings, each with the verdicts that answer it (PL-003).

A finding that is read from the plan of another release may have another question. So has one on a registry of the
daemons of a ComputeDomain: ``entry of <node>``, with ``Keep``, ``Remove`` or ``Unknown``.
"""

from typing import Final

BREACH: Final = "breach"
"""Is it below ``minAvailable``: ``True``, ``False``, ``Unknown``, ``Absent``, ``Skip``."""
TERMINATION: Final = "termination"
"""What becomes of the replica: ``Keep``, ``Wait``, ``Terminate``, ``Delegate``, ``Suspend``, ``Unknown``."""
SCHEDULED: Final = "scheduled"
"""Are enough of its pods scheduled: ``True``, ``False``, ``Unknown``, ``Absent``."""
AVAILABILITY: Final = "availability"
"""How many replicas of the set are available: ``1/2``."""
PREDICTION: Final = "prediction"
"""Is the set predicted at all: ``Unknown``."""
LOST_NODE: Final = "lostNode"
"""Are pods on a node that does not answer: ``Lost``."""
LATE_START: Final = "lateStart"
"""Would a late start of its pods terminate it: ``Risk``."""
LEAVING_PODS: Final = "leavingPods"
"""Are pods of it being deleted: ``Leaving``."""
SCALED: Final = "scaled"
"""Is it scaled below its minimum, or was it: ``ScaledBelowMinAvailable``, ``ScaledBack``."""
RISK: Final = "risk"
"""What of its state is a risk under the Go operator: ``Warn``."""
GANG_BACKEND: Final = "gangBackend"
"""Which kind of object makes new gangs: ``Podgang``, ``Kubernetes``."""
PLACEMENT: Final = "placement"
"""Does its gang wait for the scheduler: ``Waiting``."""
TOPOLOGY: Final = "topology"
"""Which topology applies to the set: ``Used``, ``Missing``, ``Lacking``, ``Off``, ``None``, ``Unknown``."""
MISPLACEMENT: Final = "misplacement"
"""Are pods of the gang outside its required domain: ``Broken``."""
TOPOLOGY_USE: Final = "topologyUse"
"""Does the finalizer of the topology stay: ``Held``, ``Free``, ``Unknown``."""
COMPUTE_DOMAIN: Final = "computeDomain"
"""What becomes of ComputeDomains, by its subject.

- a set, whether it needs any: ``Wanted``, ``NotWanted``
- the domain of a replica or of an MNNVL group: ``Joined``, ``Awaited``, ``Missing``, ``Restored``, ``Missed``,
  ``Leaving``, ``Failed``, ``TakenOver``, ``Without``, ``Unknown``; one that no part needs: ``Surplus``, ``Ending``,
  ``LeftBehind``
- a domain or claim shared by annotation: ``Ensured``, ``Belongs``, ``HandedOver``, ``MadeAgain``, ``WaitedFor``,
  ``Taken``, ``LeftAlone``, ``Surplus``, ``Kept``, ``Unknown``
- a PodClique, whether it shares one: ``Joins``, ``JoinsNothing``, ``LetInWithout``
"""
DOMAIN_STATUS: Final = "status"
"""Is a ComputeDomain or one of its cliques ready: ``Ready``, ``NotReady``; while it is being deleted ``Keep``."""
START_ORDER: Final = "start"
"""Do its pods wait for other pods to start: ``Wait``."""
OWN_GATE: Final = "gate"
"""Is the scheduling gate of a pod removed: ``Open``, ``Hold``."""
FOREIGN_GATE: Final = "foreignGate"
"""Do gates of other products hold its pods: ``Held``."""
STALE_GANG: Final = "staleGang"
"""Will its scheduler evict the gang: ``Risk``."""
DEFECT: Final = "defect"
"""What of an update goes wrong under the Go operator: ``Warn``."""
FAILED_WRITE: Final = "failedWrite"
"""Which write of an earlier round failed: ``Failed``."""
UPDATE: Final = "update"
"""Is it of an old template, or are pods of it: ``Outdated``, ``PodsOutdated``."""
