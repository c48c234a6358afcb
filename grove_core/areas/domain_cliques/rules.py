"""The reasons of domain cliques: one member for each decision rule of specs/domain_cliques.md."""

from enum import unique

from grove_core.kernel.reasons import Rule, RuleSentence


@unique
class ComputeDomainReason(Rule):
    """Reasons of the decisions of daemons and of the domain controller."""

    OTHER_DOMAIN = RuleSentence("DC-006", "this is not the domain it was started for: its uid is {found}, not {wanted}")
    NOTHING_SEEN = RuleSentence("DC-012", "it has not observed {register} yet")
    DOMAIN_MISSING = RuleSentence("DC-013", "there is no {register}")

    INDEX_CHOSEN = RuleSentence("DC-020", "it has no index yet; {index} is the smallest free one")
    CLIQUE_FULL = RuleSentence(
        "DC-021", "all {limit} indices of the clique are taken; it waits without a fabric daemon until one is free"
    )
    PREDECESSOR_REPLACED = RuleSentence(
        "DC-022", "its node was registered with {ip}; it takes that entry over with index {index}"
    )
    INDEX_UNCONFIRMED = RuleSentence(
        "DC-023", "no response to its own write has shown yet that index {index} is its alone"
    )
    INDEX_CONTESTED = RuleSentence(
        "DC-024", "it has not settled and {rival} has its index {before} too, so it moves to {index}"
    )
    RIVAL_AWAITED = RuleSentence(
        "DC-025", "it settled on index {index}, which {rival} has too; it waits for {rival} to move"
    )
    STALEMATE_ENDED = RuleSentence(
        "DC-026",
        "{rival} has its index {before} too, since {since}, and has not moved; the last node by name moves, to {index}",
    )
    INDEX_KEPT = RuleSentence(
        "DC-027", "its entry was removed or changed; index {index}, with which its fabric daemon runs, is free"
    )
    INDEX_LOST = RuleSentence(
        "DC-028",
        "its entry was removed or changed and another node has its index {before}; {index} is the smallest free one",
    )

    WITHDRAWN = RuleSentence(
        "DC-029", "{rival} has index {before} too, and all {limit} are taken; it removes the entry of its node"
    )

    OWNED_BY_ANOTHER = RuleSentence(
        "DC-032", "another manager owns fields of its entry, so it applies it once with force"
    )
    BACKING_OFF = RuleSentence("DC-034", "no request before {until}; last failure: {failure}")
    SERVER_BUSY = RuleSentence("DC-035", "the server throttles it until {until}")
    REFERENCE_MISSING = RuleSentence("DC-036", "its pod is not an owner of the clique")
    READINESS_CHANGED = RuleSentence("DC-037", "its entry is {before}, and its fabric daemon is {after}")
    CONVERGED = RuleSentence("DC-038", "its entry and the peer map are up to date: index {index}, {peers} in the map")

    FIRST_MAP = RuleSentence("DC-040", "it settled on index {index} and no index is a duplicate; {peers} in the map")
    MAP_CHANGED = RuleSentence("DC-041", "the peer map has changed; {peers} in it")
    INDEX_CHANGED = RuleSentence(
        "DC-042", "the fabric daemon runs with index {before}, and it is registered with {index}"
    )
    DUPLICATE_VISIBLE = RuleSentence(
        "DC-043", "index {index} is a duplicate, also of {nodes}; no push until that is resolved"
    )

    CLIQUE_UNLABELLED = RuleSentence("DC-050", "its pod has no label with clique {clique} yet")
    OTHER_ADDRESS_ON_NODE = RuleSentence(
        "DC-051", "its node is registered with {ip}, not with its own address; it looks for the pod with {ip}"
    )
    SUPERSEDED = RuleSentence("DC-052", "pod {pod} on the same node is newer, so it stands by until {until}")
    LEAVING = RuleSentence("DC-053", "it stops, and removes its entry")
    NOTHING_LEFT = RuleSentence("DC-054", "it stops, and no entry has its address {ip}")
    ENTRY_REMAINS = RuleSentence(
        "DC-056", "another manager owns its entry too, so an apply did not remove it; it replaces the object without it"
    )
    OUT_OF_TIME = RuleSentence(
        "DC-057", "its deadline {until} passed before its entry was removed; the controller will remove it"
    )

    NO_FABRIC = RuleSentence("DC-060", "its node has no fabric, so it does not register")
    OTHER_SOURCE_UNREAD = RuleSentence("DC-065", "daemons of its clique may be registered in {register} too")

    LEFT_BEHIND = RuleSentence(
        "DC-067", "{register} has an entry of its node with its own address, which no other daemon removes"
    )
    CONTESTED_ELSEWHERE = RuleSentence(
        "DC-068",
        "{rival} has its index {before} in the object of the opposite feature gate, and its fabric daemon has not "
        "started: it moves to {index}",
    )

    ENTRY_STALE = RuleSentence("DC-070", "no pod of this domain and clique {clique} is on {node}")
    POD_ON_NODE = RuleSentence("DC-071", "pod {pod} is on {node}, so the entry stays until that pod takes it over")
    PODS_NOT_AS_NEW = RuleSentence(
        "DC-072", "the pods are of version {pods}, older than the entries of version {entries}"
    )
    ENTRY_MOVED = RuleSentence("DC-074", "the pod on {node} is registered in {register} now")
    PODS_UNREAD = RuleSentence("DC-076", "pods that may belong to the domain cannot be parsed: {pods}")
    CLIQUE_READY = RuleSentence("DC-080", "all of its {daemons} daemons are ready")
    CLIQUE_NOT_READY = RuleSentence("DC-081", "{ready} of its {daemons} daemons are ready")
    RECORD_STALE = RuleSentence("DC-082", "there are records without a clique object of the domain: {cliques}")
    DOMAIN_READY = RuleSentence(
        "DC-083", "{entries} daemons are registered, at least {needed} are needed, and all are ready"
    )
    DOMAIN_NOT_READY = RuleSentence(
        "DC-084", "{entries} daemons are registered, at least {needed} are needed; {ready} are ready"
    )
    DOMAIN_BEING_DELETED = RuleSentence("DC-087", "the domain is being deleted, so nothing of it is written")
    CLIQUES_UNREAD = RuleSentence("DC-089", "cliques that may belong to the domain cannot be parsed: {cliques}")
