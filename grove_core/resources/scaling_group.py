"""PodCliqueScalingGroup: cliques that are scaled together."""

from collections.abc import Mapping, MutableMapping
from datetime import datetime
from types import MappingProxyType
from typing import ClassVar

from grove_core.kernel.conditions import Condition
from grove_core.kernel.frozen import EMPTY, FrozenMap
from grove_core.kernel.structs import Struct
from grove_core.resources.api_names import GROVE
from grove_core.resources.json_field_reader import JsonFieldReader
from grove_core.resources.labels import SET_REPLICA
from grove_core.resources.metadata_readers import (
    Resource,
    has_old_update_progress_key,
    read_conditions,
    read_creation_time,
    read_labels,
    read_metadata,
    read_replica_index,
    read_update_progress,
    stored_inner_object,
)
from grove_core.resources.naming_rules import replica_index_in_name


class GroupStatus(Struct, frozen=True, kw_only=True):
    """A scaling group's stored status; None where a field is absent.

    Attributes:
        updating: GT-018.
        old_spelling: whether the update is stored under its older name, which GF-080 ignores.
        progress: of the last update, as stored; empty where there was none.
        set_hash: generation hash of the set at the last complete update.
        selector: of its pods, for autoscalers.
        observed: generation of the group that the status is about.
        stored_conditions: those stored, where ``conditions`` has an unwritten breach change (GT-067); else empty.
    """

    FIELDS: ClassVar[Mapping[str, str]] = MappingProxyType(
        {
            "replicas": "replicas",
            "scheduledReplicas": "scheduled",
            "availableReplicas": "available",
            "updatedReplicas": "updated",
            "selector": "selector",
            "observedGeneration": "observed",
            "currentPodCliqueSetGenerationHash": "set_hash",
            "updateProgress": "progress",
        }
    )

    replicas: int | None = None
    scheduled: int | None = None
    available: int | None = None
    updated: int | None = None
    selector: str = ""
    observed: int | None = None
    set_hash: str = ""
    progress: FrozenMap = EMPTY
    updating: bool = False
    old_spelling: bool = False
    conditions: tuple[Condition, ...] = ()
    stored_conditions: tuple[Condition, ...] = ()


class ScalingGroup(Resource, frozen=True, kw_only=True):
    """The fields of a PodCliqueScalingGroup that decisions use.

    Attributes:
        replica_index: of the set's replica.
        replicas, min_available: of the object, not of the template; an absent ``minAvailable`` is 1 (GT-025).
        clique_names: short names of its cliques, in order.
        generation: increases with every change of the spec; None where absent.
        created_at: None where absent.
        labels, annotations: as stored.
    """

    replica_index: int
    replicas: int
    min_available: int
    clique_names: tuple[str, ...]
    generation: int | None = None
    created_at: datetime | None = None
    labels: FrozenMap = EMPTY
    annotations: FrozenMap = EMPTY
    status: GroupStatus

    @property
    def template_name(self) -> str:
        """The name of its scaling group in the template of the set."""
        return self.ref.name.removeprefix(f"{self.owner_name}-{self.replica_index}-")

    @property
    def needed_replicas(self) -> int:
        """The number of replicas that have to stay: ``minAvailable``, or ``replicas`` where that is less (GT-025)."""
        return min(self.min_available, self.replicas)


def scaling_group_from_json(raw: Mapping[str, object], shared: MutableMapping[str, str] | None = None) -> ScalingGroup:
    """Read a scaling group; raises MalformedObject with every problem (IN-030)."""
    top = JsonFieldReader(raw, "", [])
    identity = read_metadata(top, GROVE, "PodCliqueScalingGroup", shared)
    labels = read_labels(top)
    meta, spec, status = top.inner_object("metadata"), top.inner_object("spec"), top.inner_object("status")
    replicas = spec.integer("replicas")
    updating, progress = read_update_progress(status)
    in_owner = replica_index_in_name(identity["owner_name"], identity["ref"].name) if identity["owner_name"] else None
    return top.result_or_problems(
        ScalingGroup(
            **identity,
            replica_index=read_replica_index(labels, SET_REPLICA, in_owner),
            replicas=1 if replicas is None else replicas,
            min_available=spec.integer("minAvailable", at_least=1) or 1,
            clique_names=spec.text_list("cliqueNames"),
            generation=meta.integer("generation"),
            created_at=read_creation_time(meta),
            labels=stored_inner_object(labels),
            annotations=stored_inner_object(meta.inner_object("annotations")),
            status=GroupStatus(
                updating=updating,
                old_spelling=has_old_update_progress_key(status),
                progress=stored_inner_object(progress),
                updated=status.integer("updatedReplicas"),
                selector=status.text("selector"),
                observed=status.integer("observedGeneration"),
                set_hash=status.text("currentPodCliqueSetGenerationHash"),
                conditions=read_conditions(status),
                replicas=status.integer("replicas"),
                scheduled=status.integer("scheduledReplicas"),
                available=status.integer("availableReplicas"),
            ),
        )
    )
