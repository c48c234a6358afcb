"""The reasons of gang termination: one member for each decision and admission rule of specs/gang_termination.md."""

from enum import unique

from grove_core.kernel.reasons import Rule, RuleSentence


@unique
class TerminationReason(Rule):
    """Why a clique, a scaling group or a replica is judged as it is."""

    SUFFICIENT_READY_PODS = RuleSentence("GT-011", "{ready} ready, at least {needed} needed")
    NEVER_AVAILABLE = RuleSentence(
        "GT-012", "{ready} ready, at least {needed} needed; it never had that many, so it is starting up"
    )
    UPDATE_IN_PROGRESS = RuleSentence("GT-013", "{ready} ready, at least {needed} needed, but an update of it runs")
    INSUFFICIENT_READY_PODS = RuleSentence("GT-014", "{ready} ready, at least {needed} needed")
    PODS_PREEMPTED = RuleSentence(
        "GT-068", "{ready} ready, at least {needed} needed; the scheduler preempted pods of it"
    )
    AVAILABILITY_NOT_RECORDED = RuleSentence(
        "GT-015", "{ready} ready, at least {needed} needed; no record says that it ever had that many"
    )
    SUFFICIENT_SCHEDULED_PODS = RuleSentence("GT-021", "{scheduled} scheduled, at least {needed} needed")
    INSUFFICIENT_SCHEDULED_PODS = RuleSentence("GT-022", "{scheduled} scheduled, at least {needed} needed")
    CLIQUE_BEING_DELETED = RuleSentence("GT-023", "the clique is being deleted and counts as missing")
    NOT_COLLECTED = RuleSentence("GT-024", "{kind} objects were not collected, so this cannot be judged")

    TERMINATION_DISABLED = RuleSentence("GT-031", "the set has no terminationDelay, so gang termination is off")
    DELAY_EXPIRED = RuleSentence("GT-033", "breached since {since}; the delay of {delay} ended at {until}")
    DELAY_RUNNING = RuleSentence("GT-034", "breached since {since}; the delay of {delay} ends at {until}")
    NOTHING_BREACHED = RuleSentence("GT-035", "no constituent is breached")
    GANG_TERMINATED = RuleSentence("GT-036", "replica {replica} of the set is terminated as a whole because of {cause}")
    SET_BEING_DELETED = RuleSentence("GT-037", "the set is being deleted; nothing of it is terminated")
    SET_TOO_LARGE = RuleSentence(
        "GT-064",
        "the set is too large to be planned; nothing of it is terminated, because it would not be created again",
    )
    REPLICA_SCALED_IN = RuleSentence("GT-065", "its replica of the set is surplus: it is scaled in, not terminated")
    CONSTITUENT_MISSING = RuleSentence("GT-038", "{name} does not exist or is being deleted, which is no breach")

    GROUP_UPDATE_IN_PROGRESS = RuleSentence("GT-041", "an update of the scaling group runs", code="UpdateInProgress")
    INSUFFICIENT_AVAILABLE_POD_CLIQUE_SCALING_GROUP_REPLICAS = RuleSentence(
        "GT-042", "{left} of {replicas} replicas not breached, at least {needed} needed"
    )
    SUFFICIENT_AVAILABLE_POD_CLIQUE_SCALING_GROUP_REPLICAS = RuleSentence(
        "GT-043", "{left} of {replicas} replicas not breached, at least {needed} needed"
    )
    AVAILABLE_REPLICAS = RuleSentence("GT-046", "{available} of {replicas} replicas are available")
    GROUP_DELAY_EXPIRED = RuleSentence(
        "GT-050", "breached since {since}; the delay of {delay} ended at {until}", code="DelayExpired"
    )
    GROUP_DELAY_RUNNING = RuleSentence(
        "GT-051", "breached since {since}; the delay of {delay} ends at {until}", code="DelayRunning"
    )
    REPLICAS_LOST = RuleSentence(
        "GT-066",
        "{lost} more replicas count as breached: of its replica of the set only breached cliques of it are left",
    )
    PODS_LEAVE = RuleSentence(
        "GT-113",
        "pods being deleted: {pods}, gone {until}; without them it is breached, unless others are in their place",
    )
    SCALED_BELOW_MIN_AVAILABLE = RuleSentence("GT-110", "scaled to {replicas}, below its minAvailable of {needed}")
    SCALED_DOWN_IS_A_LOSS = RuleSentence(
        "GT-111",
        "its missing pods count as lost: after {delay} with fewer than {needed} ready pods its replica is terminated "
        "as a whole, healthy PodCliques too; scaled to {needed} before that, it is kept",
    )
    SCALED_BACK = RuleSentence(
        "GT-112", "scaled to {replicas} at run time; once terminated it comes back with the {template} of the template"
    )
    DELEGATED_TO_SET = RuleSentence(
        "GT-052",
        "{left} of {replicas} replicas not breached, {needed} needed: the group can spare none, the set decides",
    )
    SUSPENDED_BY_UPDATE = RuleSentence(
        "GT-053", "an update of the scaling group runs; the group terminates none of its replicas meanwhile"
    )
    GROUP_REPLICA_TERMINATED = RuleSentence(
        "GT-054", "replica {replica} of {group} is terminated as a whole because of {cause}"
    )
    GROUP_NOTHING_BREACHED = RuleSentence("GT-055", "no replica of the group is breached", code="NothingBreached")


@unique
class GangTerminationDenial(Rule):
    """Why a PodCliqueSet manifest is refused, or not."""

    DELAY_MALFORMED = RuleSentence(
        "GT-090", "must be a duration such as 4h or 1h30m: hours, minutes and seconds, at most 2562047h"
    )
    DELAY_NOT_POSITIVE = RuleSentence(
        "GT-091", "must be greater than 0; leave it out to switch gang termination off (the Go operator sets 4h then)"
    )
    OVERRIDE_WITHOUT_DELAY = RuleSentence("GT-092", "may be set only if spec.template.terminationDelay is set")
    OVERRIDE_NOT_POSITIVE = RuleSentence("GT-093", "must be greater than 0; leave it out to use the set's delay")
    CLIQUE_THRESHOLD_OUT_OF_RANGE = RuleSentence("GT-094", "must be between 1 and the clique's replicas ({replicas})")
    GROUP_THRESHOLD_OUT_OF_RANGE = RuleSentence("GT-095", "must be between 1 and the group's replicas ({replicas})")
    COUNT_OUT_OF_RANGE = RuleSentence("GT-096", "must be at least {least}")
    CLIQUE_UNKNOWN = RuleSentence("GT-097", "must name a clique of the template; known: {known}")
    CLIQUE_IN_TWO_GROUPS = RuleSentence("GT-098", "must be in one scaling group only, is already in {group}")
    NAME_REPEATED = RuleSentence("GT-099", "must be unique")
    NO_CLIQUES = RuleSentence("GT-100", "must have at least one clique")
    IMMUTABLE = RuleSentence("GT-101", "must not change; was {before}")
    MALFORMED = RuleSentence("GT-103", "must be {expected}")
    ADMITTED = RuleSentence("GT-102", "breaks no rule")
