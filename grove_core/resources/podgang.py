"""PodGang: pods that the scheduler places together, and its topology constraints."""

from collections.abc import Iterator, Mapping, MutableMapping
from types import MappingProxyType
from typing import ClassVar, Final, NamedTuple

from grove_core.kernel.conditions import Condition
from grove_core.kernel.frozen import EMPTY, FrozenMap
from grove_core.kernel.structs import Struct
from grove_core.resources.api_names import SCHEDULER, TOPOLOGY_NAME
from grove_core.resources.json_field_reader import JsonFieldReader
from grove_core.resources.metadata_readers import (
    Resource,
    read_conditions,
    read_labels,
    read_metadata,
    stored_inner_object,
)

_FIELD: Final = "topologyConstraint"
_CONFIGS: Final = "topologyConstraintGroupConfigs"


class GangPackConstraint(NamedTuple):
    """Pods share the value of a node label: required and preferred label key, empty for none."""

    required: str = ""
    preferred: str = ""

    @property
    def as_json(self) -> FrozenMap:
        """The constraint in a PodGang; a patch removes what it does not have."""
        texts = {"required": self.required, "preferred": self.preferred}
        return FrozenMap({"packConstraint": FrozenMap({key: text for key, text in texts.items() if text})})


NO_PACK: Final = GangPackConstraint()


class PackedGroupReplica(NamedTuple):
    """Cliques of one group replica that are packed together within their gang."""

    name: str
    cliques: tuple[str, ...]
    pack: GangPackConstraint


class PodGangConstraints(NamedTuple):
    """The topology constraints of a gang.

    Attributes:
        topology: name of the topology; empty where none applies.
        gang: for all pods.
        cliques: name of a PodClique and its constraint, sorted; those without are left out.
        packed_groups: sorted by name.
    """

    topology: str = ""
    gang: GangPackConstraint = NO_PACK
    cliques: tuple[tuple[str, GangPackConstraint], ...] = ()
    packed_groups: tuple[PackedGroupReplica, ...] = ()

    @property
    def spec_fields(self) -> Mapping[str, FrozenMap | tuple[FrozenMap, ...]]:
        """The fields of a PodGang's spec, except its groups; empty ones are left out."""
        found: dict[str, FrozenMap | tuple[FrozenMap, ...]] = {}
        if self.gang != NO_PACK:
            found[_FIELD] = self.gang.as_json
        if self.packed_groups:
            found[_CONFIGS] = tuple(
                FrozenMap({"name": one.name, "podGroupNames": one.cliques, **_field_of(one.pack)})
                for one in self.packed_groups
            )
        return found


def _field_of(pack: GangPackConstraint) -> Mapping[str, FrozenMap]:
    return {_FIELD: pack.as_json} if pack != NO_PACK else {}


NO_PLACEMENT: Final = PodGangConstraints()


def podgang_constraints_in(spec: JsonFieldReader, topology: str) -> PodGangConstraints:
    """Return the constraints of a stored PodGang."""
    return PodGangConstraints(
        topology,
        _pack_in(spec),
        tuple(sorted(_cliques_in(spec))),
        tuple(
            sorted(
                PackedGroupReplica(one.text("name"), one.text_list("podGroupNames"), _pack_in(one))
                for one in spec.inner_objects(_CONFIGS)
            )
        ),
    )


def _cliques_in(spec: JsonFieldReader) -> Iterator[tuple[str, GangPackConstraint]]:
    for group in spec.inner_objects("podgroups"):
        pack = _pack_in(group)
        if pack != NO_PACK:
            yield group.text("name"), pack


def _pack_in(holder: JsonFieldReader) -> GangPackConstraint:
    pack = holder.inner_object(_FIELD).inner_object("packConstraint")
    return GangPackConstraint(pack.text("required"), pack.text("preferred"))


class PodGroup(Struct, frozen=True):
    """One clique in a gang: its name, the number of pods that the gang needs, and the names of the listed pods."""

    name: str
    min_replicas: int
    pods: tuple[str, ...]


class GangStatus(Struct, frozen=True, kw_only=True):
    """A PodGang's stored status; empty where a field is absent."""

    FIELDS: ClassVar[Mapping[str, str]] = MappingProxyType({"phase": "phase"})

    phase: str = ""
    conditions: tuple[Condition, ...] = ()


class PodGang(Resource, frozen=True, kw_only=True):
    """The fields of a PodGang that decisions use.

    Attributes:
        labels, annotations: as stored, including copies of the set's.
        priority: ``priorityClassName``; empty where absent.
        groups: one for each clique.
        placement: its topology constraints.
    """

    labels: FrozenMap = EMPTY
    annotations: FrozenMap = EMPTY
    priority: str = ""
    groups: tuple[PodGroup, ...]
    placement: PodGangConstraints = NO_PLACEMENT
    status: GangStatus = GangStatus()


def podgang_from_json(raw: Mapping[str, object], shared: MutableMapping[str, str] | None = None) -> PodGang:
    """Read a PodGang; raises MalformedObject with every problem (IN-030)."""
    top = JsonFieldReader(raw, "", [])
    identity = read_metadata(top, SCHEDULER, "PodGang", shared)
    spec, status = top.inner_object("spec"), top.inner_object("status")
    annotations = top.inner_object("metadata").inner_object("annotations")
    return top.result_or_problems(
        PodGang(
            **identity,
            labels=stored_inner_object(read_labels(top)),
            annotations=stored_inner_object(annotations),
            priority=spec.text("priorityClassName"),
            groups=pod_groups_in(spec),
            placement=podgang_constraints_in(spec, annotations.text(TOPOLOGY_NAME)),
            status=GangStatus(phase=status.text("phase"), conditions=read_conditions(status)),
        )
    )


def pod_groups_in(spec: JsonFieldReader) -> tuple[PodGroup, ...]:
    """The ``podgroups`` of a gang's spec, as they stand there."""
    return tuple(
        PodGroup(
            group.text("name", required=True),
            group.integer("minReplicas") or 0,
            tuple(pod.text("name") for pod in group.inner_objects("podReferences")),
        )
        for group in spec.inner_objects("podgroups")
    )
