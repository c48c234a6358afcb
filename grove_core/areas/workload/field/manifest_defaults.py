"""What the admission of the Go operator writes into a manifest beyond WL-190: roles and numbers of pods."""

from collections.abc import Iterator, Mapping
from typing import Any

Json = dict[str, Any]


def manifest_with_go_operator_defaults(raw: Mapping[str, Any]) -> Json:
    """Return the manifest with its cliques as that operator stores them; other values stay as they are.

    A clique without a ``roleName`` gets an empty one (WF-160), and one with zero ``replicas`` one pod (WF-166). Total.
    """
    cliques = _cliques_in(raw)
    if not cliques:
        return {**raw}
    template = {**raw["spec"]["template"], "cliques": [_clique(clique) for clique in cliques]}
    return {**raw, "spec": {**raw["spec"], "template": template}}


def cliques_of_zero_replicas(raw: Mapping[str, Any]) -> Iterator[int]:
    """Yield the index of each clique whose ``replicas`` are zero. Total."""
    for index, clique in enumerate(_cliques_in(raw)):
        part = clique.get("spec") if isinstance(clique, Mapping) else None
        if isinstance(part, Mapping) and _is_zero(part.get("replicas")):
            yield index


def _cliques_in(raw: Mapping[str, Any]) -> list[object]:
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
    return {**clique, "spec": {**spec, **role, **replicas}} if role or replicas else clique


def _is_zero(value: object) -> bool:
    return value == 0 and isinstance(value, int) and not isinstance(value, bool)
