"""Rules of MNNVL by annotation: one member for each decision or admission rule of specs/mnnvl_scopes.md."""

from enum import unique

from grove_core.kernel.reasons import Rule, RuleSentence


@unique
class SharedDomainReason(Rule):
    """Why a PodClique shares a ComputeDomain or not, and why domains and claims are created, kept or deleted."""

    SCOPES_OFF = RuleSentence("MS-001", "MNNVL by annotation is off in the operator's configuration")
    NOT_OPTED_IN = RuleSentence("MS-002", "it does not opt in: {annotation} is {value}")
    ANNOTATION_INVALID = RuleSentence("MS-003", "it is admitted unchanged: {annotation} {trouble}, got {got}")
    OPTED_IN = RuleSentence("MS-004", "it opts in with scope {scope}, and shares ComputeDomain {domain} of {user}")
    NOT_READ = RuleSentence("MS-005", "it is left to validation, since it cannot be parsed: {problem}")
    CLIQUES_OPT_IN = RuleSentence("MS-006", "of its cliques these share ComputeDomains by annotation: {cliques}")

    CLAIM_NAME_TAKEN = RuleSentence(
        "MS-008", "its pod spec has a claim {name} of its own, which the claim to its ComputeDomain would replace"
    )

    DOMAIN_SHARED = RuleSentence("MS-030", "the PodCliques of {user} share it")
    CLAIM_SHARED = RuleSentence("MS-031", "pods of {user} use ComputeDomain {domain} by it")
    EARLIER_OBJECT_BEING_DELETED = RuleSentence("MS-035", "an earlier {kind} {name} is being deleted")
    NAME_SERVES_ANOTHER = RuleSentence("MS-036", "{kind} {name} serves {holder}, and is needed for {user}")
    NOT_ENSURED = RuleSentence("MS-037", "{kind} {name}, which it needs, cannot be created: {error}")
    SET_UNKNOWN = RuleSentence("MS-038", "PodCliqueSet {name}, which is to own what it needs, is not known yet")

    BELONGS = RuleSentence("MS-040", "it belongs to {owner}")
    HANDED_OVER = RuleSentence("MS-041", "the PodGang of its users exists, and takes it over from {owner}")
    OWNER_IS_GONE = RuleSentence("MS-043", "its owner is gone, and {user} uses it: {owner} takes it over")

    GANG_ANNOTATED = RuleSentence(
        "MS-044", "it gets the annotation {annotation}: it takes over what its pods share once it has a uid"
    )

    USER_IS_GONE = RuleSentence("MS-050", "{user} is gone")
    STILL_SHARED = RuleSentence("MS-051", "{user} is gone; PodCliques that still hold the claim: {cliques}")
    ENSURED_AGAIN = RuleSentence("MS-052", "{user} needs it, and it is gone")
    PODS_OUTLIVE = RuleSentence("MS-054", "{user} is gone; pods of its replica that outlive their PodCliques: {pods}")
    USERS_NOT_COLLECTED = RuleSentence(
        "MS-055", "{user} is gone; {kinds} objects were not collected: whether any of them uses it is unknown"
    )
    SHARED_NOT_COLLECTED = RuleSentence("MS-056", "{kind}s were not collected: whether {name} exists is unknown")
    IN_THE_DOMAIN_OF_ITS_REPLICA = RuleSentence(
        "MS-007", "its annotation {annotation} puts it into the domain of its replica, and one domain is enough"
    )
    SWITCHED_OFF = RuleSentence("MS-060", "{user} uses it, and MNNVL by annotation is off: it stays as it is")
    CREATED_WITHOUT_CLAIM = RuleSentence(
        "MS-061", "it was created while MNNVL by annotation was off, and stays without a claim"
    )


@unique
class SharedDomainDenial(Rule):
    """Why a set or a PodClique is refused."""

    ADMISSION_MUST_WAIT = RuleSentence("MS-039", "must wait: {why}")
    SCOPED_VALUE_INVALID = RuleSentence("MS-070", 'must be "true" or "false"')
    MNNVL_SCOPE_UNKNOWN = RuleSentence("MS-071", "must be one of {known}")
    MNNVL_SCOPE_MISPLACED = RuleSentence("MS-072", "must be one of {allowed} {place}")
    DEVICE_CLASS_EMPTY = RuleSentence("MS-073", "must name a device class, or be absent")
    DEVICE_CLASS_INVALID = RuleSentence(
        "MS-086", "must be a name that a DeviceClass can have, a DNS subdomain such as compute-domain.nvidia.com"
    )
    SHARED_CLAIM_RESERVED = RuleSentence("MS-074", "must not be {name}: the claim to its ComputeDomain has that name")
    SCOPES_IMMUTABLE = RuleSentence("MS-075", "must not change; was {before}")
    SHARED_NAME_TOO_LONG = RuleSentence("MS-076", "must be shorter by {excess}: {made} may have {most} characters")
    SHARED_NAME_TWICE = RuleSentence("MS-077", "must not give ComputeDomain {made} a second user: {other} has it")
    CLAIM_NAME_RESERVED = RuleSentence(
        "MS-078", "must not be or end in {name}: claims to shared ComputeDomains have such names"
    )


@unique
class SharedDomainWarning(Rule):
    """Warnings on what is probably a mistake."""

    CLIQUE_ANNOTATION_INVALID = RuleSentence("MS-079", "{trouble}: the PodClique joins no ComputeDomain")
    OUT_OF_REACH = RuleSentence(
        "MS-080", "asks for GPUs, and the set's {annotation} does not reach members of group {group}"
    )
    NO_GPUS_IN_SCOPE = RuleSentence("MS-081", "has no effect: {whom} asks for {resource}")
    TOO_MANY_SHARE = RuleSentence(
        "MS-082", "{pods} pods share one ResourceClaim, and an API server lets {most} reserve it"
    )
    NODE_LOCAL = RuleSentence(
        "MS-083", "devices of this class belong to one node: all {pods} pods that share one are placed there"
    )
    CLASS_UNKNOWN = RuleSentence("MS-084", "names a DeviceClass that is not in the input")
    CLASSES_DIFFER = RuleSentence(
        "MS-085", "shares one claim with others that ask for {other}: the PodClique that is admitted first decides"
    )
