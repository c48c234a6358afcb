"""The rule sets of the Go operator, one for each release (GF-100)."""

from collections.abc import Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import Final, assert_never

from grove_core.areas.gang_termination.field.go_operator_rule_generations import (
    DEFAULT_DELAY,
    MAIN,
    RELEASES,
    GoOperatorRuleGeneration,
    generation_of_release,
)
from grove_core.areas.gang_termination.field.judge import (
    judge_gang_termination_by_go_operator,
    replica_fates_by_go_operator,
)
from grove_core.areas.gang_termination.field.lost_nodes import lost_node_evictions
from grove_core.areas.gang_termination.field.wants import (
    gang_termination_by_go_operator,
)
from grove_core.areas.gang_termination.verdicts import SetReplicaFates
from grove_core.areas.mnnvl.field.judge import judge_group_domains, parts_withheld_for_domains
from grove_core.areas.mnnvl.field.wants import result_of_group_domains
from grove_core.areas.scheduling.verdicts import PODGANGS_ONLY
from grove_core.areas.workload.field.releases import (
    BEFORE_ALPHA_12,
    FROM_ALPHA_12,
    MAIN_BRANCH,
    WorkloadBehaviourOfRelease,
)
from grove_core.areas.workload.field.upgrade_restart import HASH_FORMS
from grove_core.areas.workload.field.wants import withhold_changes_of_unwatched_objects, workload_result_by_go_operator
from grove_core.kernel.admission import AdmissionWarning, DenialReason
from grove_core.kernel.frozen import FrozenDict
from grove_core.rule_sets.admission import AdmissionBehaviour, ManifestToAdmit
from grove_core.rule_sets.mnnvl import MnnvlBehaviour, MnnvlDecision
from grove_core.rule_sets.rule_set import RuleSet
from grove_core.snapshot.snapshot import Snapshot

FIELD: Final = "field"
_BEFORE_PACK: Final = frozenset({"v0.1.0-alpha.9"})
"""Releases whose topology constraints have ``packDomain`` alone."""


def _decide_mnnvl(snapshot: Snapshot) -> MnnvlDecision:
    judgement = judge_group_domains(snapshot)
    withheld = parts_withheld_for_domains(snapshot, judgement)
    return MnnvlDecision(withheld, FrozenDict(), result_of_group_domains(snapshot, judgement))


def _mnnvl_objections(given: ManifestToAdmit) -> Iterator[DenialReason]:
    from grove_core.areas.mnnvl.field.admit import group_annotation_objections  # noqa: PLC0415 - dumps have no manifests (P11)

    return group_annotation_objections(given.subject, given.new, given.old, given.configuration)


def _mnnvl_warnings(given: ManifestToAdmit) -> Iterator[AdmissionWarning]:
    from grove_core.areas.mnnvl.field.admit import mnnvl_group_annotation_warnings  # noqa: PLC0415 - dumps have no manifests (P11)

    return mnnvl_group_annotation_warnings(given.subject, given.new, given.configuration)


MNNVL_BY_GO_OPERATOR: Final = MnnvlBehaviour(_decide_mnnvl, _mnnvl_objections, _mnnvl_warnings)
"""MNNVL of every release whose rules are known (NF)."""


def _defaults(raw: Mapping[str, object]) -> Mapping[str, object]:
    from grove_core.areas.workload.field.manifest_defaults import (  # noqa: PLC0415 - dumps have no manifests (P11)
        manifest_with_go_operator_defaults,
    )

    return manifest_with_go_operator_defaults(raw)


def _objections(given: ManifestToAdmit, *, refuses_pack_domain: bool) -> Iterator[DenialReason]:
    from grove_core.areas.workload.field.admit import go_operator_objections  # noqa: PLC0415 - dumps have no manifests (P11)

    return go_operator_objections(
        given.subject, given.new, given.old, given.configuration, refuses_pack_domain=refuses_pack_domain
    )


def _warnings(given: ManifestToAdmit) -> Iterator[AdmissionWarning]:
    from grove_core.areas.workload.field.admit import go_operator_warnings  # noqa: PLC0415 - dumps have no manifests (P11)

    return go_operator_warnings(given.subject, given.new, given.old, given.configuration, given.written)


def _admission(release: str) -> AdmissionBehaviour:
    """Return the admission of schedulers, topology constraints and roles (WF-160 to WF-166)."""
    return AdmissionBehaviour(
        _defaults, partial(_objections, refuses_pack_domain=release not in _BEFORE_PACK), _warnings
    )


def _replica_fates(snapshot: Snapshot, *, generation: GoOperatorRuleGeneration) -> SetReplicaFates:
    return replica_fates_by_go_operator(judge_gang_termination_by_go_operator(snapshot, generation))


def _workload_behaviour(generation: GoOperatorRuleGeneration) -> WorkloadBehaviourOfRelease:
    match generation:
        case GoOperatorRuleGeneration.F2:
            return BEFORE_ALPHA_12
        case GoOperatorRuleGeneration.F3:
            return FROM_ALPHA_12
        case _:
            assert_never(generation)


def _rule_set(
    release: str, generation: GoOperatorRuleGeneration, workload: WorkloadBehaviourOfRelease, form: str
) -> RuleSet:
    return RuleSet(
        name=f"{FIELD}@{release}",
        gang_termination=partial(gang_termination_by_go_operator, generation=generation),
        replica_fates=partial(_replica_fates, generation=generation),
        default_delay=DEFAULT_DELAY,
        lost_nodes=lost_node_evictions,
        gang_backends=lambda _: PODGANGS_ONLY,
        workload=partial(workload_result_by_go_operator, release=workload),
        delays_statuses=False,
        mnnvl=MNNVL_BY_GO_OPERATOR,
        admission=_admission(release),
        withholds=withhold_changes_of_unwatched_objects,
        computes_status_when_scheduled=False,
        keeps_topologies=False,
        hash_form=form,
    )


BY_RELEASE: Final[Mapping[str, RuleSet]] = MappingProxyType(
    {
        release: _rule_set(release, generation, _workload_behaviour(generation), HASH_FORMS[release])
        for release, generation in RELEASES.items()
    }
)
NEWEST: Final = BY_RELEASE[list(RELEASES)[-1]]
OF_MAIN_BRANCH: Final = _rule_set(MAIN, generation_of_release(MAIN), MAIN_BRANCH, NEWEST.hash_form)
_NAMED: Final = tuple((rules.name, rules) for rules in (*BY_RELEASE.values(), OF_MAIN_BRANCH))
BY_NAME: Final[Mapping[str, RuleSet]] = MappingProxyType(dict(((FIELD, NEWEST), *_NAMED)))
"""The rule sets by the name that a user gives; ``field`` alone is the newest release, and a plan shows its release."""
