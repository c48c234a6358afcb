"""Rules of MNNVL by the Go operator: one member for each decision or admission rule of specs/mnnvl_field.md."""

from enum import unique

from grove_core.kernel.reasons import Rule, RuleSentence


@unique
class GoOperatorMnnvlReason(Rule):
    """Why a set has ComputeDomains by the Go operator's rules, and what becomes of each."""

    AUTO_MNNVL_OFF = RuleSentence("NF-001", "network.autoMNNVLEnabled is off in the operator's configuration")
    GROUPS_WITH_GPUS = RuleSentence("NF-002", "cliques that ask for GPUs are in these MNNVL groups: {groups}")
    NO_GROUP_WITH_GPUS = RuleSentence("NF-003", "no clique that asks for {resource} is in an MNNVL group")
    AUTO_MNNVL_ASSUMED = RuleSentence(
        "NF-004", "no configuration of the operator is given: network.autoMNNVLEnabled is taken as on"
    )
    DOMAIN_OF_GROUP = RuleSentence("NF-010", "it joins the GPUs of group {group} in replica {replica} across nodes")
    DOMAIN_CREATION_FAILS = RuleSentence(
        "NF-011",
        "the Go operator creates no PodClique of the set while ComputeDomain {domain} cannot be created: {error}",
    )
    DOMAIN_NAME_TAKEN = RuleSentence("NF-012", "ComputeDomain {domain} belongs to {holder}")
    DOMAIN_NAME_TOO_LONG = RuleSentence(
        "NF-013", "its name has {length} characters, and its label {label} may have {most}: the API server refuses it"
    )
    DOMAIN_TAKEN_OVER = RuleSentence(
        "NF-014", "ComputeDomain {domain} exists without the operator's labels or owner; the Go operator takes it over"
    )
    GROUP_DOMAINS_NOT_COLLECTED = RuleSentence(
        "NF-016", "ComputeDomains were not collected: whether {domain} exists is unknown"
    )
    GROUP_DOMAIN_EXISTS = RuleSentence("NF-020", "ComputeDomain {domain} exists, and nothing in it is changed")
    DELETION_IS_HELD = RuleSentence(
        "NF-021",
        "ComputeDomain {domain} is being deleted, and the Go operator keeps {finalizer} on it as long as it is needed: "
        "remove that finalizer by hand, and it is created again",
    )
    SURPLUS_GROUP_DOMAIN = RuleSentence(
        "NF-030", "the set needs it no more; the Go operator does not wait for pods that still claim its channels"
    )
    DOMAIN_GOES_WITH_SET = RuleSentence("NF-031", "it goes with the set, and loses {finalizer} for that")
    DOMAIN_LEFT_BEHIND = RuleSentence(
        "NF-032",
        "the Go operator deletes surplus ComputeDomains only while the set needs another one: "
        "this one stays until the set is deleted",
    )
    FINALIZER_LEFT_BEHIND = RuleSentence(
        "NF-033",
        "with network.autoMNNVLEnabled off the Go operator does not remove {finalizer} when the set is deleted: "
        "ComputeDomain {domain} stays until that is removed by hand",
    )
    CLAIMS_WITHOUT_DOMAIN = RuleSentence(
        "NF-040",
        "pods of replica {replica} claim ResourceClaimTemplate {domain}, which nothing creates while "
        "network.autoMNNVLEnabled is off: they stay pending",
    )


@unique
class GoOperatorMnnvlDenial(Rule):
    """Why the Go operator refuses a set."""

    GROUP_INVALID = RuleSentence("NF-070", 'must be "none" or a DNS label')
    GROUP_WHILE_OFF = RuleSentence(
        "NF-071", 'must be "none" or absent while network.autoMNNVLEnabled is off in the operator\'s configuration'
    )
    GROUP_IMMUTABLE = RuleSentence("NF-072", "must not change; was {before}")


@unique
class GoOperatorMnnvlWarning(Rule):
    """Warnings on what the Go operator admits and what is probably a mistake."""

    ANNOTATION_NOT_READ = RuleSentence("NF-074", "has no effect: the Go operator reads {key} alone")
    GROUP_WITHOUT_GPUS = RuleSentence("NF-075", "has no effect: no clique to which it applies asks for {resource}")
    OWN_CLAIM = RuleSentence("NF-076", "the Go operator keeps this claim, so the pods do not join group {group}")
    ON_BY_ASSUMPTION = RuleSentence(
        "NF-078", "no configuration of the operator is given: it is refused if network.autoMNNVLEnabled is off"
    )
    GROUP_NAME_TOO_LONG = RuleSentence(
        "NF-077", "ComputeDomain {domain} has more than {most} characters, so no PodClique of the set would be created"
    )
