"""Whether a set is to have ComputeDomains, by its annotation and its GPUs (MN-002, MN-003, MN-008)."""

from collections.abc import Mapping

from grove_core.resources.api_names import MNNVL_ENABLED
from grove_core.resources.gpus import asks_for_gpus
from grove_core.resources.template import SetTemplate


def opts_out(annotations: Mapping[str, object]) -> bool:
    """Return whether the set's annotation opts out; any value but "true" does, since older ones were not validated."""
    return annotations.get(MNNVL_ENABLED, "true") != "true"


def cliques_with_gpus(template: SetTemplate) -> tuple[str, ...]:
    """Return the names of the cliques that ask for GPUs, in the order of the template."""
    return tuple(clique.name for clique in template.cliques if asks_for_gpus(clique.spec.pod_spec))


def wants_domains(annotations: Mapping[str, object], template: SetTemplate) -> bool:
    """Return whether a set would have ComputeDomains if MNNVL is on in mode `operator`."""
    return not opts_out(annotations) and bool(cliques_with_gpus(template))
