"""PodClique: a group of pods with the same template."""

from collections.abc import Mapping, MutableMapping
from datetime import datetime
from types import MappingProxyType
from typing import ClassVar, TypedDict

from grove_core.kernel.conditions import Condition
from grove_core.kernel.frozen import EMPTY, FrozenMap
from grove_core.kernel.refs import Ref
from grove_core.kernel.structs import Struct
from grove_core.resources.api_names import BASE_GANG, GROUP_KIND, GROVE, POD_GANG, TEMPLATE_HASH, UPDATE_POD_HASH
from grove_core.resources.json_field_reader import JsonFieldReader
from grove_core.resources.labels import GROUP_REPLICA, SET, SET_REPLICA
from grove_core.resources.metadata_readers import (
    Resource,
    has_old_update_progress_key,
    read_conditions,
    read_creation_time,
    read_label,
    read_labels,
    read_metadata,
    read_replica_index,
    read_update_progress,
    stored_inner_object,
)
from grove_core.resources.naming_rules import replica_index_in_name


class CliqueStatus(Struct, frozen=True, kw_only=True):
    """A PodClique's stored status; None where a field is absent.

    Attributes:
        recorded: whether any operator has written a status yet (GT-015, GT-016).
        updating: whether an update of it runs (GT-018).
        old_spelling: whether the update is stored under its older name, which GF-080 ignores.
        update_hash: template hash that the update aims at; empty without progress.
        progress: of the last update, as stored; empty where there was none.
        current_hash: template hash of the last complete update.
        set_hash: generation hash of the set at the last complete update.
        selector: of its pods, for autoscalers.
        observed: generation of the clique that the status is about.
        stored_conditions: those stored, where ``conditions`` has an unwritten breach change (GT-067); else empty.
    """

    FIELDS: ClassVar[Mapping[str, str]] = MappingProxyType(
        {
            "replicas": "replicas",
            "readyReplicas": "ready",
            "scheduledReplicas": "scheduled",
            "scheduleGatedReplicas": "gated",
            "updatedReplicas": "updated",
            "wasAvailable": "was_available",
            "hpaPodSelector": "selector",
            "observedGeneration": "observed",
            "currentPodTemplateHash": "current_hash",
            "currentPodCliqueSetGenerationHash": "set_hash",
            "updateProgress": "progress",
        }
    )

    recorded: bool = False
    replicas: int | None = None
    ready: int | None = None
    scheduled: int | None = None
    gated: int | None = None
    updated: int | None = None
    was_available: bool | None = None
    updating: bool = False
    old_spelling: bool = False
    update_hash: str = ""
    progress: FrozenMap = EMPTY
    current_hash: str = ""
    set_hash: str = ""
    selector: str = ""
    observed: int | None = None
    conditions: tuple[Condition, ...] = ()
    stored_conditions: tuple[Condition, ...] = ()


class PodClique(Resource, frozen=True, kw_only=True):
    """The fields of a PodClique that decisions use.

    Attributes:
        replica_index: of the set's replica; in a snapshot that of its scaling group where it has one.
        group_replica_index: of the scaling group's replica; -1 outside of one (:attr:`is_in_scaling_group`).
        min_available: how many ready pods it needs; where absent, all of them (GT-025).
        template_hash: from its label; empty where absent.
        base_gang: the PodGang that has to be placed before its pods are; empty where there is none.
        starts_after: full names of the cliques whose pods have to be ready before its pods start.
        generation: increases with every change of the spec; None where absent.
        created_at: None where absent.
        labels, annotations, pod_spec: as stored; its pods are created from them.
        auto_scaling: ``autoScalingConfig`` as stored.
    """

    replica_index: int
    group_replica_index: int
    replicas: int
    min_available: int
    template_hash: str
    base_gang: str = ""
    starts_after: tuple[str, ...] = ()
    generation: int | None = None
    created_at: datetime | None = None
    labels: FrozenMap = EMPTY
    annotations: FrozenMap = EMPTY
    pod_spec: FrozenMap = EMPTY
    auto_scaling: FrozenMap = EMPTY
    status: CliqueStatus

    @property
    def is_in_scaling_group(self) -> bool:
        """Whether it belongs to a replica of a scaling group; if not, it is standalone."""
        return self.owner_kind == GROUP_KIND

    @property
    def needed_ready_pods(self) -> int:
        """The number of ready pods that make it available: at most ``minAvailable`` and ``replicas`` (WL-215)."""
        return min(self.min_available, self.replicas)

    @property
    def template_name(self) -> str:
        """The name of its clique in the template of the set."""
        index = self.group_replica_index if self.is_in_scaling_group else self.replica_index
        return self.ref.name.removeprefix(f"{self.owner_name}-{index}-")

    def enclosing_replicas(self, root: Ref) -> tuple[Ref, ...]:
        """Return the replicas that it is part of, the nearest first: of its scaling group, then of its root."""
        of_set = root.at_replica(self.replica_index)
        if not self.is_in_scaling_group:
            return (of_set,)
        return (Ref(GROVE, GROUP_KIND, self.ref.namespace, self.owner_name, self.group_replica_index), of_set)

    @property
    def gang(self) -> str:
        """The PodGang that its label names; empty where it names none."""
        return str(self.labels.get(POD_GANG, ""))

    @property
    def target_template_hash(self) -> str:
        """The template hash that updated pods carry (GT-002)."""
        return self.status.update_hash or self.template_hash or self.status.current_hash


class CliqueLabels(TypedDict):
    """The fields of a :class:`PodClique` that come from its labels and name."""

    replica_index: int
    group_replica_index: int
    template_hash: str
    base_gang: str


def read_clique_labels(labels: JsonFieldReader, owner_kind: str, owner_name: str, name: str) -> CliqueLabels:
    """Return the fields that come from a clique's labels; indices in its name win over them (GT-026).

    For a clique of a scaling group, the group's name has the index of the set's replica.

    Args:
        owner_kind, owner_name: of its controller; empty where there is none.
        name: of the PodClique.
    """
    is_member = owner_kind == GROUP_KIND
    in_owner = replica_index_in_name(owner_name, name) if owner_name else None
    in_set = replica_index_in_name(read_label(labels, SET), owner_name) if is_member else in_owner
    return CliqueLabels(
        replica_index=read_replica_index(labels, SET_REPLICA, in_set, is_known=is_member),
        group_replica_index=read_replica_index(labels, GROUP_REPLICA, in_owner) if is_member else -1,
        template_hash=labels.text(TEMPLATE_HASH),
        base_gang=labels.text(BASE_GANG),
    )


def podclique_from_json(raw: Mapping[str, object], shared: MutableMapping[str, str] | None = None) -> PodClique:
    """Read a PodClique; raises MalformedObject with every problem (IN-030)."""
    top = JsonFieldReader(raw, "", [])
    identity = read_metadata(top, GROVE, "PodClique", shared)
    labels, spec, status = read_labels(top), top.inner_object("spec"), top.inner_object("status")
    meta, replicas = top.inner_object("metadata"), spec.integer("replicas")
    replicas = 1 if replicas is None else replicas
    min_available = spec.integer("minAvailable", at_least=1)
    updating, progress = read_update_progress(status)
    return top.result_or_problems(
        PodClique(
            **identity,
            **read_clique_labels(labels, identity["owner_kind"], identity["owner_name"], identity["ref"].name),
            replicas=replicas,
            min_available=replicas if min_available is None else min_available,
            starts_after=spec.text_list("startsAfter"),
            generation=meta.integer("generation"),
            created_at=read_creation_time(meta),
            labels=stored_inner_object(labels),
            annotations=stored_inner_object(meta.inner_object("annotations")),
            pod_spec=stored_inner_object(spec.inner_object("podSpec")),
            auto_scaling=stored_inner_object(spec.inner_object("autoScalingConfig")),
            status=CliqueStatus(
                recorded=bool(status.raw),
                updating=updating,
                old_spelling=has_old_update_progress_key(status),
                update_hash=progress.text(UPDATE_POD_HASH),
                progress=stored_inner_object(progress),
                current_hash=status.text("currentPodTemplateHash"),
                set_hash=status.text("currentPodCliqueSetGenerationHash"),
                selector=status.text("hpaPodSelector"),
                observed=status.integer("observedGeneration"),
                conditions=read_conditions(status),
                was_available=status.boolean("wasAvailable"),
                replicas=status.integer("replicas"),
                ready=status.integer("readyReplicas"),
                scheduled=status.integer("scheduledReplicas"),
                gated=status.integer("scheduleGatedReplicas"),
                updated=status.integer("updatedReplicas"),
            ),
        )
    )
