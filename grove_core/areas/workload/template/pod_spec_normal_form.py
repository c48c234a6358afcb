"""The normal form of a pod spec, as a typed Go client writes it.

Quantities have one form, defaults are filled in and empty values are removed. Another operator stores PodCliques in
this form, whatever its user wrote: ``1`` and ``"1"`` are the same number of GPUs (WL-043).
"""

from types import MappingProxyType
from typing import Final

from grove_core.kernel.frozen import EMPTY, FrozenMap, Json
from grove_core.resources.merge_patch import AMOUNTS, quantity_of

_QUANTITY_IN: Final = MappingProxyType({"emptyDir": "sizeLimit", "resourceFieldRef": "divisor"})
# Numbers and flags that are no pointers and may be left out in the types of k8s.io/api/core/v1: a client written in Go
# leaves 0 and false out. Of a pointer both are kept, as in allowPrivilegeEscalation, and mean something.
_DROPPED: Final = frozenset(
    {
        *("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"),
        *("readOnly", "stdin", "stdinOnce", "tty", "hostPort", "hostNetwork", "hostPID", "hostIPC", "partition"),
    }
)


def normal_form(pod_spec: FrozenMap) -> FrozenMap:
    """Return the pod spec in normal form: two that mean the same are equal, except for the order of keyed lists."""
    found = _typed(pod_spec, "")
    return found if isinstance(found, FrozenMap) else EMPTY


def _typed(value: Json, key: str) -> Json:
    if isinstance(value, FrozenMap):
        items = {name: _typed(item, name) for name, item in value.items()}
        if key in AMOUNTS:
            items = {name: _one_form(item) for name, item in items.items()}
        elif "containerPort" in items:
            items.setdefault("protocol", "TCP")
        elif key == "resourceFieldRef":
            items.setdefault("divisor", "0")
        items = {name: _one_form(item) if name == _QUANTITY_IN.get(key) else item for name, item in items.items()}
        kept = (name for name, item in items.items() if not _is_empty(item) and (item or name not in _DROPPED))
        return FrozenMap({name: items[name] for name in kept})
    return tuple(_typed(item, "") for item in value) if isinstance(value, tuple) else value


def _one_form(value: Json) -> Json:
    quantity = quantity_of(value)
    return value if quantity is None else f"{quantity.numerator}/{quantity.denominator}"


def _is_empty(value: Json) -> bool:
    return value is None or value in ("", ()) or (isinstance(value, FrozenMap) and not value)
