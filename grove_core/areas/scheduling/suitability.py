"""Whether groups of the Workload API suit a set: its scheduler, domains, claims and shape (SC-002, SC-003, SC-007)."""

from collections.abc import Iterator

from grove_core.areas.scheduling.rules import SchedulingReason
from grove_core.areas.scheduling.set_shape import reasons_against_one_workload
from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.resources.configuration import DEFAULT_SCHEDULER, Configuration, MnnvlMode
from grove_core.resources.domain_sharing import effective_mnnvl_annotations, sharing_scope_in_annotations
from grove_core.resources.podcliqueset_spec import SetSpec


def reasons_against_groups(
    subject: Ref, annotations: FrozenMap, spec: SetSpec, configuration: Configuration
) -> Iterator[Reason]:
    """Yield why a set keeps PodGangs although the Workload API could be used. Linear in the template."""
    named = (clique.spec.pod_spec.get("schedulerName") for clique in spec.template.cliques)
    others = sorted({name for name in named if isinstance(name, str)} - {"", DEFAULT_SCHEDULER})
    if others:
        yield SchedulingReason.OTHER_SCHEDULER.because(subject, scheduler=", ".join(others))
    if configuration.mnnvl.is_enabled_in_mode(MnnvlMode.ANNOTATIONS) and _shares_domains(annotations, spec):
        yield SchedulingReason.SHARES_DOMAINS.because(subject)
    if _shares_claims(spec):
        yield SchedulingReason.SHARES_CLAIMS.because(subject)
    yield from reasons_against_one_workload(subject, spec)


def _shares_claims(spec: SetSpec) -> bool:
    template = spec.template
    of_cliques = any(clique.resource_sharing for clique in template.cliques)
    of_groups = any(group.resource_sharing for group in template.pod_clique_scaling_groups)
    return bool(template.resource_sharing) or of_cliques or of_groups


def _shares_domains(annotations: FrozenMap, spec: SetSpec) -> bool:
    groups = spec.template.groups_by_clique
    return any(
        sharing_scope_in_annotations(effective_mnnvl_annotations(annotations, clique, groups.get(clique.name)))
        is not None
        for clique in spec.template.cliques
    )
