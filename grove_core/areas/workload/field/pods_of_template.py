"""Whether running pods are of a template that no PodClique has any more, as after an edit is taken back (WF-001).

A pod has more than its template: what the operator, the API server and admission added. So a template is compared with
that part of the pod which it sets. Containers, and the variables that Grove does not set, are compared as a whole.
"""

from typing import Final

from grove_core.areas.workload.template_revision import (
    normalized_pod_spec,
    wanted_clique_annotations,
    wanted_clique_pod_spec,
)
from grove_core.kernel.frozen import FrozenMap, Json, object_at
from grove_core.snapshot.expected_replicas import ExpectedClique

_OVERWRITTEN: Final = frozenset({"hostname", "subdomain", "schedulingGates", "priorityClassName"})
_WHOLE: Final = frozenset({"containers", "env"})
_OF_GROVE: Final = "GROVE_"


def is_pod_of_template(manifest: FrozenMap, part: ExpectedClique) -> bool:
    """Return whether a pod was created from the template of a clique.

    Args:
        manifest: of the pod: ``labels``, ``annotations`` and ``spec``.
        part: the clique; of a scaling group or standalone.
    """
    if not _contains(object_at(manifest, "labels"), part.template.labels, ""):
        return False
    if not _contains(object_at(manifest, "annotations"), wanted_clique_annotations(part), ""):
        return False
    wanted = normalized_pod_spec(wanted_clique_pod_spec(part, ""))
    set_by_template = FrozenMap({key: value for key, value in wanted.items() if key not in _OVERWRITTEN})
    return _contains(normalized_pod_spec(object_at(manifest, "spec")), set_by_template, "")


def _contains(stored: Json, wanted: Json, key: str) -> bool:
    """Return whether a stored value has everything of the wanted one; ``key`` is the name of its field."""
    if isinstance(wanted, FrozenMap):
        return isinstance(stored, FrozenMap) and all(
            name in stored and _contains(stored[name], value, name) for name, value in wanted.items()
        )
    if isinstance(wanted, tuple) and any(isinstance(item, FrozenMap) for item in wanted):
        return isinstance(stored, tuple) and _contains_items(stored, wanted, key)
    return stored == wanted


def _contains_items(stored: tuple[Json, ...], wanted: tuple[Json, ...], key: str) -> bool:
    if key in _WHOLE and _names(stored) != _names(wanted):
        return False
    return all(any(_contains(item, one, "") for item in stored) for one in wanted)


def _names(items: tuple[Json, ...]) -> set[str]:
    names = {str(item.get("name")) for item in items if isinstance(item, FrozenMap)}
    return {name for name in names if not name.startswith(_OF_GROVE)}
