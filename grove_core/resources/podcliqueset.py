"""PodCliqueSet: the object that a plan is made for."""

from collections.abc import Mapping, MutableMapping
from datetime import datetime, timedelta
from enum import Enum, unique
from functools import cached_property
from types import MappingProxyType
from typing import ClassVar

from grove_core.kernel.conditions import Condition
from grove_core.kernel.errors import MalformedObject, ObjectProblem
from grove_core.kernel.frozen import EMPTY, FrozenDict, FrozenMap
from grove_core.kernel.structs import Struct
from grove_core.resources.api_names import GROVE
from grove_core.resources.json_field_reader import JsonFieldReader
from grove_core.resources.metadata_readers import (
    Resource,
    read_conditions,
    read_creation_time,
    read_metadata,
    read_string_map,
    read_update_progress,
    stored_inner_object,
)
from grove_core.resources.podcliqueset_spec import SetSpec, read_podcliqueset_spec


class PodCliqueSetStatus(Struct, frozen=True, kw_only=True):
    """A PodCliqueSet's stored status; None where a field is absent.

    Attributes:
        updating: whether a rollout of the set runs.
        progress: of the last rollout, as stored; empty where there was none.
        current_hash: generation hash of the set that is being reached.
        selector: of its pods, for autoscalers.
        observed: generation of the set that the status is about.
    """

    FIELDS: ClassVar[Mapping[str, str]] = MappingProxyType(
        {
            "replicas": "replicas",
            "availableReplicas": "available",
            "updatedReplicas": "updated",
            "hpaPodSelector": "selector",
            "observedGeneration": "observed",
            "currentGenerationHash": "current_hash",
            "updateProgress": "progress",
        }
    )

    replicas: int | None = None
    available: int | None = None
    updated: int | None = None
    selector: str = ""
    observed: int | None = None
    current_hash: str = ""
    progress: FrozenMap = EMPTY
    updating: bool = False
    conditions: tuple[Condition, ...] = ()


@unique
class PlannedSetChange(Enum):
    """What a manifest that is planned as applied, or an upgrade that is planned as done, changes for a stored set."""

    NONE = "None"
    """There is no manifest."""
    OF_NUMBERS = "OfNumbers"
    """``replicas``, ``terminationDelay``, labels, annotations, or nothing."""
    OF_MORE = "OfMore"
    """Anything else too."""
    OF_HASHES = "OfHashes"
    """No manifest, but another release of the operator, which computes other template hashes (WF-091)."""


class SetStructure(Struct, frozen=True):
    """Standalone cliques, scaling groups and effective delays of a set.

    Attributes:
        delay: of the set; None if gang termination is off (GT-031).
        standalone: short names of the standalone cliques, in template order.
        groups: short name of a scaling group -> its effective delay (GT-030).
    """

    delay: timedelta | None
    standalone: tuple[str, ...]
    groups: FrozenDict[str, timedelta | None]


def _shape_of(spec: SetSpec) -> SetStructure:
    template, delay = spec.template, spec.template.delay
    return SetStructure(
        delay=delay,
        standalone=tuple(clique.name for clique in spec.standalone_cliques),
        groups=FrozenDict(
            {
                group.name: (group.delay or delay) if delay is not None else None
                for group in template.pod_clique_scaling_groups
            }
        ),
    )


class PodCliqueSet(Resource, frozen=True, kw_only=True, dict=True):
    """A PodCliqueSet.

    Attributes:
        labels, annotations: as the user wrote them.
        generation: increases with every change of the spec; None where absent.
        edit: what a manifest that is planned as applied changes.
        created_at: None where absent.
    """

    labels: FrozenMap = EMPTY
    annotations: FrozenMap = EMPTY
    generation: int | None = None
    created_at: datetime | None = None
    edit: PlannedSetChange = PlannedSetChange.NONE
    spec: SetSpec
    status: PodCliqueSetStatus

    @cached_property
    def shape(self) -> SetStructure:
        """The structure of its spec."""
        return _shape_of(self.spec)


def podcliqueset_from_json(raw: Mapping[str, object], shared: MutableMapping[str, str] | None = None) -> PodCliqueSet:
    """Read a PodCliqueSet; raises MalformedObject with every problem (IN-030)."""
    problems: list[ObjectProblem] = []
    top = JsonFieldReader(raw, "", problems)
    identity = read_metadata(top, GROVE, "PodCliqueSet", shared)
    status = top.inner_object("status")
    updating, progress = read_update_progress(status)
    read = PodCliqueSetStatus(
        updating=updating,
        progress=stored_inner_object(progress),
        updated=status.integer("updatedReplicas"),
        selector=status.text("hpaPodSelector"),
        observed=status.integer("observedGeneration"),
        current_hash=status.text("currentGenerationHash"),
        replicas=status.integer("replicas"),
        available=status.integer("availableReplicas"),
        conditions=read_conditions(status),
    )
    meta = top.inner_object("metadata")
    labels, annotations = (read_string_map(meta, key) for key in ("labels", "annotations"))
    generation, created_at = meta.integer("generation"), read_creation_time(meta)
    spec, found = read_podcliqueset_spec(top.raw.get("spec"))
    problems.extend(found)
    if problems or spec is None:
        raise MalformedObject(tuple(problems))
    return PodCliqueSet(
        **identity,
        labels=labels,
        annotations=annotations,
        generation=generation,
        created_at=created_at,
        spec=spec,
        status=read,
    )
