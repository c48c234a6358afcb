"""The clauses of the workload area: one member for each decision and admission rule of specs/workload.md."""

from enum import unique

from grove_core.kernel.reasons import Clause, Rule


@unique
class Why(Rule):
    """Why an object of a set is treated as it is."""

    LET_GO = Clause("WL-001", "it is being deleted, and {finalizer} has nothing left to wait for")

    POD_ACCESS = Clause("WL-011", "pods that start in order watch each other with it")
    SERVICE_OF_REPLICA = Clause("WL-012", "it gives the pods of replica {replica} of the set their addresses")
    CLIQUE_OF_REPLICA = Clause("WL-013", "replica {replica} of the set has a clique {clique}")
    GROUP_OF_REPLICA = Clause("WL-014", "replica {replica} of the set has a scaling group {group}")
    CLIQUE_OF_GROUP_REPLICA = Clause("WL-015", "replica {replica} of {group} has a clique {clique}")
    BASE_GANG = Clause("WL-016", "replica {replica} of the set is placed together: {cliques} PodCliques")
    SCALED_GANG = Clause("WL-017", "replica {replica} of {group} is beyond its minimum and placed on its own")
    AUTOSCALED = Clause("WL-018", "{name} is scaled automatically, between {least} and {most} replicas")
    SHARED_CLAIM = Clause("WL-019", "pods share what {template} describes; scope {scope}")
    POD_OF_CLIQUE = Clause("WL-020", "the pod of index {index}, of {replicas} wanted")
    GANG_FOLLOWS_PODS = Clause("WL-023", "{pods} of its pods exist")
    FOLLOWS_TEMPLATE = Clause("WL-025", "it differs from the template")
    GANG_FOLLOWS_SET = Clause("WL-026", "it differs from the set's labels, annotations or priority")
    TOO_LARGE = Clause(
        "WL-024", "{objects:,} PodCliques and pods are more than the {most:,} that are planned for one set"
    )
    NAME_IS_ANOTHERS = Clause("WL-027", "an object with that name exists, and is {holder}")
    GANG_LACKS_CLIQUE = Clause("WL-074", "gang {gang} is created once {missing} exists, which cannot be created")
    NAME_WANTED_TWICE = Clause("WL-022", "another object has that name: {other}")
    CLAIM_TEMPLATE_ELSEWHERE = Clause("WL-021", "its template {template} is not inline, and was not collected")

    SURPLUS_REPLICA = Clause("WL-200", "replica {replica} is beyond the {replicas} that the set wants")
    SURPLUS_GROUP_REPLICA = Clause("WL-201", "replica {replica} is beyond the {replicas} that the group wants")
    NO_LONGER_PART = Clause("WL-202", "the set no longer has it")
    EXCESS_POD = Clause("WL-203", "there are more pods than the {wanted} wanted; the least useful are deleted")
    ENDED_POD = Clause("WL-204", "it has finished ({phase}) and will not be ready again")

    DOUBLED_POD = Clause("WL-205", "another pod has index {index} and is more useful")
    DOUBLE_IS_NEEDED = Clause(
        "WL-206", "another pod has index {index} too; ready pods: {ready}, of which {needed} have to stay ready"
    )

    GANG_OF_ANOTHER_SCHEME = Clause(
        "WL-207", "pods are in PodGang {gang}, whose name this release does not use: it is left alone"
    )

    HASH_MISSING = Clause("WL-211", "its template hash was missing")
    TEMPLATE_CHANGED = Clause("WL-213", "its replica of the set is updated to the present template")
    OUTDATED_NOT_READY = Clause("WL-214", "it is of an old template and not ready")
    OUTDATED_POD = Clause("WL-215", "it is of an old template, and enough others are ready")
    SURGE_POD = Clause("WL-216", "one pod more than the {replicas} wanted, because the update can spare none")
    UPDATE_WAITS = Clause(
        "WL-217", "its update is paused; old pods left: {left}, ready pods: {ready}, must stay ready: {needed}"
    )
    POD_NOT_READY = Clause("WL-226", "pod {pod} is not ready: {trouble}")
    OUTDATED_NOT_AVAILABLE = Clause("WL-218", "replica {replica} is of an old template and not available")
    OUTDATED_REPLICA = Clause("WL-219", "replica {replica} is of an old template, and enough others are available")
    SURGE_REPLICA = Clause(
        "WL-220", "replica {replica} of {group}, one more than it wants, because the update can spare none"
    )
    GROUP_UPDATE_WAITS = Clause(
        "WL-221",
        "its update is paused; old replicas left: {left}, available: {available}, must stay available: {needed}",
    )
    MEMBER_REMAINS = Clause(
        "WL-236", "{member}, of the same replica, is of an old template and could not be deleted, so this stays"
    )
    REMAINS = Clause("WL-238", "it is of an old template and could not be deleted; the update of {group} retries it")
    LEFT_BY_AN_END = Clause(
        "WL-239", "its termination was due before the update began; another part of replica {replica} was created again"
    )
    REPLICA_NOT_AVAILABLE = Clause("WL-227", "replica {replica} is not available")
    ON_DELETE = Clause("WL-222", "new pods are of the present template; running pods stay (OnDelete)")
    OLD_TEMPLATE = Clause("WL-228", "it is of an old template")
    OLD_PODS = Clause("WL-229", "{outdated} of its {pods} pods are of an old template")
    ROLLOUT_WAITS = Clause("WL-223", "replicas of an old template wait until this one is available: {left}")

    GOES_WITH_SET = Clause("WL-230", "the set is being deleted; its pods are deleted first")
    PARTS_REMAIN = Clause("WL-231", "it stays until its PodCliques, scaling groups and pods are gone: {remaining}")
    PARTS_NOT_COLLECTED = Clause("WL-232", "{kinds} were not collected, so it is not known whether any is left")

    HELD_BY_OTHERS = Clause("WL-234", "it is being deleted and waits for {finalizers}; Grove's finalizer is removed")

    CLIQUE_STATE = Clause("WL-240", "template {hash}; {outdated} of its pods are of another one")
    GROUP_STATE = Clause("WL-242", "{updated} of {replicas} replicas are available and of the present template")
    GANG_STATE = Clause("WL-243", "it is {phase}")
    SET_STATE = Clause("WL-244", "{updated} of {replicas} replicas are available and of the present template")

    GANG_COMPLETE = Clause("WL-090", "its gang {gang} is complete")
    GANGS_NOT_COLLECTED = Clause(
        "WL-235", "PodGangs were not collected, so it is not known whether its gang {gang} is complete"
    )
    NOT_IN_GANG_YET = Clause("WL-091", "its gang {gang} does not refer to it yet")
    GANG_INCOMPLETE = Clause("WL-092", "its gang {gang} is not complete")
    TOO_FEW_PODS = Clause("WL-093", "the gang refers to {pods} of its pods and needs {needed}")
    BASE_GANG_PLACED = Clause("WL-094", "its gang is complete, and the base gang {gang} has been placed")
    BASE_GANG_NOT_PLACED = Clause("WL-095", "it waits for the base gang {gang} to be placed")
    TOO_FEW_PLACED = Clause("WL-096", "{placed} of its pods are placed and the gang needs {needed}")

    PARENT_NOT_READY = Clause("WL-098", "it starts after {parent}, which needs {needed} ready pods and has {ready}")
    PARENT_IS_MISSING = Clause("WL-099", "it starts after {parent}, which does not exist")
    WAITS_IN_A_CIRCLE = Clause("WL-089", "it waits for itself: {circle}")


_SUBDOMAIN = (
    "must be lower-case letters, digits, '-' and '.', with a letter or digit at both ends, at most 253 characters"
)
_KEY = "has the key {key}; it must be at most 63 letters, digits, '-', '_' and '.', optionally after a domain and '/'"


@unique
class Refuse(Rule):
    """Why a PodCliqueSet manifest is refused."""

    SET_NAME_INVALID = Clause("WL-100", _SUBDOMAIN)
    NAMESPACE_INVALID = Clause(
        "WL-101",
        "must be lower-case letters, digits and '-', with a letter or digit at both ends, at most 63 characters",
    )
    LABEL_KEY_INVALID = Clause("WL-102", _KEY)
    LABEL_VALUE_INVALID = Clause(
        "WL-103",
        "must have for {key} at most 63 letters, digits, '-', '_' and '.', with a letter or digit at both ends",
    )
    ANNOTATION_KEY_INVALID = Clause("WL-104", _KEY)
    ANNOTATIONS_TOO_LARGE = Clause("WL-105", "must have at most {most} bytes in all keys and values")
    SET_NAME_UNFIT_FOR_SERVICES = Clause(
        "WL-106", "must begin with a letter and have no '.': Services are named after it"
    )
    CLIQUE_NAME_INVALID = Clause("WL-107", _SUBDOMAIN)
    GROUP_NAME_INVALID = Clause("WL-108", _SUBDOMAIN)
    PART_NAME_UNFIT_FOR_HOSTS = Clause("WL-109", "must have no '.': it is part of the host names of pods")
    STANDALONE_NAMES_TOO_LONG = Clause(
        "WL-110", "must be shorter by {excess}: it and the set's name have at most {most} characters together"
    )
    MEMBER_NAMES_TOO_LONG = Clause(
        "WL-111", "must be shorter by {excess}: it, {group} and the set's name have at most {most} characters together"
    )
    DERIVED_NAME_TOO_LONG = Clause(
        "WL-112", "must be shorter by {excess}: it makes the {derived} {name}, which may have {most} characters"
    )
    CLAIM_NAME_INVALID = Clause(
        "WL-113", "must be lower-case letters, digits and '-': pods name the claim {name} after it"
    )
    AUTOSCALERS_COLLIDE = Clause(
        "WL-114", "must differ from the name of the standalone clique that has an autoscaler too"
    )
    CLIQUES_COLLIDE = Clause("WL-115", "must differ from the name of clique {clique} in replica {replica} of {group}")
    SETS_COLLIDE = Clause("WL-117", "must differ: its {kind} {name} would be one of PodCliqueSet {other} too")

    STARTUP_TYPE_UNKNOWN = Clause("WL-120", "must be one of {allowed}")
    STARTS_AFTER_UNKNOWN = Clause("WL-121", "must name a clique of the template; known: {known}")
    STARTS_AFTER_NOTHING = Clause("WL-122", "must not be empty")
    STARTS_AFTER_ITSELF = Clause("WL-123", "must not be the clique itself")
    STARTS_AFTER_TWICE = Clause("WL-124", "must be named once")
    STARTUP_CYCLE = Clause("WL-125", "must not wait for itself: {cycle}")
    UPDATE_STRATEGY_UNKNOWN = Clause("WL-126", "must be one of {allowed}")

    ROLE_REPEATED = Clause("WL-128", "must be unique, is the role of {clique} already")
    SCHEDULERS_DIFFER = Clause("WL-129", "must be the same for all cliques, is {other} for {clique}")
    SPREAD_CONSTRAINTS = Clause("WL-130", "must not be set: Grove decides how pods are spread")
    NODE_NAME = Clause("WL-131", "must not be set: the scheduler decides where pods run")
    VARIABLE_NAME_INVALID = Clause("WL-132", "must be letters, digits, '-', '_' and '.', no digit first and no '..'")
    VARIABLE_REPEATED = Clause("WL-133", "must be unique in its container")

    FLOOR_BELOW_THRESHOLD = Clause("WL-135", "must be at least minAvailable ({least})")
    CEILING_TOO_LOW = Clause("WL-136", "must be at least minReplicas and replicas ({least})")
    GROUP_CEILING_TOO_LOW = Clause("WL-137", "must be at least minReplicas ({least})")
    MEMBER_SCALES_ITSELF = Clause("WL-138", "must not be set: the clique is in {group}, which scales as a whole")

    CLAIM_TEMPLATE_NAMELESS = Clause("WL-140", "must not be empty")
    CLAIM_TEMPLATE_REPEATED = Clause("WL-141", "must be unique")
    CLAIM_TEMPLATE_EMPTY = Clause("WL-142", "must have at least one request")
    SHARING_NAMELESS = Clause("WL-143", "must not be empty")
    SHARING_REPEATED = Clause("WL-144", "must be unique in its list")
    SHARING_NAMESPACE = Clause("WL-145", "must be empty: {name} is one of resourceClaimTemplates")
    SCOPE_UNKNOWN = Clause("WL-146", "must be one of {allowed}")
    FILTER_EMPTY = Clause("WL-147", "must have names, or be left out")
    FILTER_NAME_UNKNOWN = Clause("WL-148", "must be one of {known}")
    FILTER_OUT_OF_PLACE = Clause("WL-149", "must not be set here")

    ROLE_IMMUTABLE = Clause("WL-150", "must not change; was {before}")
    STARTS_AFTER_IMMUTABLE = Clause("WL-151", "must not change; was {before}")
    SCHEDULER_IMMUTABLE = Clause("WL-152", "must not change; was {before}")
    SHARING_IMMUTABLE = Clause("WL-153", "must not change; was {before}")
    CLAIM_TEMPLATES_IMMUTABLE = Clause("WL-154", "must not change; was {before}")
    STARTUP_TYPE_IMMUTABLE = Clause("WL-155", "must not change; was {before}")
    CLIQUE_ORDER_IMMUTABLE = Clause("WL-156", "must keep their order, in which they start; was {before}")

    OF_A_NEWER_RELEASE = Clause(
        "WL-161",
        "must not be set: only releases after {newest} know it, and their behavior is not predicted",
    )
    FIELD_UNKNOWN = Clause("WL-158", "unknown field; {hint}")
    VALUE_NOT_ALLOWED = Clause("WL-159", "must be {expected}")


@unique
class Warn(Rule):
    """Why a manifest is admitted with a warning."""

    RESTART_POLICY_NOT_ALWAYS = Clause(
        "WL-180", "should be Always: a clique needs pods that start again after they finish"
    )
    SCHEDULER_LEFT_OUT = Clause("WL-181", "should be {other}, as for {clique}, unless that is the operator's default")
    STARTS_AFTER_UNUSED = Clause("WL-182", "has no effect without CliqueStartupTypeExplicit")
    CONTAINERS_MISSING = Clause("WL-185", "should have at least one container: the API server refuses a pod without")
    REPLICAS_UNUSED = Clause(
        "WL-184", "was {before}; it only applies to new objects, existing ones are scaled by their own replicas"
    )
