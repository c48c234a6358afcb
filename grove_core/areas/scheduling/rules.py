"""The reasons of specs/scheduling.md: one member for each decision rule."""

from enum import unique

from grove_core.kernel.reasons import Rule, RuleSentence


@unique
class SchedulingReason(Rule):
    """Why a set uses a back end, and why a group exists, is made anew, is deleted or stays."""

    PLACED_BY_KUBERNETES = RuleSentence(
        "SC-001", "the Workload API places its new gangs, since scheduling.backend is {backend}"
    )
    OTHER_SCHEDULER = RuleSentence("SC-002", "its pods name the scheduler {scheduler}, which places PodGangs")
    SHARES_CLAIMS = RuleSentence(
        "SC-007",
        "PodCliques of a gang share ResourceClaims, which the scheduler allocates for one of them only: {claims}",
    )
    WORKLOAD_OF_SET = RuleSentence("SC-010", "it has the templates of the groups of the set")
    GROUP_OF_GANG = RuleSentence("SC-011", "gang {gang} is placed as a whole: all {children} parts of it, or none")
    REPLICA_OF_GANG = RuleSentence(
        "SC-012", "replica {replica} of {group} is a part of gang {gang}; all its {children} PodCliques are needed"
    )
    GROUP_OF_CLIQUE = RuleSentence("SC-013", "its pods are placed together, at least {needed} of them")
    CLAIMS_OF_GROUP = RuleSentence("SC-017", "its pods share ResourceClaims, reserved for the group: {claims}")
    TOO_MANY_PARTS = RuleSentence(
        "SC-020", "{level} has {parts} parts, and a Workload has at most {limit} at each level"
    )
    GROUP_NOT_NEEDED = RuleSentence("SC-021", "the set has no such group any more")
    MINIMUM_CHANGED = RuleSentence("SC-022", "{needed} pods of it are needed")
    MADE_ANEW = RuleSentence("SC-023", "{fields} of {group} cannot be changed, and no pod of gang {gang} is on a node")
    STAYS_AS_IT_IS = RuleSentence("SC-024", "{fields} cannot be changed, and pods of gang {gang} are on nodes")
    WORKLOAD_OUTDATED = RuleSentence("SC-025", "its templates differ from the set, and cannot be changed")
    GROUP_NAME_TAKEN = RuleSentence("SC-026", "a group with that name exists, and is {holder}")
    SCHEDULER_MESSAGE = RuleSentence("SC-030", "the scheduler has no place for its pods: {message}")
    PARTS_WITHOUT_PODS = RuleSentence(
        "SC-031", "the scheduler does not look at gang {gang} before these PodCliques have the pods they need: {names}"
    )
    NOT_LOOKED_AT = RuleSentence("SC-032", "the scheduler has not looked at its pods yet")


@unique
class SchedulingPreflightReason(Rule):
    """Why the operator does not start, and what it uses where it does."""

    API_NOT_SERVED = RuleSentence(
        "SC-005",
        "scheduling.backend is kubernetes, and the server serves no CompositePodGroups: turn their feature gates on,"
        " or set it to auto",
    )
    BACKEND_BY_DISCOVERY = RuleSentence(
        "SC-008", "scheduling.backend is auto, and the server serves {served}: new gangs have {gangs}"
    )


@unique
class SchedulingWarning(Rule):
    """Warnings at admission."""

    KEEPS_PODGANGS = RuleSentence("SC-040", "has PodGangs, which need a scheduler such as KAI: {why}")
    PREFERENCE_IGNORED = RuleSentence("SC-041", "has no effect: the Workload API knows required domains only")
