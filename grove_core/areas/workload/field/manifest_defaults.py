"""What the admission of the Go operator writes into a manifest beyond WL-190: roles, numbers of pods, quantities."""

from collections.abc import Iterator, Mapping
from typing import Any

from grove_core.resources.quantities import AMOUNTS, QUANTITY_IN, canonical_quantity

Json = dict[str, Any]


def manifest_with_go_operator_defaults(raw: Mapping[str, object]) -> Json:
    """Return the manifest with its cliques as that operator stores them; other values stay as they are.

    A clique without a ``roleName`` gets an empty one (WF-160), and one with zero ``replicas`` one pod (WF-166). The
    quantities of its pods get their canonical form (WF-167). Total.
    """
    cliques, spec = _cliques_in(raw), raw.get("spec")
    if not (cliques and isinstance(spec, Mapping)):
        return {**raw}
    template = {**spec["template"], "cliques": [_clique(clique) for clique in cliques]}
    return {**raw, "spec": {**spec, "template": template}}


def cliques_of_zero_replicas(raw: Mapping[str, object]) -> Iterator[int]:
    """Yield the index of each clique whose ``replicas`` are zero. Total."""
    for index, clique in enumerate(_cliques_in(raw)):
        part = clique.get("spec") if isinstance(clique, Mapping) else None
        if isinstance(part, Mapping) and _is_zero(part.get("replicas")):
            yield index


def _cliques_in(raw: Mapping[str, object]) -> list[object]:
    """Return the cliques of a template; empty where there is no list of them."""
    spec = raw.get("spec")
    template = spec.get("template") if isinstance(spec, Mapping) else None
    cliques = template.get("cliques") if isinstance(template, Mapping) else None
    return cliques if isinstance(cliques, list) else []


def _clique(clique: object) -> object:
    spec = clique.get("spec") if isinstance(clique, Mapping) else None
    if not isinstance(clique, Mapping) or not isinstance(spec, Mapping):
        return clique
    role = {"roleName": ""} if spec.get("roleName") is None else {}
    replicas = {"replicas": 1} if _is_zero(spec.get("replicas")) else {}
    pods = {"podSpec": _with_canonical_quantities(spec["podSpec"], "")} if "podSpec" in spec else {}
    return {**clique, "spec": {**spec, **role, **replicas, **pods}}


def _with_canonical_quantities(value: object, key: str) -> object:
    """Return a part of a pod spec with its quantities as a client written in Go writes them (WF-167).

    Args:
        key: of the object that the part is the value of; empty for an item of a list.
    """
    if isinstance(value, list):
        return [_with_canonical_quantities(item, "") for item in value]
    if not isinstance(value, Mapping):
        return value
    return {
        name: canonical_quantity(item)
        if key in AMOUNTS or name == QUANTITY_IN.get(key)
        else _with_canonical_quantities(item, str(name))
        for name, item in value.items()
    }


def _is_zero(value: object) -> bool:
    return value == 0 and isinstance(value, int) and not isinstance(value, bool)
