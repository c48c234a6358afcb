"""The clauses of domain cliques: one member for each decision rule of specs/domain_cliques.md."""

from enum import unique

from grove_core.kernel.reasons import Clause, Rule


@unique
class Why(Rule):
    """Reasons of the decisions of daemons and of the domain controller."""

    OTHER_DOMAIN = Clause("DC-006", "this is not the domain it was started for: its uid is {found}, not {wanted}")
    NOTHING_SEEN = Clause("DC-012", "it has not seen {register} yet")
    DOMAIN_MISSING = Clause("DC-013", "there is no {register}")

    INDEX_CHOSEN = Clause("DC-020", "it has no index yet; {index} is the smallest that nobody has")
    CLIQUE_FULL = Clause(
        "DC-021", "all {limit} indices of the clique are taken; it enters when one is free, and runs nothing till then"
    )
    PREDECESSOR_REPLACED = Clause(
        "DC-022", "its node was registered with {ip}; it takes that entry over, index {index}"
    )
    INDEX_UNCONFIRMED = Clause("DC-023", "no answer of its own has shown yet that nobody else has index {index}")
    INDEX_CONTESTED = Clause(
        "DC-024", "it has not settled and {rival} has its index {before} too, so it moves to {index}"
    )
    RIVAL_AWAITED = Clause("DC-025", "it settled on index {index}, which {rival} has too; the rival moves")
    STALEMATE_ENDED = Clause(
        "DC-026",
        "{rival} has its index {before} too, since {since}, and does not move; the last by name does, to {index}",
    )
    INDEX_KEPT = Clause(
        "DC-027", "its entry is gone or altered; index {index}, with which its fabric daemon runs, is free"
    )
    INDEX_LOST = Clause(
        "DC-028",
        "its entry is gone or altered and its index {before} is another's now; {index} is the smallest free one",
    )

    WITHDRAWN = Clause(
        "DC-029", "{rival} has index {before} too, and all {limit} are taken; it takes the entry of its node away"
    )

    OWNED_BY_ANOTHER = Clause("DC-032", "another manager owns fields of its entry, so it applies it once with force")
    BACKING_OFF = Clause("DC-034", "no request before {until}; last failure: {failure}")
    SERVER_BUSY = Clause("DC-035", "the server asked for patience until {until}")
    REFERENCE_MISSING = Clause("DC-036", "its pod is not among the owners of the clique")
    READINESS_CHANGED = Clause("DC-037", "its entry says {before}, and it is {after}")
    CONVERGED = Clause("DC-038", "its entry and the peer map are as they should be: index {index}, {peers} in the map")

    FIRST_MAP = Clause("DC-040", "it settled on index {index} and nobody shares one; {peers} in the map")
    MAP_CHANGED = Clause("DC-041", "the peer map has changed; {peers} in it")
    INDEX_CHANGED = Clause("DC-042", "the fabric daemon runs with index {before}, and it is registered with {index}")
    DUPLICATE_VISIBLE = Clause("DC-043", "index {index} is that of {nodes}; nothing is pushed meanwhile")

    CLIQUE_UNLABELLED = Clause("DC-050", "its pod does not say yet that it is of clique {clique}")
    STRANGER_SEEN = Clause("DC-051", "its node is registered with {ip}, which is not its own; whose pod is it?")
    SUPERSEDED = Clause("DC-052", "pod {pod} on the same node is newer, so it stops; it looks again at {until}")
    LEAVING = Clause("DC-053", "it stops, and takes its entry away")
    NOTHING_LEFT = Clause("DC-054", "it stops, and no entry has its address {ip}")
    ENTRY_REMAINS = Clause(
        "DC-056", "its entry is owned by another manager too and was not removed; it is written away"
    )
    OUT_OF_TIME = Clause("DC-057", "it had until {until} to take its entry away; the controller will")

    NO_FABRIC = Clause("DC-060", "its node has no fabric, so it registers nowhere")
    OTHER_SOURCE_UNREAD = Clause("DC-065", "daemons of its clique may be registered in {register}, too")

    LEFT_BEHIND = Clause("DC-067", "{register} has an entry of its node with its own address, which nobody looks after")
    CONTESTED_ELSEWHERE = Clause(
        "DC-068",
        "{rival} has its index {before} in the object of the other gate, and its fabric daemon has not started: "
        "it moves to {index}",
    )

    ENTRY_STALE = Clause("DC-070", "no pod of this domain and clique {clique} is on {node}")
    POD_ON_NODE = Clause("DC-071", "pod {pod} is on {node}, so the entry stays until it is taken over")
    PODS_NOT_AS_NEW = Clause(
        "DC-072", "the pods were looked at at version {pods}, before the entries of version {entries}"
    )
    ENTRY_MOVED = Clause("DC-074", "the pod on {node} is registered in {register} now")
    PODS_UNREAD = Clause("DC-076", "pods that may be of the domain cannot be read: {pods}")
    CLIQUE_READY = Clause("DC-080", "all of its {daemons} daemons are ready")
    CLIQUE_NOT_READY = Clause("DC-081", "{ready} of its {daemons} daemons are ready")
    RECORD_STALE = Clause("DC-082", "there is a record, and no object of the domain, for {cliques}")
    DOMAIN_READY = Clause("DC-083", "{entries} daemons are registered, at least {needed} needed, and all are ready")
    DOMAIN_NOT_READY = Clause("DC-084", "{entries} daemons are registered, at least {needed} needed; {ready} are ready")
    DOMAIN_BEING_DELETED = Clause("DC-087", "the domain is being deleted; nothing of it is written any more")
    CLIQUES_UNREAD = Clause("DC-089", "cliques that may be of the domain cannot be read: {cliques}")
