"""Hashes of pod templates, which distinguish pods of different templates (WL-040).

A hash depends only on what was written, not on type names, defaults of a library or the order of keys.
"""

import hashlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from grove_core.kernel.frozen import FrozenMap, canonical_json
from grove_core.resources.podcliqueset_spec import CliqueTemplate

_ALPHABET: Final = "bcdfghjklmnpqrstvwxz2456789"
_LENGTH: Final = 10

# Lists that the API merges by key, so that their order has no meaning: name of the list -> its keys.
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


def template_hash_of_clique(clique: CliqueTemplate, priority_class_name: str) -> str:
    """Return the template hash of a clique: ten letters (WL-040)."""
    return pod_template_hash(clique.labels, clique.annotations, clique.spec.pod_spec, priority_class_name)


def pod_template_hash(labels: FrozenMap, annotations: FrozenMap, pod_spec: FrozenMap, priority_class_name: str) -> str:
    """Return the template hash of labels, annotations and pod spec.

    Args:
        labels, annotations, pod_spec: of the template.
        priority_class_name: of the set; empty for none, and for a pod spec that has it already.
    """
    spec: dict[str, Any] = dict(pod_spec)
    if priority_class_name:
        spec["priorityClassName"] = priority_class_name
    return short_text_hash(
        canonical_json(
            {"annotations": annotations, "labels": labels, "spec": _with_keyed_lists_sorted(FrozenMap(spec), "")}
        )
    )


def template_generation_hash(hashes: Mapping[str, str]) -> str:
    """Return the generation hash of template hashes by clique; the order of cliques does not count (WL-040)."""
    return short_text_hash(canonical_json(dict(hashes)))


def has_own_template_hash_form(text: str) -> bool:
    """Return whether a hash has this operator's form; any other is another operator's (WL-043)."""
    return len(text) == _LENGTH and all(letter in _ALPHABET for letter in text)


def short_text_hash(text: str, length: int = _LENGTH) -> str:
    """Return the first digits of a text's SHA-256, in 27 letters and digits that form no words (WL-040)."""
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    number = int.from_bytes(digest, "big") % len(_ALPHABET) ** length  # small numbers are divided faster
    letters = []
    for _ in range(length):
        number, digit = divmod(number, len(_ALPHABET))
        letters.append(_ALPHABET[digit])
    return "".join(letters)


def _with_keyed_lists_sorted(value: Any, key: str) -> Any:  # noqa: ANN401 - JSON, frozen or as a reader made it
    """Return the value with the keyed lists of the API sorted by their keys (WL-040)."""
    kind = value.__class__
    if kind is FrozenMap:
        value, kind = value.raw, dict
    if kind is dict:
        return {name: _with_keyed_lists_sorted(inner, name) for name, inner in value.items()}
    if kind is not tuple and kind is not list:
        return value
    items = [_with_keyed_lists_sorted(item, "") for item in value]
    keys = _KEYED.get(key) if len(items) > 1 else None
    if keys is None or not all(isinstance(item, dict) for item in items):
        return items
    return sorted(items, key=lambda item: _sort_key(item, keys))


def _sort_key(item: Mapping[str, Any], keys: tuple[str, ...]) -> tuple[str, ...]:
    """Return the sort key of an item: its keys, then its whole content, in case keys are missing or repeated."""
    return (*(canonical_json(item.get(key)) for key in keys), canonical_json(item))
