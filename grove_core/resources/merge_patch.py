"""Compares wanted with stored fields, and applies merge patches.

A server fills in defaults, drops ``false`` and normalizes quantities. Additional stored fields, a missing ``false`` and
another form of one quantity (``1000m`` for ``"1"``) are therefore no difference, because a write for them would be
repeated for ever. Texts that are not quantities are compared literally.
"""

from typing import Final

from grove_core.kernel.frozen import EMPTY, FrozenMap, Json, is_same_json
from grove_core.resources.quantities import AMOUNTS, parse_quantity

_AMOUNT: Final = frozenset({"value", "averageValue"})  # keys of quantities: the targets of an autoscaler


def merge_patch_of_wanted_fields(wanted: FrozenMap, stored: FrozenMap, above: str = "") -> FrozenMap:
    """Return the wanted fields that are not stored, with lists as a whole; empty for none (WL-025).

    ``above`` is the key that both are under; empty for a whole spec. For labels see
    :func:`labels_or_annotations_to_change`.
    """
    changed: dict[str, Json] = {}
    for key, value in wanted.items():
        there = stored.get(key)
        if isinstance(value, FrozenMap) and isinstance(there, FrozenMap):
            inner = merge_patch_of_wanted_fields(value, there, key)
            if inner:
                changed[key] = inner
        elif not _holds(there, value, key, above):
            changed[key] = value
    return FrozenMap(changed)


def labels_or_annotations_to_change(wanted: FrozenMap, stored: FrozenMap) -> FrozenMap:
    """Return the wanted labels or annotations that are not stored; ``1.10`` and ``1.1`` differ."""
    return FrozenMap({key: text for key, text in wanted.items() if stored.get(key) != text})


def replacement_patch(wanted: FrozenMap, stored: FrozenMap) -> FrozenMap:
    """Return the merge patch that turns the stored object into the wanted one; null removes a field."""
    changed: dict[str, Json] = {key: None for key in stored if key not in wanted}
    for key, value in wanted.items():
        there = stored.get(key)
        if isinstance(value, FrozenMap) and isinstance(there, FrozenMap):
            inner = replacement_patch(value, there)
            if inner:
                changed[key] = inner
        elif not is_same_json(there, value):
            changed[key] = value
    return FrozenMap(changed)


def apply_merge_patch(stored: FrozenMap, fields: FrozenMap) -> FrozenMap:
    """Return the stored object after a merge patch: objects are merged, null removes, other values are replaced."""
    merged: dict[str, Json] = dict(stored.items())
    for key, value in fields.items():
        there = merged.get(key)
        if value is None:
            merged.pop(key, None)
        elif isinstance(value, FrozenMap):
            merged[key] = apply_merge_patch(there if isinstance(there, FrozenMap) else EMPTY, value)
        else:
            merged[key] = value
    return FrozenMap(merged)


def _holds(stored: Json, wanted: Json, key: str = "", above: str = "") -> bool:
    """Return whether a stored value equals the wanted one, apart from what a server changes.

    ``key`` is empty for an item of a list; ``above`` is the key of the object that contains ``key``.
    """
    if isinstance(wanted, FrozenMap):
        return isinstance(stored, FrozenMap) and all(
            name in stored and _holds(stored[name], value, name, key) for name, value in wanted.items()
        )
    if isinstance(wanted, tuple):
        same_length = isinstance(stored, tuple) and len(stored) == len(wanted)
        return same_length and all(map(_holds, stored, wanted))  # type: ignore[arg-type]  # same_length says so
    if is_same_json(stored, wanted) or (stored is None and wanted is False):
        return True
    if key not in _AMOUNT and above not in AMOUNTS:
        return False
    left, right = parse_quantity(stored), parse_quantity(wanted)
    return left is not None and left == right
