"""How objects of ComputeDomains are merged: what their definitions say of lists and defaults."""

from collections.abc import Mapping

from grove_core.resources.compute_domain import DOMAIN_KIND
from grove_shell.manifests.compute_domain_definitions import compute_domain_schemas
from tests.server_side_apply.field_sets import Shape, shape_of


def domain_shapes() -> Mapping[str, Shape]:
    """By kind: what merging has to know of it."""
    return {kind: shape_of(schema, has_status=kind == DOMAIN_KIND) for kind, schema in compute_domain_schemas().items()}
