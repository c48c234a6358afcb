"""Every naming rule and its inverse (source: the Go operator's names), and the API server's syntax of names."""

import hashlib
import re
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

_INDEX: Final = re.compile(r"0|[1-9][0-9]{0,9}")
_MOST_LISTED: Final = 20
_LONGEST_MANAGER: Final = 128
_DAEMON_HOST: Final = "compute-domain-daemon-"
LONGEST_LABEL: Final = 63
LONGEST_SUBDOMAIN: Final = 253
MOST_ANNOTATION_BYTES: Final = 256 * 1024
_DNS: Final = re.compile(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?")
_WORD: Final = re.compile(r"[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?")
_VARIABLE: Final = re.compile(r"[-._a-zA-Z][-._a-zA-Z0-9]*")


def standalone_clique_name(set_name: str, replica_index: int, clique: str) -> str:
    """The PodClique of a clique that no scaling group names: ``llama-0-router``."""
    return f"{set_name}-{replica_index}-{clique}"


def scaling_group_name(set_name: str, replica_index: int, group: str) -> str:
    """The PodCliqueScalingGroup of one replica of the set: ``llama-0-decode``."""
    return f"{set_name}-{replica_index}-{group}"


def member_clique_name(group_name: str, replica_index: int, clique: str) -> str:
    """The PodClique of one replica of a scaling group: ``llama-0-decode-1-worker``."""
    return f"{group_name}-{replica_index}-{clique}"


def scaled_gang_name(group_name: str, beyond: int) -> str:
    """The PodGang of a group replica above ``minAvailable``, counted from there: ``llama-0-decode-0``."""
    return f"{group_name}-{beyond}"


class GroupReplicaKey(NamedTuple):
    """A replica of a scaling group: the full name of the group, and the index of its replica."""

    group: str
    replica: int

    @property
    def name(self) -> str:
        """The name of the replica: ``llama-0-decode-1``."""
        return f"{self.group}-{self.replica}"


def composite_pod_group_names(gang: str, replica: GroupReplicaKey | None, *, is_scaled: bool) -> tuple[str, ...]:
    """Return the names of the CompositePodGroups that a PodClique is below, the root first (SC-011, SC-012).

    Args:
        gang: name of its PodGang.
        replica: of its scaling group; None for a standalone PodClique.
        is_scaled: whether the replica is a gang of its own.
    """
    if replica is None:
        return (gang,)
    return (replica.name,) if is_scaled else (gang, replica.name)


def compute_domain_name(set_name: str, replica_index: int) -> str:
    """The ComputeDomain of one replica of a set: ``llama-cd-0``."""
    return f"{set_name}-cd-{replica_index}"


def domain_claim_template_name(set_name: str, replica_index: int) -> str:
    """The ResourceClaimTemplate that the driver makes for a replica's ComputeDomain: ``llama-rct-0``."""
    return f"{set_name}-rct-{replica_index}"


def set_name_of_compute_domain(name: str) -> str:
    """The set that a ComputeDomain is named after; empty where none is."""
    owner, dash, digits = name.rpartition("-cd-")
    return owner if dash and parse_replica_index(digits) is not None else ""


def replica_index_of_compute_domain(set_name: str, name: str) -> int | None:
    """The replica of a set that a ComputeDomain is named after; None where it is not named so."""
    rest = name.removeprefix(f"{set_name}-cd-")
    return parse_replica_index(rest) if rest != name else None


def pod_hostname(clique_name: str, pod_index: int) -> str:
    """The host name of a pod of a PodClique: ``llama-0-router-2``."""
    return f"{clique_name}-{pod_index}"


def shared_claim_name(owner: str, index: int | None, template: str) -> str:
    """A shared ResourceClaim: one for all (``llama-all-cache``), or one for a replica or pod (``llama-0-cache``)."""
    return f"{owner}-{'all' if index is None else index}-{template}"


def rbac_role_label(set_name: str) -> str:
    """How the labels of a set's Role name it, ``grove.io:pcs:llama``: a label has no colons."""
    return rbac_role_name(set_name).replace(":", "-")


def all_of_pods_text(count: int) -> str:
    """All of some pods, for a sentence."""
    return "the pod" if count == 1 else f"all {count} pods"


def pod_count_text(count: int) -> str:
    """So many, for a sentence."""
    return "1 pod" if count == 1 else f"{count} pods"


def name_list_text(names: Iterable[str]) -> str:
    """Names in order, for a sentence: the first twenty, and how many more there are."""
    ordered = sorted(names)
    more = f" and {len(ordered) - _MOST_LISTED} more" if len(ordered) > _MOST_LISTED else ""
    return (", ".join(ordered[:_MOST_LISTED]) or "none") + more


def replica_index_in_name(owner: str, name: str) -> int | None:
    """The replica index that follows the owner's name in ``name``; None where there is none.

    The inverse of the names of cliques and groups, where a label is missing:
    ``replica_index_in_name("llama-0-decode", "llama-0-decode-1-dw")`` is 1.
    """
    rest = name.removeprefix(f"{owner}-")
    digits, dash, _ = rest.partition("-")
    return parse_replica_index(digits) if rest != name and dash else None


def parse_replica_index(text: str) -> int | None:
    """Return a replica index in decimal digits without leading zeros; None for any other text."""
    return int(text) if _INDEX.fullmatch(text) else None


def set_replica_name(set_name: str, replica_index: int) -> str:
    """The name of one replica's base gang, headless Service and pod subdomain: ``llama-0``."""
    return f"{set_name}-{replica_index}"


def rbac_role_name(set_name: str) -> str:
    """The Role, and its RoleBinding, with which the pods of a set watch each other."""
    return f"grove.io:pcs:{set_name}"


def service_account_token_name(set_name: str) -> str:
    """The Secret with the token of a set's ServiceAccount."""
    return f"{set_name}-ic-sat"


def pod_name(clique: str, suffix: str) -> str:
    """A pod of a clique."""
    return f"{clique}-{suffix}"


def clique_name_of_pod(pod: str) -> str:
    """The clique of a pod, by the name of the pod."""
    return pod.rpartition("-")[0]


def compute_domain_clique_name(domain_uid: str, clique: str) -> str:
    """The ComputeDomainClique of one clique of a domain (DC-003)."""
    return f"{domain_uid}.{clique}"


def nvlink_clique_in_name(domain_uid: str, name: str) -> str:
    """Return the clique in the name of a ComputeDomainClique; empty where the name is not of that domain."""
    rest = name.removeprefix(f"{domain_uid}.")
    return rest if rest != name else ""


def daemon_field_manager(prefix: str, node: str) -> str:
    """The field manager of a node's writer: ``cd-writer-node-a``; a digest where the name is too long (DC-003)."""
    name = f"{prefix}-{node}"
    return name if len(name) <= _LONGEST_MANAGER else f"{prefix}-{hashlib.sha256(node.encode()).hexdigest()}"


def daemon_hostname(index: int) -> str:
    """The host name of the daemon with an index: ``compute-domain-daemon-0007`` (DC-003)."""
    return f"{_DAEMON_HOST}{index:04d}"


def is_dns_label(text: str) -> bool:
    """Return whether a text is one part of a host name (RFC 1123): ``router-1``."""
    return len(text) <= LONGEST_LABEL and _DNS.fullmatch(text) is not None


def is_dns_subdomain(text: str) -> bool:
    """Labels joined by dots (RFC 1123), at most 253 characters: the name of most objects."""
    return len(text) <= LONGEST_SUBDOMAIN and all(_DNS.fullmatch(part) for part in text.split("."))


def is_label_key(text: str) -> bool:
    """A qualified name: at most 63 characters, and perhaps a DNS subdomain and a slash before them."""
    prefix, slash, name = text.rpartition("/")
    return (not slash or is_dns_subdomain(prefix)) and bool(name) and is_label_value(name)


def is_annotation_key(text: str) -> bool:
    """Return whether a text is a qualified name, whose prefix may have capitals."""
    return is_label_key(text.lower())


def is_label_value(text: str) -> bool:
    """Nothing, or at most 63 letters, digits, ``-``, ``_`` and ``.``, the first and last a letter or digit."""
    return not text or (len(text) <= LONGEST_LABEL and _WORD.fullmatch(text) is not None)


def is_environment_variable_name(text: str) -> bool:
    """The name of an environment variable: no digit first, and no path."""
    return _VARIABLE.fullmatch(text) is not None and text != "." and not text.startswith("..")


def total_annotation_bytes(annotations: Mapping[str, object]) -> int:
    """The size of all keys and values together, as the API server counts it."""
    return sum(len(str(text).encode(errors="surrogatepass")) for pair in annotations.items() for text in pair)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a suggestion for an unknown name, as the end of a sentence; empty where no known name is similar.

    The cost is the length of the name times the total length of the known names.
    """
    names = list(known)
    found = most_similar_name(name, names)
    return f", did you mean {found if len(names) > 1 else 'that'}?" if found else ""


def most_similar_name(name: str, known: Iterable[str]) -> str:
    """Return the known name with the fewest different letters; empty where all differ by more than a typing error."""
    distance, found = min(((_distance(name, other), other) for other in known), default=(0, ""))
    return found if distance <= max(1, len(name) // 4) else ""


def _distance(one: str, other: str) -> int:
    """Return how many letters have to be added, removed or replaced."""
    row = list(range(len(other) + 1))
    for place, letter in enumerate(one, 1):
        before, row[0] = row[0], place
        for index, there in enumerate(other, 1):
            before, row[index] = row[index], min(row[index] + 1, row[index - 1] + 1, before + (letter != there))
    return row[-1]
