"""Warnings about scaling groups of which few pods are sure to start together (WL-186)."""

from collections.abc import Iterator

from grove_core.areas.workload.rules import WorkloadWarning
from grove_core.kernel.admission import AdmissionWarning
from grove_core.kernel.reasons import Fact
from grove_core.kernel.refs import Ref
from grove_core.resources.podcliqueset_manifest import CLIQUES
from grove_core.resources.podcliqueset_spec import SetSpec


def partial_start_warnings(subject: Ref, spec: SetSpec) -> Iterator[AdmissionWarning]:
    """Yield the cliques with `minAvailable` 1 of groups of which at most half of the pods start together."""
    template = spec.template
    places = {clique.name: index for index, clique in enumerate(template.cliques)}
    for group in template.pod_clique_scaling_groups:
        members = [template.cliques[places[name]] for name in group.clique_names if name in places]
        started = sum(min(one.spec.min_available or one.spec.replicas, one.spec.replicas) for one in members)
        pods = sum(one.spec.replicas for one in members)
        for one in members if len(members) > 1 and 2 * started <= pods else ():
            if one.spec.min_available == 1 < one.spec.replicas and one.spec.auto_scaling_config is None:
                facts: dict[str, Fact] = {
                    "group": group.name,
                    "started": started,
                    "pods": pods,
                    "replicas": one.spec.replicas,
                }
                yield AdmissionWarning(
                    f"{CLIQUES}[{places[one.name]}].spec.minAvailable",
                    str(one.spec.min_available),
                    WorkloadWarning.FEWER_START_TOGETHER.because(subject, **facts),
                )
