"""The clauses of domain cliques: one member for each decision rule of specs/domain_cliques.md."""

from enum import unique

from grove_core.kernel.reasons import Clause, Rule


@unique
class DomainReason(Rule):
    """Reasons of the decisions of daemons and of the domain controller."""

    OTHER_DOMAIN = Clause("DC-006", "this is not the domain it was started for: its uid is {found}, not {wanted}")
    NOTHING_SEEN = Clause("DC-012", "it has not observed {register} yet")
    DOMAIN_MISSING = Clause("DC-013", "there is no {register}")

    INDEX_CHOSEN = Clause("DC-020", "it has no index yet; {index} is the smallest free one")
    CLIQUE_FULL = Clause(
        "DC-021", "all {limit} indices of the clique are taken; it waits without a fabric daemon until one is free"
    )
    PREDECESSOR_REPLACED = Clause(
        "DC-022", "its node was registered with {ip}; it takes that entry over with index {index}"
    )
    INDEX_UNCONFIRMED = Clause("DC-023", "no response to its own write has shown yet that index {index} is its alone")
    INDEX_CONTESTED = Clause(
        "DC-024", "it has not settled and {rival} has its index {before} too, so it moves to {index}"
    )
    RIVAL_AWAITED = Clause("DC-025", "it settled on index {index}, which {rival} has too; it waits for {rival} to move")
    STALEMATE_ENDED = Clause(
        "DC-026",
        "{rival} has its index {before} too, since {since}, and has not moved; the last node by name moves, to {index}",
    )
    INDEX_KEPT = Clause(
        "DC-027", "its entry was removed or changed; index {index}, with which its fabric daemon runs, is free"
    )
    INDEX_LOST = Clause(
        "DC-028",
        "its entry was removed or changed and another node has its index {before}; {index} is the smallest free one",
    )

    WITHDRAWN = Clause(
        "DC-029", "{rival} has index {before} too, and all {limit} are taken; it removes the entry of its node"
    )

    OWNED_BY_ANOTHER = Clause("DC-032", "another manager owns fields of its entry, so it applies it once with force")
    BACKING_OFF = Clause("DC-034", "no request before {until}; last failure: {failure}")
    SERVER_BUSY = Clause("DC-035", "the server throttles it until {until}")
    REFERENCE_MISSING = Clause("DC-036", "its pod is not an owner of the clique")
    READINESS_CHANGED = Clause("DC-037", "its entry is {before}, and its fabric daemon is {after}")
    CONVERGED = Clause("DC-038", "its entry and the peer map are up to date: index {index}, {peers} in the map")

    FIRST_MAP = Clause("DC-040", "it settled on index {index} and no index is a duplicate; {peers} in the map")
    MAP_CHANGED = Clause("DC-041", "the peer map has changed; {peers} in it")
    INDEX_CHANGED = Clause("DC-042", "the fabric daemon runs with index {before}, and it is registered with {index}")
    DUPLICATE_VISIBLE = Clause(
        "DC-043", "index {index} is a duplicate, also of {nodes}; no push until that is resolved"
    )

    CLIQUE_UNLABELLED = Clause("DC-050", "its pod has no label with clique {clique} yet")
    STRANGER_SEEN = Clause(
        "DC-051", "its node is registered with {ip}, not with its own address; it looks for the pod with {ip}"
    )
    SUPERSEDED = Clause("DC-052", "pod {pod} on the same node is newer, so it stands by until {until}")
    LEAVING = Clause("DC-053", "it stops, and removes its entry")
    NOTHING_LEFT = Clause("DC-054", "it stops, and no entry has its address {ip}")
    ENTRY_REMAINS = Clause(
        "DC-056", "another manager owns its entry too, so an apply did not remove it; it replaces the object without it"
    )
    OUT_OF_TIME = Clause(
        "DC-057", "its deadline {until} passed before its entry was removed; the controller will remove it"
    )

    NO_FABRIC = Clause("DC-060", "its node has no fabric, so it does not register")
    OTHER_SOURCE_UNREAD = Clause("DC-065", "daemons of its clique may be registered in {register} too")

    LEFT_BEHIND = Clause(
        "DC-067", "{register} has an entry of its node with its own address, which no other daemon removes"
    )
    CONTESTED_ELSEWHERE = Clause(
        "DC-068",
        "{rival} has its index {before} in the object of the opposite feature gate, and its fabric daemon has not "
        "started: it moves to {index}",
    )

    ENTRY_STALE = Clause("DC-070", "no pod of this domain and clique {clique} is on {node}")
    POD_ON_NODE = Clause("DC-071", "pod {pod} is on {node}, so the entry stays until that pod takes it over")
    PODS_NOT_AS_NEW = Clause("DC-072", "the pods are of version {pods}, older than the entries of version {entries}")
    ENTRY_MOVED = Clause("DC-074", "the pod on {node} is registered in {register} now")
    PODS_UNREAD = Clause("DC-076", "pods that may belong to the domain cannot be parsed: {pods}")
    CLIQUE_READY = Clause("DC-080", "all of its {daemons} daemons are ready")
    CLIQUE_NOT_READY = Clause("DC-081", "{ready} of its {daemons} daemons are ready")
    RECORD_STALE = Clause("DC-082", "there are records without a clique object of the domain: {cliques}")
    DOMAIN_READY = Clause("DC-083", "{entries} daemons are registered, at least {needed} are needed, and all are ready")
    DOMAIN_NOT_READY = Clause(
        "DC-084", "{entries} daemons are registered, at least {needed} are needed; {ready} are ready"
    )
    DOMAIN_BEING_DELETED = Clause("DC-087", "the domain is being deleted, so nothing of it is written")
    CLIQUES_UNREAD = Clause("DC-089", "cliques that may belong to the domain cannot be parsed: {cliques}")
