"""Topology constraints of a PodGang as the scheduler reads them: for the gang, its cliques and groups of cliques."""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from grove_core.kernel.frozen import FrozenMap
from grove_core.resources.fields import Fields

_FIELD: Final = "topologyConstraint"
_CONFIGS: Final = "topologyConstraintGroupConfigs"


class Pack(NamedTuple):
    """Pods share the value of a node label: required and preferred label key, empty for none."""

    required: str = ""
    preferred: str = ""

    @property
    def as_json(self) -> FrozenMap:
        """The constraint in a PodGang; a patch removes what it does not have."""
        texts = {"required": self.required, "preferred": self.preferred}
        return FrozenMap({"packConstraint": FrozenMap({key: text for key, text in texts.items() if text})})


NO_PACK: Final = Pack()


class PackedGroup(NamedTuple):
    """Cliques of one group replica that are packed together within their gang."""

    name: str
    cliques: tuple[str, ...]
    pack: Pack


class Placement(NamedTuple):
    """The topology constraints of a gang.

    Attributes:
        topology: name of the topology; empty where none applies.
        gang: for all pods.
        cliques: name of a PodClique and its constraint, sorted; those without are left out.
        packed_groups: sorted by name.
    """

    topology: str = ""
    gang: Pack = NO_PACK
    cliques: tuple[tuple[str, Pack], ...] = ()
    packed_groups: tuple[PackedGroup, ...] = ()

    @property
    def spec_fields(self) -> Mapping[str, FrozenMap | tuple[FrozenMap, ...]]:
        """The fields of a PodGang's spec, except its groups; empty ones are left out."""
        found: dict[str, FrozenMap | tuple[FrozenMap, ...]] = {}
        if self.gang != NO_PACK:
            found[_FIELD] = self.gang.as_json
        if self.packed_groups:
            found[_CONFIGS] = tuple(
                FrozenMap({"name": one.name, "podGroupNames": one.cliques, _FIELD: one.pack.as_json})
                for one in self.packed_groups
            )
        return found


NO_PLACEMENT: Final = Placement()


def placement_in(spec: Fields, topology: str) -> Placement:
    """Return the constraints of a stored PodGang."""
    return Placement(
        topology,
        _pack_in(spec),
        tuple(sorted(_cliques_in(spec))),
        tuple(
            sorted(
                PackedGroup(one.text("name"), one.texts("podGroupNames"), _pack_in(one)) for one in spec.parts(_CONFIGS)
            )
        ),
    )


def _cliques_in(spec: Fields) -> Iterator[tuple[str, Pack]]:
    for group in spec.parts("podgroups"):
        pack = _pack_in(group)
        if pack != NO_PACK:
            yield group.text("name"), pack


def _pack_in(holder: Fields) -> Pack:
    pack = holder.part(_FIELD).part("packConstraint")
    return Pack(pack.text("required"), pack.text("preferred"))
