"""Labels that objects of a set carry, in every family of keys: all are written, any is read (WL-031, decision D3)."""

from collections.abc import Mapping

from grove_core.resources.api_names import COMPONENT, MANAGED_BY, NAME, OPERATOR, SET, SET_REPLICA


def labels_of_set(set_name: str) -> dict[str, str]:
    """What every object of a set carries (WL-031)."""
    return {MANAGED_BY: OPERATOR, **dict.fromkeys(SET, set_name)}


def labels_of(set_name: str, name: str, component: str) -> dict[str, str]:
    """What an object of a set carries that has a name and a part to play."""
    return {**labels_of_set(set_name), NAME: name.replace(":", "-"), COMPONENT: component}


def labels_of_replica(replica: int) -> dict[str, str]:
    """Which replica of the set an object belongs to (decision D3)."""
    return dict.fromkeys(SET_REPLICA, str(replica))


def first_of(labels: Mapping[str, object], *keys: str) -> str:
    """The first of these labels that is set, as text; empty where none is."""
    return next((text for key in keys if isinstance(text := labels.get(key), str) and text), "")


def set_named_by(labels: Mapping[str, object]) -> str:
    """The set that an object's labels say it is of; empty where they say none."""
    return first_of(labels, *SET)
