"""Labels that the Go operator writes: one key for each (WF-101); labels and annotations that it replaces (WF-102)."""

from grove_core.kernel.frozen import FrozenMap
from grove_core.resources.api_names import COMPONENT, MANAGED_BY, NAME, OPERATOR
from grove_core.resources.labels import SET, SET_REPLICA
from grove_core.resources.merge_patch import replacement_patch


def labels_by_go_operator(set_name: str) -> dict[str, str]:
    """Return the labels that every object of a set carries (WF-101)."""
    return {MANAGED_BY: OPERATOR, SET.primary: set_name}


def object_labels_by_go_operator(set_name: str, name: str, component: str) -> dict[str, str]:
    """Return the labels of an object of a set that has a name and a component of its own (WF-101)."""
    return {**labels_by_go_operator(set_name), NAME: name.replace(":", "-"), COMPONENT: component}


def replica_labels_by_go_operator(set_name: str, name: str, component: str, replica: int) -> dict[str, str]:
    """Return the labels of an object that belongs to one replica of a set (WF-101).

    Args:
        name: of the object.
        component: the value of its component label, such as ``pcs-podclique``.
        replica: the index.
    """
    return {**object_labels_by_go_operator(set_name, name, component), SET_REPLICA.primary: str(replica)}


def metadata_changes(
    labels: FrozenMap, annotations: FrozenMap, stored_labels: FrozenMap, stored_annotations: FrozenMap
) -> FrozenMap:
    """Return the change that makes the stored labels and annotations those wanted, and removes all others (WF-102).

    Args:
        labels, annotations: the wanted ones.
        stored_labels, stored_annotations: those that the object has.
    """
    changes = {
        "labels": replacement_patch(labels, stored_labels),
        "annotations": replacement_patch(annotations, stored_annotations),
    }
    return FrozenMap({key: texts for key, texts in changes.items() if texts})
