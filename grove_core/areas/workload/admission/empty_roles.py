"""Cliques without a role, as the admission of the Go operator fills them in (WF-160)."""

from collections.abc import Iterator, Mapping
from typing import Any

from grove_core.areas.workload.rules import WorkloadDenial
from grove_core.kernel.admission import DenialReason
from grove_core.kernel.refs import Ref
from grove_core.resources.podcliqueset_manifest import CLIQUES
from grove_core.resources.podcliqueset_spec import SetSpec

Json = dict[str, Any]


def manifest_with_empty_roles(raw: Mapping[str, Any]) -> Json:
    """Return the manifest with an empty ``roleName`` in every clique without one; other values stay as they are."""
    spec = raw.get("spec")
    template = spec.get("template") if isinstance(spec, Mapping) else None
    cliques = template.get("cliques") if isinstance(template, Mapping) else None
    if not isinstance(spec, Mapping) or not isinstance(template, Mapping) or not isinstance(cliques, list):
        return {**raw}
    filled = [_with_role(clique) for clique in cliques]
    return {**raw, "spec": {**spec, "template": {**template, "cliques": filled}}}


def _with_role(clique: object) -> object:
    spec = clique.get("spec") if isinstance(clique, Mapping) else None
    if not isinstance(clique, Mapping) or not isinstance(spec, Mapping) or spec.get("roleName") is not None:
        return clique
    return {**clique, "spec": {**spec, "roleName": ""}}


def empty_role_objections(subject: Ref, spec: SetSpec) -> Iterator[DenialReason]:
    """Yield an objection for each clique with an empty role beside an earlier one."""
    without = [(index, clique.name) for index, clique in enumerate(spec.template.cliques) if not clique.spec.role_name]
    for index, _ in without[1:]:
        because = WorkloadDenial.ROLE_REPEATED.because(subject, clique=without[0][1])
        yield DenialReason(f"{CLIQUES}[{index}].spec.roleName", '""', because)
