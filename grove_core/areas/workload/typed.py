"""A pod spec as a typed client hands it back: quantities in one form, defaults filled in, what is empty left out.

Another operator stores PodCliques so, whatever its user wrote: ``1`` and ``"1"`` are one number of GPUs (WL-043).
"""

from typing import Final

from grove_core.kernel.frozen import FrozenMap, Json
from grove_core.resources.overlay import quantity_of

_QUANTITIES: Final = frozenset({"limits", "requests"})


def typed(pod_spec: FrozenMap) -> FrozenMap:
    """The pod spec in the form in which two that mean the same are equal, but for the order of keyed lists."""
    found = _typed(pod_spec, "")
    return found if isinstance(found, FrozenMap) else FrozenMap({})


def _typed(value: Json, key: str) -> Json:
    if isinstance(value, FrozenMap):
        items = {name: _typed(item, name) for name, item in value.items()}
        if key in _QUANTITIES:
            items = {name: _one_form(item) for name, item in items.items()}
        elif "containerPort" in items:
            items.setdefault("protocol", "TCP")
        return FrozenMap({name: item for name, item in items.items() if not _is_empty(item)})
    return tuple(_typed(item, "") for item in value) if isinstance(value, tuple) else value


def _one_form(value: Json) -> Json:
    quantity = quantity_of(value)
    return value if quantity is None else f"{quantity.numerator}/{quantity.denominator}"


def _is_empty(value: Json) -> bool:
    return value is None or value in ("", ()) or (isinstance(value, FrozenMap) and not value)
