"""MNNVL as a part of a rule set: the decision about the ComputeDomains of a set, and the admission of its manifest."""

from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple

from grove_core.areas.mnnvl.design.judge import compute_domains_of_new_parts, judge_mnnvl
from grove_core.areas.mnnvl.design.wants import result_of_mnnvl
from grove_core.areas.mnnvl.verdicts import ComputeDomainsOfNewParts
from grove_core.areas.mnnvl_scopes.judge import judge_shared_domains
from grove_core.areas.mnnvl_scopes.verdicts import SharedDomainsJudgement
from grove_core.areas.mnnvl_scopes.wants import result_of_shared_domains
from grove_core.kernel.admission import AdmissionWarning, DenialReason
from grove_core.kernel.decisions import AreaResult
from grove_core.kernel.frozen import FrozenDict, FrozenMap
from grove_core.kernel.structs import Struct
from grove_core.rule_sets.admission import ManifestToAdmit
from grove_core.snapshot.snapshot import Snapshot


class MnnvlDecision(NamedTuple):
    """The decision about the ComputeDomains of a set.

    Attributes:
        clique_domains: the domains of new PodCliques and scaling groups, or why these are withheld.
        annotations: name of a clique in the template -> the MNNVL annotations of its new PodCliques.
        of_area: the wants and findings for the domains of replicas and MNNVL groups.
        shared: the domains that PodCliques share by annotation; None for an operator that has no such domains.
    """

    clique_domains: ComputeDomainsOfNewParts
    annotations: FrozenDict[str, FrozenMap]
    of_area: AreaResult
    shared: SharedDomainsJudgement | None = None

    def parts_with_domains(self, snapshot: Snapshot, workload: AreaResult) -> AreaResult:
        """Return the result for the parts of the set as they are created with their shared domains, and for these."""
        return workload if self.shared is None else result_of_shared_domains(snapshot, self.shared, workload)


class MnnvlBehaviour(Struct, frozen=True):
    """MNNVL by one operator: decisions about domains, and objections to manifests and warnings about them."""

    decide: Callable[[Snapshot], MnnvlDecision]
    objections: Callable[[ManifestToAdmit], Iterable[DenialReason]]
    warnings: Callable[[ManifestToAdmit], Iterable[AdmissionWarning]]


def _decide_by_design(snapshot: Snapshot) -> MnnvlDecision:
    mnnvl, shared = judge_mnnvl(snapshot), judge_shared_domains(snapshot)  # MN, MS
    domains = compute_domains_of_new_parts(snapshot, mnnvl)
    return MnnvlDecision(domains, shared.annotations, result_of_mnnvl(snapshot, mnnvl), shared)


def _objections_by_design(given: ManifestToAdmit) -> Iterator[DenialReason]:
    from grove_core.areas.mnnvl.admit import mnnvl_objections  # noqa: PLC0415 - dumps have no manifests (P11)
    from grove_core.areas.mnnvl_scopes.admit import mnnvl_annotation_objections  # noqa: PLC0415 - as above

    yield from mnnvl_objections(given.subject, given.new, given.old)
    yield from mnnvl_annotation_objections(given.subject, given.new, given.old, given.configuration)


def _warnings_by_design(given: ManifestToAdmit) -> Iterator[AdmissionWarning]:
    from grove_core.areas.mnnvl.admit import mnnvl_warnings  # noqa: PLC0415 - dumps have no manifests (P11)
    from grove_core.areas.mnnvl_scopes.admission_warnings import mnnvl_annotation_warnings  # noqa: PLC0415 - as above

    yield from mnnvl_warnings(given.subject, given.new, given.configuration)
    yield from mnnvl_annotation_warnings(given.subject, given.new, given.configuration, given.classes)


MNNVL_BY_DESIGN: Final = MnnvlBehaviour(_decide_by_design, _objections_by_design, _warnings_by_design)
"""MNNVL of the design documents, in either mode."""
