"""How objects of ComputeDomains are merged: what their definitions say of lists and defaults."""

from collections.abc import Mapping

from grove_core.resources.api_names import DOMAIN_KIND
from grove_shell.manifests.crd_definitions import Json, compute_domain_crd_manifests
from tests.server_side_apply.field_sets import Shape, shape_of


def compute_domain_schemas() -> Mapping[str, Json]:
    """By kind: what its objects may look like."""
    return {
        one["spec"]["names"]["kind"]: one["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
        for one in compute_domain_crd_manifests()
    }


def domain_shapes() -> Mapping[str, Shape]:
    """By kind: what merging has to know of it."""
    return {kind: shape_of(schema, has_status=kind == DOMAIN_KIND) for kind, schema in compute_domain_schemas().items()}
