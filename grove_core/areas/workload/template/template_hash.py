"""The hash of a pod template: what tells pods of one template from those of another (WL-040 to WL-044).

Our own, and a function of what was written alone: no type names, no defaults of a library, no order of keys.
"""

import hashlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from grove_core.kernel.frozen import FrozenMap, Json, canonical
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.template import CliqueTemplate

_ALPHABET: Final = "bcdfghjklmnpqrstvwxz2456789"
_LENGTH: Final = 10

# Lists in which the API merges by a key, so that their order says nothing: the name of the list -> its keys.
_KEYED: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "containers": ("name",),
        "hostAliases": ("ip",),
        "imagePullSecrets": ("name",),
        "ports": ("containerPort", "protocol"),
        "resourceClaims": ("name",),
        "volumeDevices": ("devicePath",),
        "volumeMounts": ("mountPath",),
        "volumes": ("name",),
    }
)


def template_hash(clique: CliqueTemplate, priority_class_name: str) -> str:
    """Ten letters that name the pods a clique's template makes.

    Args:
        clique: its labels, annotations and pod spec count, and nothing else of it (WL-040).
        priority_class_name: the set's; it stands in the place of the pod spec's own where it is not empty.
    """
    return hash_of(clique.labels, clique.annotations, clique.spec.pod_spec, priority_class_name)


def hash_of(labels: FrozenMap, annotations: FrozenMap, pod_spec: FrozenMap, priority_class_name: str) -> str:
    """The same of the parts that count, wherever they stand."""
    spec: dict[str, Any] = dict(pod_spec)
    if priority_class_name:
        spec["priorityClassName"] = priority_class_name
    return short_hash(canonical({"annotations": annotations, "labels": labels, "spec": _settled(FrozenMap(spec), "")}))


def generation_hash(root: PodCliqueSet) -> str:
    """Ten letters that name what all pods of a set are made of."""
    template = root.spec.template
    return generation_of(
        {clique.name: template_hash(clique, template.priority_class_name) for clique in template.cliques}
    )


def generation_of(hashes: Mapping[str, str]) -> str:
    """The same of the hashes of all templates by name; the order of cliques says nothing (WL-044)."""
    return short_hash(canonical(dict(hashes)))


def is_own_hash(text: str) -> bool:
    """Whether a hash has the form of ours; any other is another operator's (WL-043)."""
    return len(text) == _LENGTH and all(letter in _ALPHABET for letter in text)


def short_hash(text: str, length: int = _LENGTH) -> str:
    """The first letters of the SHA-256 of a text, written in 27 letters and digits that form no words (WL-042)."""
    number = int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest(), "big")
    letters = []
    for _ in range(length):
        number, digit = divmod(number, len(_ALPHABET))
        letters.append(_ALPHABET[digit])
    return "".join(letters)


def _settled(value: Json, key: str) -> Any:  # noqa: ANN401 - JSON, to be written and no more
    """The value with every list that the API reads by key in the order of its keys (WL-041)."""
    if isinstance(value, FrozenMap):
        return {name: _settled(inner, name) for name, inner in value.items()}
    if not isinstance(value, tuple):
        return value
    items = [_settled(item, "") for item in value]
    keys = _KEYED.get(key) if len(items) > 1 else None
    if keys is None or not all(isinstance(item, dict) for item in items):
        return items
    return sorted(items, key=lambda item: _place(item, keys))


def _place(item: Mapping[str, Any], keys: tuple[str, ...]) -> tuple[str, ...]:
    """By the keys, then by all of it: where a key is missing or repeated the order is still a function of content."""
    return (*(canonical(item.get(key)) for key in keys), canonical(item))
