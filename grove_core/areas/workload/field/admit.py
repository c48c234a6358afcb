"""Admission of a set by the Go operator: schedulers, topology constraints and roles (WF-160 to WF-166)."""

from collections.abc import Iterator, Mapping
from typing import Final, get_args

from grove_core.areas.workload.field.manifest_defaults import cliques_of_zero_replicas
from grove_core.areas.workload.field.rules import GoOperatorWorkloadDenial, GoOperatorWorkloadWarning
from grove_core.areas.workload.rules import WorkloadDenial
from grove_core.kernel.admission import AdmissionWarning, DenialReason
from grove_core.kernel.refs import Ref
from grove_core.resources.configuration import Configuration, GoSchedulerName, SchedulerProfiles
from grove_core.resources.podcliqueset_manifest import CLIQUES, BadField, PodCliqueSetManifest
from grove_core.resources.podcliqueset_spec import SetSpec
from grove_core.resources.topology_usage import constrained_levels, domains_text

_ANY: Final = SchedulerProfiles(get_args(GoSchedulerName))
"""Where no configuration is given."""


def go_operator_objections(
    subject: Ref,
    new: PodCliqueSetManifest,
    old: PodCliqueSetManifest | None,
    configuration: Configuration,
    *,
    refuses_pack_domain: bool,
) -> Iterator[DenialReason]:
    """Yield the objections of the Go operator that the design does not have.

    Args:
        refuses_pack_domain: whether a new set must write ``pack.required`` instead of ``packDomain`` (WF-165).
    """
    yield from _empty_roles(subject, new.spec)
    of_topology = _topology_violations(new, configuration) if old is None else ()
    of_spelling = _pack_domains(new) if old is None and refuses_pack_domain else ()
    for found in (*_scheduler_violations(new, configuration), *of_topology, *of_spelling):
        yield found.as_objection(subject)


def go_operator_warnings(
    subject: Ref,
    new: PodCliqueSetManifest,
    old: PodCliqueSetManifest | None,
    configuration: Configuration,
    written: Mapping[str, object],
) -> Iterator[AdmissionWarning]:
    """Yield warnings on clique sizes of zero, and on constraints that may be refused by a configuration not given.

    Args:
        written: the manifest as the user wrote it.
    """
    for index in cliques_of_zero_replicas(written):
        path = f"{CLIQUES}[{index}].spec.replicas"
        yield BadField(path, 0, GoOperatorWorkloadWarning.ZERO_BECOMES_ONE, {}).as_warning(subject)
    first = next(constrained_levels(new.spec.template), None)
    is_given = configuration.schedulers is not None or configuration.topology.enabled
    if first is not None and old is None and not is_given:
        got = domains_text(first.constraint.domains)
        yield BadField(first.path, got, GoOperatorWorkloadWarning.TOPOLOGY_AWARENESS_UNKNOWN, {}).as_warning(subject)


def _empty_roles(subject: Ref, spec: SetSpec) -> Iterator[DenialReason]:
    """Yield an objection for each clique with an empty role beside an earlier one (WF-160)."""
    without = [(index, clique.name) for index, clique in enumerate(spec.template.cliques) if not clique.spec.role_name]
    for index, _ in without[1:]:
        because = WorkloadDenial.ROLE_REPEATED.because(subject, clique=without[0][1])
        yield DenialReason(f"{CLIQUES}[{index}].spec.roleName", '""', because)


def _scheduler_violations(new: PodCliqueSetManifest, configuration: Configuration) -> Iterator[BadField]:
    """Yield a scheduler that is not enabled, or that differs from that of a clique which names none."""
    enabled = configuration.schedulers or _ANY
    named = [pod.scheduler_name for pod in new.pods]
    for number, written in enumerate(named):
        path, name = f"{CLIQUES}[{number}].spec.podSpec.schedulerName", written or enabled.default
        first = named[0] or enabled.default
        if name not in enabled.names:
            facts = {"names": ", ".join(enabled.names)}
            yield BadField(path, name, GoOperatorWorkloadDenial.SCHEDULER_NOT_ENABLED, facts)
        elif configuration.schedulers and name != first and "" in (written, named[0]):  # two written ones: WL-129
            facts = {"other": first, "clique": new.spec.template.cliques[0].name}
            yield BadField(path, name, WorkloadDenial.SCHEDULERS_DIFFER, facts)


def _topology_violations(new: PodCliqueSetManifest, configuration: Configuration) -> Iterator[BadField]:
    """Yield constraints of a new set while topology-aware scheduling is off, and those that belong to no topology."""
    for one in constrained_levels(new.spec.template):
        if configuration.topology.enabled:
            if not any((one.constraint.topology_name, *(above.topology_name for _, above in one.above))):
                path = f"{one.path}.topologyName"
                yield BadField(path, None, GoOperatorWorkloadDenial.TOPOLOGY_NOT_NAMED, {})
        elif configuration.schedulers is not None:
            got = domains_text(one.constraint.domains)
            yield BadField(one.path, got, GoOperatorWorkloadDenial.CONSTRAINT_WHILE_OFF, {})


def _pack_domains(new: PodCliqueSetManifest) -> Iterator[BadField]:
    for one in constrained_levels(new.spec.template):
        domain = one.constraint.pack_domain
        if domain:
            yield BadField(f"{one.path}.packDomain", domain, GoOperatorWorkloadDenial.PACK_DOMAIN_DEPRECATED, {})
