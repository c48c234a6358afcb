"""Admission as a part of a rule set: what one operator says of a manifest beyond what all of them say."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from grove_core.kernel.admission import AdmissionWarning, DenialReason
from grove_core.kernel.refs import Ref
from grove_core.kernel.structs import Struct
from grove_core.resources.configuration import Configuration
from grove_core.resources.podcliqueset_manifest import PodCliqueSetManifest


class ManifestToAdmit(NamedTuple):
    """A manifest of a set, as admission sees it.

    Attributes:
        subject: the set.
        written: as the user wrote it.
        new, old: the manifest with its defaults, and the one before an update; None for a new set.
        configuration: of the operator.
        classes: names of the DeviceClasses; None where they are not known.
    """

    subject: Ref
    written: Mapping[str, object]
    new: PodCliqueSetManifest
    old: PodCliqueSetManifest | None
    configuration: Configuration
    classes: Collection[str] | None


class AdmissionBehaviour(Struct, frozen=True):
    """Admission by one operator.

    Attributes:
        defaults: returns a manifest, given as raw JSON, with what only this operator fills in; total.
        objections, warnings: about a manifest.
    """

    defaults: Callable[[Mapping[str, object]], Mapping[str, object]]
    objections: Callable[[ManifestToAdmit], Iterable[DenialReason]]
    warnings: Callable[[ManifestToAdmit], Iterable[AdmissionWarning]]


def _objections_by_design(given: ManifestToAdmit) -> Iterator[DenialReason]:
    from grove_core.areas.topology.admit import topology_off_objections  # noqa: PLC0415 - dumps have no manifests (P11)

    return topology_off_objections(given.subject, given.new, given.old, given.configuration)


def _warnings_by_design(given: ManifestToAdmit) -> Iterator[AdmissionWarning]:
    from grove_core.areas.scheduling.admit import workload_api_warnings  # noqa: PLC0415 - dumps have no manifests (P11)
    from grove_core.areas.topology.admit import topology_off_warnings  # noqa: PLC0415 - dumps have no manifests (P11)

    yield from topology_off_warnings(given.subject, given.new, given.configuration)
    yield from workload_api_warnings(given.subject, given.new, given.configuration)


def _nothing_more(raw: Mapping[str, object]) -> Mapping[str, object]:
    return raw


ADMISSION_BY_DESIGN: Final = AdmissionBehaviour(_nothing_more, _objections_by_design, _warnings_by_design)
"""A topology that is named while topology-aware scheduling is off is refused; constraints alone have no effect."""
