"""Rules of topologies: one member for each decision or admission rule of specs/topology.md."""

from enum import unique

from grove_core.kernel.reasons import Rule, RuleSentence


@unique
class TopologyReason(Rule):
    """Why a topology applies, is held, is written, or stays as it is."""

    TOPOLOGY_NAMED = RuleSentence("TP-001", "it names topology {topology}")
    TOPOLOGY_BY_DEFAULT = RuleSentence("TP-002", "it has a constraint and names no topology: {topology} is the default")
    NO_TOPOLOGY = RuleSentence("TP-003", "it has no topology constraint at any level")
    TOPOLOGY_OFF = RuleSentence(
        "TP-007", "topology-aware scheduling is off: its constraints are not written to PodGangs"
    )

    TOPOLOGY_MISSING = RuleSentence("TP-010", "topology {topology} does not exist; known: {known}{meant}")
    DOMAIN_MISSING = RuleSentence(
        "TP-011", "topology {topology} has no domain {domain}, which {path} asks for; known: {known}{meant}"
    )
    TOPOLOGY_NOT_COLLECTED = RuleSentence(
        "TP-013", "topologies were not collected: whether {topology} exists is unknown"
    )

    GANG_FOLLOWS_TOPOLOGY = RuleSentence(
        "TP-025", "no pod of the set is placed yet, so it is updated to topology {topology}"
    )
    PLACED_OTHERWISE = RuleSentence(
        "TP-026", "pods of the set are placed, so it keeps constraints that differ from topology {topology}"
    )
    TOPOLOGY_TROUBLE = RuleSentence("TP-030", "its topology is not in sync: {why}")
    TOPOLOGY_HOLDS = RuleSentence("TP-031", "its topology is in sync again, or none applies")

    PODS_APART = RuleSentence("TP-131", "its pods have to share one value of {key}: {where}")

    TOPOLOGY_USED = RuleSentence("TP-040", "it is used by {users}")
    SHADOWED = RuleSentence("TP-049", "ClusterTopology {topology} of the same name takes precedence over it")
    TOPOLOGY_UNUSED = RuleSentence("TP-041", "no PodCliqueSet uses it")
    SETS_NOT_COLLECTED = RuleSentence("TP-042", "its users are unknown: {kinds} were not collected")
    USERS_STAY = RuleSentence("TP-043", "it is being deleted, and its finalizer holds it while it is used by {users}")

    DEFAULT_MADE = RuleSentence("TP-050", "it is the default topology, as configured")
    DEFAULT_RESTORED = RuleSentence(
        "TP-051", "the default topology should have Grove's label and the configured levels: {levels}"
    )
    DEFAULT_IN_USE = RuleSentence("TP-052", "its levels are not changed while pods are placed by them: {users}")
    DEFAULT_RELEASED = RuleSentence("TP-053", "topology-aware scheduling is off: the default topology is not held")
    NAME_IS_A_BINDING = RuleSentence(
        "TP-054", "{kind} {topology} has the name of the default topology, and is used as such"
    )

    BINDING_NOT_GUARDED = RuleSentence(
        "TP-127", "no webhook of Grove validates a {kind}: its levels can be changed at any time"
    )
    OFF_IS_NOT_GUARDED = RuleSentence("TP-130", "topology-aware scheduling is off: no webhook validates topologies")


@unique
class TopologyDenial(Rule):
    """Why a set or a topology is refused."""

    TOPOLOGY_UNKNOWN = RuleSentence("TP-060", "must name a topology that exists; known: {known}{meant}")
    TOPOLOGY_BEING_DELETED = RuleSentence("TP-061", "must not name a topology that is being deleted")
    TOPOLOGY_LOCKED = RuleSentence(
        "TP-062", "must not change while pods of the set are bound; was {before}, bound pods: {scheduled}"
    )
    NAMED_WITHOUT_CONSTRAINT = RuleSentence(
        "TP-063", "must not be set without a topologyConstraint of the template, a clique or a scaling group"
    )
    NAMED_WHILE_OFF = RuleSentence("TP-064", "must not be set while topology-aware scheduling is off")
    DOMAIN_UNKNOWN = RuleSentence("TP-065", "must be a domain of topology {topology}; known: {known}{meant}")
    BROADER_THAN_PARENT = RuleSentence(
        "TP-066", "must not be broader than {domain} of {above}; from broad to narrow: {order}"
    )
    CONSTRAINT_EMPTY = RuleSentence("TP-067", "must name a domain: pack.required, pack.preferred or packDomain")
    REQUIRED_TWICE = RuleSentence("TP-068", "must not be set beside pack.required: {required}")
    CONSTRAINT_IMMUTABLE = RuleSentence("TP-069", "must not change; was {before}")
    NAMES_DIFFER = RuleSentence("TP-070", "must be {named}, the topology that is named elsewhere in the set")

    LEVELS_INVALID = RuleSentence("TP-080", "must be {expected}")
    LEVELS_IN_USE = RuleSentence("TP-084", "must not change while pods are placed by them: {users}")
    NAME_RESERVED = RuleSentence("TP-085", "must be the levels that are configured for the default topology: {levels}")
    TOPOLOGY_ADMITTED = RuleSentence("TP-088", "breaks no rule")
    TOPOLOGY_UNREADABLE = RuleSentence("TP-087", "must be {expected}")


@unique
class TopologyWarning(Rule):
    """Warnings on what is probably a mistake, or could not be checked."""

    NOT_CHECKED = RuleSentence("TP-072", "could not be checked without knowing {what}")
    NO_EFFECT_WHILE_OFF = RuleSentence("TP-073", "has no effect: topology-aware scheduling is off")
    PREFERS_BROADER = RuleSentence("TP-074", "has no effect: the required domain {required} is as narrow or narrower")
    SCHEDULER_IGNORES_GANGS = RuleSentence(
        "TP-075",
        "should name a scheduler that reads PodGangs; that of Kubernetes does not, so the constraint has no effect"
        "{unless}",
    )
    USERS_NOT_KNOWN = RuleSentence("TP-076", "could not be checked without knowing which sets use it")
    STILL_USED = RuleSentence("TP-086", "stays until no set uses it any more: {users}")
    USED_AND_NOT_HELD = RuleSentence(
        "TP-089", "is deleted although sets use it, since it has no finalizer {finalizer}: {users}"
    )


@unique
class FitReason(Rule):
    """Why pods fit on nodes, do not fit, or why that is undecided."""

    HAS_A_PLACE = RuleSentence("TP-100", "there is room for {pods} in {where}")
    NO_DOMAIN = RuleSentence("TP-101", "no node of {where} is part of a {level}: none has the labels of every level")
    NO_DOMAIN_HAS_ROOM = RuleSentence("TP-107", "no {level}{where} has room for {pods} of {name}; the best of {of}:")
    NOT_LOOKED_AT = RuleSentence(
        "TP-106", "by their resources they fit into {where}, but they ask for {what}, which is not checked here"
    )
    NOTHING_ASKED = RuleSentence("TP-109", "there are no pods to place")
    RESOURCE_SHORT = RuleSentence("TP-116", "{where} has {free} free, and they ask for {asked}")
    PLACES_SHORT = RuleSentence(
        "TP-117", "{where} has room for {have} of {need} {what} of {cliques}, each {each}{refused}"
    )
    LARGE_SHORT = RuleSentence(
        "TP-118", "{where} has room for {have} of the {need} pods that ask for {least} or more each"
    )
    PARTS_SHORT = RuleSentence(
        "TP-119", "{where} has room for at most {have} of {need} such as {name}, each in one {level}"
    )
    TOPOLOGIES_TO_ADD = RuleSentence(
        "TP-128", "add the topologies of the cluster: kubectl get clustertopologies -o yaml"
    )
    NOT_FOUND = RuleSentence("TP-120", "neither a placement of {pods} nor a proof that there is none was found")
