"""The reasons of specs/workload_field.md: one member for each decision of the Go operator's rules.

A reason that is equally true of the design is a member of ``WorkloadReason`` there, and has no member here.
"""

from enum import unique

from grove_core.kernel.reasons import Rule, RuleSentence


@unique
class GoOperatorWorkloadReason(Rule):
    """Why an object of a set is treated as it is."""

    SET_UPDATE_BEGINS = RuleSentence(
        "WF-002", "a template has changed, so an update of its {replicas} replicas begins; one is updated at a time"
    )
    CLIQUE_TAKES_TEMPLATE = RuleSentence(
        "WF-003", "the changed template is written to the PodCliques of all replicas at once; running pods stay for now"
    )
    MEMBER_TAKES_TEMPLATE = RuleSentence("WF-007", "new pods are of the present template; running pods stay (OnDelete)")
    REPLICA_UPDATE_BEGINS = RuleSentence("WF-004", "replica {replica} is updated next", count="; {left} more wait")
    REPLICA_UPDATE_RUNS = RuleSentence(
        "WF-005", "replica {replica} is updated until all its parts are new and ready", count="; {left} more wait"
    )
    SET_UPDATE_ENDS = RuleSentence("WF-006", "all {replicas} replicas are of the present template")

    CLIQUE_UPDATE_BEGINS = RuleSentence("WF-010", "its pods are updated to template {hash}")
    OLD_POD_NOT_SERVING = RuleSentence(
        "WF-011", "it is of an old template and {state}: it is deleted at once, whatever minAvailable says"
    )
    OLD_POD_SELECTED = RuleSentence(
        "WF-012",
        "the oldest ready pod of an old template; {ready} are ready and {needed} needed, so it is deleted before its "
        "successor exists",
    )
    SELECTED_POD_REMAINS = RuleSentence("WF-017", "the status names it as the next one, and it is not deleted yet")
    SUCCESSOR_NOT_READY = RuleSentence(
        "WF-013", "pod {pod} is being replaced, and its successor is not ready", count="; {left} old ready pods wait"
    )
    TOO_FEW_READY_FOR_UPDATE = RuleSentence(
        "WF-014", "{ready} pods are ready and {needed} needed, so {left} old ready pods stay"
    )
    CLIQUE_UPDATE_ENDS = RuleSentence("WF-015", "no pod of an old template is left; the update to {hash} has ended")
    CLIQUE_HASHES = RuleSentence("WF-016", "template {hash}")

    GROUP_UPDATE_BEGINS = RuleSentence("WF-020", "its replicas are updated to generation {hash}")
    OLD_REPLICA_NOT_SERVING = RuleSentence(
        "WF-022",
        "replica {replica} is of an old template and {state}: it is deleted at once, whatever minAvailable says",
    )
    OLD_REPLICA_SELECTED = RuleSentence(
        "WF-023",
        "replica {replica} is the first available one of an old template; {available} are available and {needed} "
        "needed, so it is deleted before its successor exists",
    )
    REPLICA_NOT_UPDATED_YET = RuleSentence(
        "WF-024", "replica {replica} is being replaced and is not ready", count="; {left} old available replicas wait"
    )
    TOO_FEW_AVAILABLE_FOR_UPDATE = RuleSentence(
        "WF-026", "{available} replicas are available and {needed} needed, so {left} old available replicas stay"
    )
    GROUP_UPDATE_ENDS = RuleSentence("WF-027", "no available replica of an old template is left; its update has ended")
    GROUP_HASHES = RuleSentence("WF-028", "{updated} of {replicas} replicas are available and of the present template")

    POD_INDEX_TAKEN_TWICE = RuleSentence(
        "WF-031",
        "two of its pods have index {index}; the operator fails at that, creates no pod: delete one of them",
    )
    EXCESS_POD_OF_CLIQUE = RuleSentence(
        "WF-032", "there are more pods than the {wanted} wanted; the least useful are deleted, the newest first"
    )

    DELETED_POD_PICKED = RuleSentence(
        "WF-033",
        "too many pods ({left}) stay until {names} is gone: the operator picks again what it is already deleting",
    )

    GATED_UNTIL_NAMED = RuleSentence("WF-040", "its gang {gang} does not refer to it yet")
    NAMED_BY_BASE_GANG = RuleSentence("WF-041", "its gang {gang} refers to it")
    GATED_UNTIL_BASE_GANG_IS_SCHEDULED = RuleSentence("WF-042", "it waits for the base gang {gang} to be scheduled")
    BASE_GANG_IS_SCHEDULED = RuleSentence("WF-043", "its gang refers to it, and the base gang {gang} is scheduled")
    TOO_FEW_SCHEDULED_FOR_GATE = RuleSentence(
        "WF-044", "{clique} has {scheduled} scheduled pods by its status and the gang needs {needed}"
    )
    GANG_INITIALIZED = RuleSentence("WF-046", "{pods} of its {wanted} pods exist")

    NEXT_RECONCILE_AWAITED = RuleSentence(
        "WF-047",
        "the operator does not watch objects of this kind: it acts at the next reconcile of the set, after a change of "
        "the set or of a status of its PodCliques, or after a restart",
    )

    SURPLUS_CLIQUE = RuleSentence("WF-050", "replica {replica} is beyond the {replicas} that the set wants")
    SURPLUS_GROUP = RuleSentence("WF-051", "replica {replica} is beyond the {replicas} that the set wants")
    SURPLUS_MEMBERS = RuleSentence("WF-052", "replica {replica} is beyond the {replicas} that the group wants")
    NOT_IN_SET_ANY_MORE = RuleSentence("WF-053", "the set no longer has it")
    SERVICE_LEAKED = RuleSentence(
        "WF-054", "replica {replica} is gone and its Service stays: this operator never deletes it; delete it by hand"
    )

    SET_RELEASED = RuleSentence(
        "WF-060",
        "it is being deleted and goes at once; the garbage collector then deletes its {cliques} PodCliques with {pods} "
        "pods ({ready} ready) and {gpus} GPUs",
    )

    TOKEN_AWAITED = RuleSentence(
        "WF-070", "its first PodClique is created after {seconds} s, whether or not a pod needs the token in {secret}"
    )
    SET_COUNTS = RuleSentence("WF-071", "{updated} of {replicas} replicas are available and of the present template")

    READY_PODS_GO_AT_ONCE = RuleSentence(
        "WF-170",
        "its update deletes ready pods at once ({pods}), because a container of theirs once ended with an error: a "
        "defect of the operator; delete such pods one by one before the edit",
    )
    CLIQUE_UPDATE_BELOW_MINIMUM = RuleSentence(
        "WF-171",
        "its update leaves {left} of the {needed} needed pods, as each is deleted before its successor exists: a "
        "defect of the operator; scale it to {more} until the update is over",
    )
    GROUP_UPDATE_BELOW_MINIMUM = RuleSentence(
        "WF-172",
        "its update leaves {left} of the {needed} needed replicas, as each is deleted before its successor exists: a "
        "defect of the operator; scale it to {more} until the update is over",
    )
    CLIQUE_UPDATE_WITHOUT_SPARE = RuleSentence(
        "WF-173",
        "its update leaves {left} of the {needed} needed pods, as each is deleted before its successor exists, and no "
        "more than {needed} are ready: a defect of the operator; make the edit when {more} are ready",
    )
    GROUP_UPDATE_WITHOUT_SPARE = RuleSentence(
        "WF-174",
        "its update leaves {left} of the {needed} needed replicas, as each is deleted before its successor exists, and "
        "no more than {needed} are available: a defect of the operator; make the edit when {more} are available",
    )

    TEMPLATE_OF_ANOTHER_CLIQUE = RuleSentence(
        "WF-110",
        "it is made from the template of clique {other}, because its name ends so: a defect of the operator; in a new "
        "set, name {clique} otherwise or write it before {other}",
    )


@unique
class GoOperatorWorkloadDenial(Rule):
    """Why the Go operator refuses a set."""

    SCHEDULER_NOT_ENABLED = RuleSentence(
        "WF-161", "must be a scheduler that the operator's configuration enables: {names}"
    )
    CONSTRAINT_WHILE_OFF = RuleSentence(
        "WF-162", "must be absent while topologyAwareScheduling is off in the operator's configuration"
    )
    PACK_DOMAIN_DEPRECATED = RuleSentence("WF-165", "must be absent in a new set: write pack.required instead")
    TOPOLOGY_NOT_NAMED = RuleSentence("WF-163", "must be set: no constraint above it names a topology")


@unique
class GoOperatorWorkloadWarning(Rule):
    """Warnings on what the Go operator makes of a manifest, or refuses by its configuration."""

    ZERO_BECOMES_ONE = RuleSentence("WF-166", "the Go operator stores 1 in its place: a clique has at least one pod")

    TOPOLOGY_AWARENESS_UNKNOWN = RuleSentence(
        "WF-164", "no configuration of the operator is given: it is refused if topologyAwareScheduling is off there"
    )
