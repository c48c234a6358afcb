"""Whether groups of the Workload API suit a set: its scheduler, claims and shape (SC-002, SC-007, SC-020)."""

from collections import Counter
from collections.abc import Iterator

from grove_core.areas.scheduling.rules import SchedulingReason
from grove_core.areas.scheduling.workload_api_limits import workload_limit_reasons
from grove_core.kernel.frozen import FrozenMap, text_under_key
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.resources.api_names import SCHEDULER_FIELD
from grove_core.resources.configuration import DEFAULT_SCHEDULER, Configuration
from grove_core.resources.naming_rules import name_list_text, scaling_group_name
from grove_core.resources.podcliqueset_spec import SetSpec, first_templates_by_name
from grove_core.snapshot.expected_replicas import ExpectedGang, ExpectedSetReplicas
from grove_core.snapshot.shared_claims import SharedClaimsOfSet, shared_claims_of_set


def reasons_against_workload_api(
    subject: Ref, annotations: FrozenMap, spec: SetSpec, configuration: Configuration
) -> Iterator[Reason]:
    """Yield why a set keeps PodGangs although the Workload API could be used. Linear in the template.

    Args:
        subject: the set.
        annotations, spec: of the set.
        configuration: of the operator; which claims the pods share depends on it.
    """
    named = {text_under_key(clique.spec.pod_spec, SCHEDULER_FIELD) for clique in spec.template.cliques}
    others = sorted(named - {"", DEFAULT_SCHEDULER})
    if others:
        yield SchedulingReason.OTHER_SCHEDULER.because(subject, scheduler=", ".join(others))
    claims = shared_claims_of_set(subject.name, annotations, spec, configuration)
    shared = dict.fromkeys(name for gang in _smallest_gangs(subject.name, spec) for name in _shared_in(gang, claims))
    if shared:
        yield SchedulingReason.SHARES_CLAIMS.because(subject, claims=name_list_text(shared))
    yield from workload_limit_reasons(subject, spec)


def _smallest_gangs(set_name: str, spec: SetSpec) -> Iterator[ExpectedGang]:
    """Yield the gangs of one replica with at most two replicas of each scaling group: more have no other claims."""
    groups = first_templates_by_name(spec.template.pod_clique_scaling_groups).values()
    counts = {scaling_group_name(set_name, 0, group.name): max(1, min(2, group.min_available)) for group in groups}
    yield from ExpectedSetReplicas(set_name, spec, counts).replica(0).gangs


def _shared_in(gang: ExpectedGang, claims: SharedClaimsOfSet) -> Iterator[str]:
    """Yield the names of claims that several PodCliques of a gang share."""
    users = Counter(name for part in gang.cliques for name in {claim.name for claim in claims.of_every_pod(part)})
    return (name for name, count in users.items() if count > 1)
