"""The reasons of specs/gang_termination_field.md: one member for each decision of the Go operator's rules.

A code that the design has too means the same there, so that a plan reads the same by both rule sets.
"""

from enum import unique

from grove_core.kernel.reasons import Rule, RuleSentence


@unique
class GoOperatorReason(Rule):
    """Why a clique, a scaling group or a replica is judged as it is."""

    DELAY_MISSING = RuleSentence(
        "GF-002", "the stored set has no terminationDelay; the operator fails on it, so nothing is terminated"
    )

    POD_OF_LOST_NODE = RuleSentence(
        "GF-015",
        "node {node} has not answered since {since}; until they are gone, these pods count as {counted}: {names}",
    )
    EVICTED = RuleSentence(
        "GF-016",
        "unless the node answers, these pods are due for eviction at {until}: {names}; new pods are created then, and "
        "the evicted ones count as before until the node answers or is removed",
    )
    NEVER_EVICTED = RuleSentence("GF-019", "their tolerations keep these pods from ever being evicted: {names}")
    BREACHED_WITHOUT_LOST_PODS = RuleSentence(
        "GF-017",
        "once they are gone, {left} of its pods are scheduled and at least {needed} needed: without new pods that is a "
        "breach",
    )

    NOT_OBSERVED = RuleSentence("GF-021", "the operator has not observed it yet, so its conditions stay as they are")
    SUFFICIENT_SCHEDULED_PODS = RuleSentence("GF-022", "{scheduled} scheduled, at least {needed} needed")
    INSUFFICIENT_SCHEDULED_PODS = RuleSentence("GF-023", "{scheduled} scheduled, at least {needed} needed")
    UPDATE_IN_PROGRESS = RuleSentence("GF-024", "an update of it runs, so it is not judged")
    SCHEDULED_REPLICAS_BELOW_MIN_AVAILABLE = RuleSentence("GF-025", "{scheduled} scheduled, at least {needed} needed")
    INSUFFICIENT_READY_PODS = RuleSentence(
        "GF-026",
        "{left} of {scheduled} scheduled pods are healthy, at least {needed} needed",
    )
    SUFFICIENT_READY_PODS = RuleSentence(
        "GF-027",
        "{left} of {scheduled} scheduled pods are healthy, at least {needed} needed",
    )
    CLIQUE_BEING_DELETED = RuleSentence(
        "GF-029", "the clique is being deleted; its last status counts until it is gone"
    )
    NOT_COLLECTED = RuleSentence("GF-009", "{kind} objects were not collected, so this cannot be judged")

    GROUP_UPDATE_IN_PROGRESS = RuleSentence("GF-033", "an update of the scaling group runs", code="UpdateInProgress")
    INSUFFICIENT_AVAILABLE_POD_CLIQUE_SCALING_GROUP_REPLICAS = RuleSentence(
        "GF-034", "{left} of {replicas} replicas whole and not breached, at least {needed} needed"
    )
    SUFFICIENT_AVAILABLE_POD_CLIQUE_SCALING_GROUP_REPLICAS = RuleSentence(
        "GF-035", "{left} of {replicas} replicas whole and not breached, at least {needed} needed"
    )
    AVAILABLE_REPLICAS = RuleSentence("GF-037", "{available} of {replicas} replicas are available")

    NEVER_SCHEDULED = RuleSentence(
        "GF-040", "by its recorded times {name} was never scheduled: it is starting, so its breach is not acted on"
    )
    NEVER_HEALTHY = RuleSentence(
        "GF-041", "by its recorded times {name} was never healthy: it is starting, so its breach is not acted on"
    )
    ALREADY_TERMINATED = RuleSentence(
        "GF-051",
        "{name} was terminated with its replica at {since} and has not recovered since, so its breach is not acted on",
    )

    GROUP_DELAY_EXPIRED = RuleSentence(
        "GF-060", "breached since {since}; the delay of {delay} ended at {until}", code="DelayExpired"
    )
    DELEGATED_TO_SET = RuleSentence(
        "GF-061",
        "{left} of {replicas} replicas not breached, {needed} needed: the group can spare none, the set decides",
    )
    GROUP_REPLICA_TERMINATED = RuleSentence(
        "GF-062", "replica {replica} of {group} is terminated as a whole because of {cause}"
    )
    GROUP_DELAY_RUNNING = RuleSentence(
        "GF-063", "breached since {since}; the delay of {delay} ends at {until}", code="DelayRunning"
    )
    SUSPENDED_BY_UPDATE = RuleSentence(
        "GF-066", "an update of the scaling group runs; the group terminates none of its replicas meanwhile"
    )
    GROUP_NOTHING_BREACHED = RuleSentence(
        "GF-067", "no replica of the group has a breach to act on", code="NothingBreached"
    )

    NOTHING_BREACHED = RuleSentence("GF-069", "nothing here is below its minimum in a way that the operator acts on")
    STANDALONE_MISSING = RuleSentence("GF-070", "PodClique {name} does not exist, so the replica is skipped")
    DELAY_EXPIRED = RuleSentence("GF-072", "breached since {since}; the delay of {delay} ended at {until}")
    GANG_TERMINATED = RuleSentence("GF-073", "replica {replica} of the set is terminated as a whole because of {cause}")
    GANG_TERMINATION_ACTIVE = RuleSentence("GF-075", "replica {replica} of the set is terminated, this group with it")
    DELAY_RUNNING = RuleSentence("GF-076", "breached since {since}; the delay of {delay} ends at {until}")
    SET_BEING_DELETED = RuleSentence("GF-077", "the set is being deleted; nothing of it is terminated")

    STORED_STATUS_DIFFERS = RuleSentence(
        "GF-084", "the stored statuses lead to {verdict}, and the operator acts on them until it computes them again"
    )

    NOTHING_SCHEDULED = RuleSentence(
        "GF-107",
        "none scheduled, at least {needed} needed, no breach in this release",
        code="InsufficientScheduledPods",
    )
    GROUP_NOTHING_SCHEDULED = RuleSentence(
        "GF-108",
        "none of {replicas} replicas scheduled, at least {needed} needed, no breach in this release",
        code="InsufficientScheduledPodCliqueScalingGroupReplicas",
    )
    GROUP_SCHEDULED_REPLICAS_BELOW_MIN_AVAILABLE = RuleSentence(
        "GF-104",
        "{scheduled} of {replicas} replicas scheduled, at least {needed} needed",
        code="ScheduledReplicasBelowMinAvailable",
    )

    DELAY_SHORTER_THAN_A_REBOOT = RuleSentence(
        "GF-120",
        "{delay} is shorter than a node needs to reboot (about {reboot}): a reboot may terminate a whole replica",
    )
    UPDATE_SUSPENDS_FOR_LONG = RuleSentence(
        "GF-121",
        "its update has run since {since}, longer than the delay of {delay}; meanwhile no breach of it counts",
    )
    CONSTRAINT_IN_VAIN = RuleSentence(
        "GF-123",
        "its topology constraints have no effect: all its pods go to the Kubernetes scheduler, which reads no PodGangs",
    )
    ENDS_AGAIN_WITHOUT_ROOM = RuleSentence(
        "GF-122",
        "its pods cannot be scheduled; once terminated, it is terminated again every {delay} for as long as that lasts",
    )

    LATE_START = RuleSentence(
        "GF-124",
        "{late}: without scheduled pods since {since}, longer than the delay of {delay}; if fewer than minAvailable of "
        "its pods count as healthy when the first one starts or becomes ready, these PodCliques are terminated at "
        "once: {names}; a longer terminationDelay prevents that",
    )

    SCALED_BELOW_MIN_AVAILABLE = RuleSentence(
        "GF-125",
        "scaled to {replicas}, below its minAvailable of {needed}: the operator takes that for a loss, and "
        "terminates the whole replica, healthy PodCliques too, once the delay is over",
    )
    SCALED_BACK = RuleSentence(
        "GF-126", "scaled to {replicas} at run time; once terminated it comes back with the {template} of the template"
    )

    NEWER_RELEASE = RuleSentence(
        "GF-134",
        "a release newer than {newest}, the newest known here, runs there ({marks}): what it does is not predicted",
    )
    OLDER_RELEASE = RuleSentence(
        "GF-136",
        "a release older than {oldest}, the oldest known here, runs there: what it does is not predicted",
    )
    TWO_OPERATORS = RuleSentence(
        "GF-135",
        "its PodCliques record no wasAvailable and those of other sets do: which operator runs it is not known",
    )
