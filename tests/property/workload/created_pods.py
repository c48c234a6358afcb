"""Reads steps that create pods."""

from grove_core.kernel.frozen import thaw_json
from grove_core.kernel.steps import Create, Step
from grove_core.resources.api_names import (
    BASE_GANG,
)


def base_gang_of(step: Step) -> str:
    """The gang that a pod which is made waits for; empty for whatever else."""
    assert isinstance(step.action, Create)
    manifest = thaw_json(step.action.manifest)
    return str(manifest["metadata"]["labels"].get(BASE_GANG, "")) if manifest["kind"] == "Pod" else ""
