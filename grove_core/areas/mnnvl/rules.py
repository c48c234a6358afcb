"""Rules of MNNVL by the operator: one member for each decision or admission rule of specs/mnnvl.md."""

from enum import unique

from grove_core.kernel.reasons import Rule, RuleSentence


@unique
class MnnvlReason(Rule):
    """Why a replica has a ComputeDomain, waits for one, or runs without one."""

    MNNVL_OFF = RuleSentence("MN-001", "{setting} in the operator's configuration")
    OPTED_OUT = RuleSentence("MN-002", "the set opts out: {annotation} is {value}")
    NO_GPUS_ASKED = RuleSentence("MN-003", "none of its cliques asks for {resource}")
    DOMAIN_OF_REPLICA = RuleSentence("MN-004", "it joins the GPUs of replica {replica} across nodes")
    GPUS_ASKED = RuleSentence(
        "MN-008", "MNNVL is on, the set does not opt out, and these cliques ask for GPUs: {cliques}"
    )

    WAITS_FOR_DOMAIN = RuleSentence("MN-010", "it is created once ComputeDomain {domain} exists or is refused")
    RUNS_WITHOUT_DOMAIN = RuleSentence(
        "MN-011", "ComputeDomain {domain} cannot be created, and the replica runs without it: {error}"
    )
    CREATION_FAILED = RuleSentence("MN-012", "the ComputeDomains of replicas {replicas} could not be created")
    CREATION_FAILED_NO_MORE = RuleSentence("MN-013", "no ComputeDomain fails any more")
    TRIED_AGAIN = RuleSentence(
        "MN-014", "its creation failed before and is retried; parts that run without it stay as they are"
    )
    DOMAINS_NOT_COLLECTED = RuleSentence(
        "MN-016", "ComputeDomains were not collected: whether {domain} exists is unknown"
    )
    SIBLINGS_NOT_COLLECTED = RuleSentence(
        "MN-017", "{kinds} objects were not collected: whether replica {replica} runs without one is unknown"
    )

    DOMAIN_EXISTS = RuleSentence("MN-020", "ComputeDomain {domain} exists")
    REPLICA_RUNS_WITHOUT = RuleSentence("MN-024", "replica {replica} has run without a ComputeDomain from the start")

    NAME_IS_TAKEN = RuleSentence("MN-040", "ComputeDomain {domain} belongs to {holder}")
    EARLIER_DOMAIN = RuleSentence(
        "MN-041", "an earlier ComputeDomain {domain} is being deleted, and is awaited until {until}"
    )
    MADE_AGAIN = RuleSentence("MN-043", "pods of replica {replica} need it, and it is gone")

    SURPLUS_DOMAIN = RuleSentence("MN-050", "replica {replica} is beyond the {replicas} that the set wants")
    DOMAIN_IN_USE = RuleSentence("MN-051", "pods of replica {replica} still hold channels of it: {pods}")
    USERS_NOT_COLLECTED = RuleSentence(
        "MN-054", "{kinds} objects were not collected: whether pods of replica {replica} hold channels of it is unknown"
    )
    MISSED_WHILE_OFF = RuleSentence(
        "MN-060", "pods of replica {replica} need it, and {setting} in the operator's configuration"
    )


@unique
class MnnvlDenial(Rule):
    """Why a set is refused."""

    MNNVL_VALUE_INVALID = RuleSentence("MN-070", 'must be "true" or "false"')
    MNNVL_IMMUTABLE = RuleSentence("MN-071", "must not change; was {before}")
    ANNOTATION_RESERVED = RuleSentence("MN-072", "must not have the annotation {key}: Grove writes it")
    CLAIM_NAME_RESERVED = RuleSentence("MN-073", "must not be {name}: Grove gives pods a claim of that name")


@unique
class PreflightFailureReason(Rule):
    """Why the operator does not start."""

    NO_NVIDIA = RuleSentence(
        "MN-061", "mnnvl is enabled and the server has no {kind}s: install NVIDIA's DRA driver, or turn mnnvl off"
    )


@unique
class MnnvlWarning(Rule):
    """Warnings on what is probably a mistake."""

    ANNOTATION_IGNORED = RuleSentence("MN-074", "has no effect: {why}")
    NO_GPUS = RuleSentence("MN-075", "has no effect: no clique asks for {resource}")
    SHARED_NODE = RuleSentence(
        "MN-076",
        "two of its pods may share a node, and a ComputeDomain has one channel for each node; "
        "a required podAntiAffinity on {topology} keeps them apart",
    )
    OTHER_GPUS = RuleSentence("MN-077", "asks for GPUs by {how}, which does not count: only {resource} does")
