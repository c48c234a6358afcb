"""Warnings at admission about sets that the Workload API is to place (SC-040, SC-041)."""

from collections.abc import Iterator

from grove_core.areas.scheduling.rules import SchedulingWarning
from grove_core.areas.scheduling.suitability import reasons_against_workload_api
from grove_core.kernel.admission import AdmissionWarning
from grove_core.kernel.refs import Ref
from grove_core.resources.configuration import Configuration, GangBackend
from grove_core.resources.podcliqueset_manifest import CLIQUES, BadField, PodCliqueSetManifest
from grove_core.resources.topology_usage import constrained_levels


def workload_api_warnings(
    subject: Ref, manifest: PodCliqueSetManifest, configuration: Configuration
) -> Iterator[AdmissionWarning]:
    """Yield warnings where the configuration asks for the Workload API, about what it cannot do for a set."""
    if configuration.gang_backend is not GangBackend.KUBERNETES:
        return
    against = list(reasons_against_workload_api(subject, manifest.annotations, manifest.spec, configuration))
    for why in against:
        rule, facts = SchedulingWarning.KEEPS_PODGANGS, {"why": why.sentence}
        yield BadField(CLIQUES, len(manifest.spec.template.cliques), rule, facts).as_warning(subject)
    for level in () if against else constrained_levels(manifest.spec.template):
        _, preferred = level.constraint.domains
        if preferred:
            path = f"{level.path}.pack.preferred"
            yield BadField(path, preferred, SchedulingWarning.PREFERENCE_IGNORED, {}).as_warning(subject)
