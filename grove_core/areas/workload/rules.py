"""The reasons of the workload area: one member for each decision and admission rule of specs/workload.md."""

from enum import unique

from grove_core.kernel.reasons import Rule, RuleSentence


@unique
class WorkloadReason(Rule):
    """Why an object of a set is treated as it is."""

    FINALIZER_REMOVED = RuleSentence("WL-001", "it is being deleted, and {finalizer} has nothing left to wait for")

    POD_ACCESS = RuleSentence("WL-011", "pods that start in order watch each other with it")
    SERVICE_OF_REPLICA = RuleSentence("WL-012", "it gives the pods of replica {replica} of the set their addresses")
    CLIQUE_OF_REPLICA = RuleSentence("WL-013", "replica {replica} of the set has a clique {clique}")
    GROUP_OF_REPLICA = RuleSentence("WL-014", "replica {replica} of the set has a scaling group {group}")
    CLIQUE_OF_GROUP_REPLICA = RuleSentence("WL-015", "replica {replica} of {group} has a clique {clique}")
    BASE_GANG = RuleSentence("WL-016", "replica {replica} of the set is placed together: {cliques} PodCliques")
    SCALED_GANG = RuleSentence("WL-017", "replica {replica} of {group} is beyond its minimum and placed on its own")
    AUTOSCALED = RuleSentence("WL-018", "{name} is scaled automatically, between {least} and {most} replicas")
    SHARED_CLAIM = RuleSentence("WL-019", "pods share what {template} describes; scope {scope}")
    POD_OF_CLIQUE = RuleSentence("WL-020", "the pod of index {index}, of {replicas} wanted")
    GANG_FOLLOWS_PODS = RuleSentence("WL-023", "{pods} of its pods exist")
    FOLLOWS_TEMPLATE = RuleSentence("WL-025", "it differs from the template")
    GANG_FOLLOWS_SET = RuleSentence("WL-026", "it differs from the set's labels, annotations or priority")
    TOO_LARGE = RuleSentence(
        "WL-024", "{objects:,} PodCliques and pods are more than the {most:,} that are planned for one set"
    )
    NAME_IS_ANOTHERS = RuleSentence("WL-027", "an object with that name exists, and is {holder}")
    GANG_LACKS_CLIQUE = RuleSentence("WL-074", "gang {gang} is created once {missing} exists, which cannot be created")
    NAME_WANTED_TWICE = RuleSentence("WL-022", "another object has that name: {other}")
    CLAIM_TEMPLATE_ELSEWHERE = RuleSentence("WL-021", "its template {template} is not inline, and was not collected")

    SURPLUS_REPLICA = RuleSentence("WL-200", "replica {replica} is beyond the {replicas} that the set wants")
    SURPLUS_GROUP_REPLICA = RuleSentence("WL-201", "replica {replica} is beyond the {replicas} that the group wants")
    NO_LONGER_PART = RuleSentence("WL-202", "the set no longer has it")
    EXCESS_POD = RuleSentence("WL-203", "there are more pods than the {wanted} wanted; the least useful are deleted")
    ENDED_POD = RuleSentence("WL-204", "it has finished ({phase}) and will not be ready again")

    DOUBLED_POD = RuleSentence("WL-205", "another pod has index {index} and is more useful")
    DOUBLE_IS_NEEDED = RuleSentence(
        "WL-206", "another pod has index {index} too; ready pods: {ready}, of which {needed} have to stay ready"
    )

    GANG_OF_ANOTHER_SCHEME = RuleSentence(
        "WL-207", "pods are in PodGang {gang}, whose name this release does not use: it is left alone"
    )

    HASH_MISSING = RuleSentence("WL-211", "its template hash was missing")
    TEMPLATE_CHANGED = RuleSentence("WL-213", "its replica of the set is updated to the present template")
    OUTDATED_NOT_READY = RuleSentence("WL-214", "it is of an old template and not ready")
    OUTDATED_POD = RuleSentence("WL-215", "it is of an old template, and enough others are ready")
    SURGE_POD = RuleSentence("WL-216", "one pod more than the {replicas} wanted, because the update can spare none")
    UPDATE_WAITS = RuleSentence(
        "WL-217", "its update is paused; old pods left: {left}, ready pods: {ready}, must stay ready: {needed}"
    )
    POD_NOT_READY = RuleSentence("WL-226", "pod {pod} is not ready: {trouble}")
    OUTDATED_NOT_AVAILABLE = RuleSentence("WL-218", "replica {replica} is of an old template and not available")
    OUTDATED_REPLICA = RuleSentence(
        "WL-219", "replica {replica} is of an old template, and enough others are available"
    )
    SURGE_REPLICA = RuleSentence(
        "WL-220", "replica {replica} of {group}, one more than it wants, because the update can spare none"
    )
    GROUP_UPDATE_WAITS = RuleSentence(
        "WL-221",
        "its update is paused; old replicas left: {left}, available: {available}, must stay available: {needed}",
    )
    MEMBER_REMAINS = RuleSentence(
        "WL-236", "{member}, of the same replica, is of an old template and could not be deleted, so this stays"
    )
    OUTDATED_CLIQUE_REMAINS = RuleSentence(
        "WL-238", "it is of an old template and could not be deleted; the update of {group} retries it"
    )
    TERMINATION_DUE_BEFORE_UPDATE = RuleSentence(
        "WL-239", "its termination was due before the update began; another part of replica {replica} was created again"
    )
    REPLICA_NOT_AVAILABLE = RuleSentence("WL-227", "replica {replica} is not available")
    ON_DELETE = RuleSentence("WL-222", "new pods are of the present template; running pods stay (OnDelete)")
    OLD_TEMPLATE = RuleSentence("WL-228", "it is of an old template")
    OLD_PODS = RuleSentence("WL-229", "{outdated} of its {pods} pods are of an old template")
    ROLLOUT_WAITS = RuleSentence("WL-223", "replicas of an old template wait until this one is available: {left}")

    DELETED_WITH_SET = RuleSentence("WL-230", "the set is being deleted; its pods are deleted first")
    PARTS_REMAIN = RuleSentence(
        "WL-231", "it stays until its PodCliques, scaling groups and pods are gone: {remaining}"
    )
    PARTS_NOT_COLLECTED = RuleSentence("WL-232", "{kinds} were not collected, so it is not known whether any is left")

    HELD_BY_OTHERS = RuleSentence(
        "WL-234", "it is being deleted and waits for {finalizers}; Grove's finalizer is removed"
    )

    WRITE_FAILED = RuleSentence("WL-255", "the operator could not write its {what} ({times}x, last at {at}): {message}")
    QUOTA_EXCEEDED = RuleSentence(
        "WL-256",
        "ResourceQuota {quota} refuses it{amounts}: Grove does not hold it back, and creates it when the quota allows",
    )
    STALE_GANG = RuleSentence(
        "WL-257",
        "{scheduled} scheduled, at least {needed} needed; kai-scheduler evicts all scheduled pods of its gang, which is"
        " below its minimum, after the staleness grace period (60s by default; annotation"
        " kai.scheduler/staleness-grace-period): the operator does not",
    )
    FOREIGN_GATE = RuleSentence(
        "WL-246", "scheduling gate {gate}, which Grove does not remove, keeps these pods from being scheduled: {names}"
    )

    CLIQUE_STATE = RuleSentence("WL-240", "template {hash}; {outdated} of its pods are of another one")
    GROUP_STATE = RuleSentence("WL-242", "{updated} of {replicas} replicas are available and of the present template")
    GANG_STATE = RuleSentence("WL-243", "it is {phase}")
    SET_STATE = RuleSentence("WL-244", "{updated} of {replicas} replicas are available and of the present template")

    GANG_COMPLETE = RuleSentence("WL-090", "its gang {gang} is complete")
    GANGS_NOT_COLLECTED = RuleSentence(
        "WL-235", "PodGangs were not collected, so it is not known whether its gang {gang} is complete"
    )
    NOT_IN_GANG_YET = RuleSentence("WL-091", "its gang {gang} does not refer to it yet")
    GANG_INCOMPLETE = RuleSentence("WL-092", "its gang {gang} is not complete")
    TOO_FEW_PODS = RuleSentence("WL-093", "the gang refers to {pods} of its pods and needs {needed}")
    BASE_GANG_PLACED = RuleSentence("WL-094", "its gang is complete, and the base gang {gang} has been placed")
    POD_GROUP_ABSENT = RuleSentence("SC-028", "its pods are created once {group} exists")
    POD_GROUPS_UNKNOWN = RuleSentence("SC-027", "PodGroups were not collected, so its pods are not created")
    BASE_GANG_NOT_PLACED = RuleSentence("WL-095", "it waits for the base gang {gang} to be placed")
    TOO_FEW_PLACED = RuleSentence("WL-096", "{placed} of its pods are placed and the gang needs {needed}")

    PARENT_NOT_READY = RuleSentence(
        "WL-098", "it starts after {parent}, which needs {needed} ready pods and has {ready}"
    )
    PARENT_IS_MISSING = RuleSentence("WL-099", "it starts after {parent}, which does not exist")
    WAITS_IN_A_CIRCLE = RuleSentence("WL-089", "it waits for itself: {circle}")


_SUBDOMAIN = (
    "must be lower-case letters, digits, '-' and '.', with a letter or digit at both ends, at most 253 characters"
)
_KEY = "has the key {key}; it must be at most 63 letters, digits, '-', '_' and '.', optionally after a domain and '/'"


@unique
class WorkloadDenial(Rule):
    """Why a PodCliqueSet manifest is refused."""

    SET_NAME_INVALID = RuleSentence("WL-100", _SUBDOMAIN)
    NAMESPACE_INVALID = RuleSentence(
        "WL-101",
        "must be lower-case letters, digits and '-', with a letter or digit at both ends, at most 63 characters",
    )
    LABEL_KEY_INVALID = RuleSentence("WL-102", _KEY)
    LABEL_VALUE_INVALID = RuleSentence(
        "WL-103",
        "must have for {key} at most 63 letters, digits, '-', '_' and '.', with a letter or digit at both ends",
    )
    ANNOTATION_KEY_INVALID = RuleSentence("WL-104", _KEY)
    ANNOTATIONS_TOO_LARGE = RuleSentence("WL-105", "must have at most {most} bytes in all keys and values")
    SET_NAME_UNFIT_FOR_SERVICES = RuleSentence(
        "WL-106", "must begin with a letter and have no '.': Services are named after it"
    )
    CLIQUE_NAME_INVALID = RuleSentence("WL-107", _SUBDOMAIN)
    GROUP_NAME_INVALID = RuleSentence("WL-108", _SUBDOMAIN)
    PART_NAME_UNFIT_FOR_HOSTS = RuleSentence("WL-109", "must have no '.': it is part of the host names of pods")
    STANDALONE_NAMES_TOO_LONG = RuleSentence(
        "WL-110", "must be shorter by {excess}: it and the set's name have at most {most} characters together"
    )
    MEMBER_NAMES_TOO_LONG = RuleSentence(
        "WL-111", "must be shorter by {excess}: it, {group} and the set's name have at most {most} characters together"
    )
    DERIVED_NAME_TOO_LONG = RuleSentence(
        "WL-112", "must be shorter by {excess}: it makes the {derived} {name}, which may have {most} characters"
    )
    CLAIM_NAME_INVALID = RuleSentence(
        "WL-113", "must be lower-case letters, digits and '-': pods name the claim {name} after it"
    )
    AUTOSCALERS_COLLIDE = RuleSentence(
        "WL-114", "must differ from the name of the standalone clique that has an autoscaler too"
    )
    CLIQUES_COLLIDE = RuleSentence(
        "WL-115", "must differ from the name of clique {clique} in replica {replica} of {group}"
    )
    SETS_COLLIDE = RuleSentence("WL-117", "must differ: its {kind} {name} would be one of PodCliqueSet {other} too")

    STARTUP_TYPE_UNKNOWN = RuleSentence("WL-120", "must be one of {allowed}")
    STARTS_AFTER_UNKNOWN = RuleSentence("WL-121", "must name a clique of the template; known: {known}")
    STARTS_AFTER_NOTHING = RuleSentence("WL-122", "must not be empty")
    STARTS_AFTER_ITSELF = RuleSentence("WL-123", "must not be the clique itself")
    STARTS_AFTER_TWICE = RuleSentence("WL-124", "must be named once")
    STARTUP_CYCLE = RuleSentence("WL-125", "must not wait for itself: {cycle}")
    UPDATE_STRATEGY_UNKNOWN = RuleSentence("WL-126", "must be one of {allowed}")

    ROLE_REPEATED = RuleSentence("WL-128", "must be unique, is the role of {clique} already")
    SCHEDULERS_DIFFER = RuleSentence("WL-129", "must be the same for all cliques, is {other} for {clique}")
    SPREAD_CONSTRAINTS = RuleSentence("WL-130", "must not be set: Grove decides how pods are spread")
    NODE_NAME = RuleSentence("WL-131", "must not be set: the scheduler decides where pods run")
    VARIABLE_NAME_INVALID = RuleSentence(
        "WL-132", "must be letters, digits, '-', '_' and '.', no digit first and no '..'"
    )
    VARIABLE_REPEATED = RuleSentence("WL-133", "must be unique in its container")

    FLOOR_BELOW_THRESHOLD = RuleSentence("WL-135", "must be at least minAvailable ({least})")
    CEILING_TOO_LOW = RuleSentence("WL-136", "must be at least minReplicas and replicas ({least})")
    GROUP_CEILING_TOO_LOW = RuleSentence("WL-137", "must be at least minReplicas ({least})")
    MEMBER_SCALES_ITSELF = RuleSentence("WL-138", "must not be set: the clique is in {group}, which scales as a whole")

    CLAIM_TEMPLATE_NAMELESS = RuleSentence("WL-140", "must not be empty")
    CLAIM_TEMPLATE_REPEATED = RuleSentence("WL-141", "must be unique")
    CLAIM_TEMPLATE_EMPTY = RuleSentence("WL-142", "must have at least one request")
    SHARING_NAMELESS = RuleSentence("WL-143", "must not be empty")
    SHARING_REPEATED = RuleSentence("WL-144", "must be unique in its list")
    SHARING_NAMESPACE = RuleSentence("WL-145", "must be empty: {name} is one of resourceClaimTemplates")
    SCOPE_UNKNOWN = RuleSentence("WL-146", "must be one of {allowed}")
    FILTER_EMPTY = RuleSentence("WL-147", "must have names, or be left out")
    FILTER_NAME_UNKNOWN = RuleSentence("WL-148", "must be one of {known}")
    FILTER_OUT_OF_PLACE = RuleSentence("WL-149", "must not be set here")

    ROLE_IMMUTABLE = RuleSentence("WL-150", "must not change; was {before}")
    STARTS_AFTER_IMMUTABLE = RuleSentence("WL-151", "must not change; was {before}")
    SCHEDULER_IMMUTABLE = RuleSentence("WL-152", "must not change; was {before}")
    SHARING_IMMUTABLE = RuleSentence("WL-153", "must not change; was {before}")
    CLAIM_TEMPLATES_IMMUTABLE = RuleSentence("WL-154", "must not change; was {before}")
    STARTUP_TYPE_IMMUTABLE = RuleSentence("WL-155", "must not change; was {before}")
    CLIQUE_ORDER_IMMUTABLE = RuleSentence("WL-156", "must keep their order, in which they start; was {before}")

    OF_A_NEWER_RELEASE = RuleSentence(
        "WL-161",
        "must not be set: only releases after {newest} know it, and their behavior is not predicted",
    )
    FIELD_UNKNOWN = RuleSentence("WL-158", "unknown field; {hint}")
    VALUE_NOT_ALLOWED = RuleSentence("WL-159", "must be {expected}")


@unique
class WorkloadWarning(Rule):
    """Why a manifest is admitted with a warning."""

    RESTART_POLICY_NOT_ALWAYS = RuleSentence(
        "WL-180", "should be Always: a clique needs pods that start again after they finish"
    )
    SCHEDULER_LEFT_OUT = RuleSentence(
        "WL-181", "should be {other}, as for {clique}, unless that is the operator's default"
    )
    STARTS_AFTER_UNUSED = RuleSentence("WL-182", "has no effect without CliqueStartupTypeExplicit")
    CONTAINERS_MISSING = RuleSentence(
        "WL-185", "should have at least one container: the API server refuses a pod without"
    )
    IMAGE_MISSING = RuleSentence("WL-252", "should be an image: the API server refuses a pod without")
    LIMIT_NOT_AS_REQUEST = RuleSentence(
        "WL-253",
        "should be the same under limits, with {limit} there: the API server refuses a pod whose request of devices or "
        "huge pages is not its limit",
    )
    REQUEST_ABOVE_LIMIT = RuleSentence(
        "WL-254", "should be at most the limit of {limit}: the API server refuses a pod that requests more"
    )
    AUTOSCALER_BELOW_MIN_AVAILABLE = RuleSentence(
        "WL-250",
        "should be at least {needed}, the minAvailable of {target}: scaled below it, its missing pods count as lost, "
        "and its whole replica is terminated after the delay",
    )
    GROUP_AUTOSCALER_BELOW_MIN_AVAILABLE = RuleSentence(
        "WL-251", "should be at least {needed}, the minAvailable of {target}: its gang needs that many replicas"
    )
    FEWER_START_TOGETHER = RuleSentence(
        "WL-186",
        "only {started} of {pods} pods of a replica of {group} are sure to start together; should be {replicas} unless "
        "the replica can work with fewer",
    )
    REPLICAS_UNUSED = RuleSentence(
        "WL-184", "was {before}; it only applies to new objects, existing ones are scaled by their own replicas"
    )
