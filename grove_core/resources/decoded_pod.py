"""The fields of pods that facts depend on, decoded from JSON; every other field is checked for syntax and skipped.

Files, list pages, watch events and manifests are all decoded to :class:`DecodedPod`, from which
:func:`grove_core.resources.pod.pod_from_fields` makes a pod. A field of the type :class:`msgspec.Raw` is kept as JSON
text, since few pods need its value.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, TypedDict

import msgspec
from msgspec import Raw, Struct

from grove_core.resources.api_names import POD_GANG, POD_INDEX, TEMPLATE_HASH
from grove_core.resources.labels import SET

NO_JSON: Final = Raw(b"")
"""The value of an absent field that is kept as JSON text."""
_OTHER_KEYS: Final = SET.keys[1:]
_OTHER_SET_NAMES: Final = tuple(f"set_name_{place}" for place in range(len(_OTHER_KEYS)))
_OtherSetNames: Any = msgspec.defstruct(
    "_OtherSetNames",
    [
        (name, str | None, msgspec.field(default=None, name=key))
        for name, key in zip(_OTHER_SET_NAMES, _OTHER_KEYS, strict=True)
    ],
    frozen=True,
    gc=False,
)
"""The name of the set under each key of its label but the first one."""


class DecodedPodLabels(_OtherSetNames, frozen=True, gc=False):  # type: ignore[misc, call-arg]  # it is made of the keys of SET
    """Labels of a pod; ``index`` is whatever stands there."""

    first_set_name: str | None = msgspec.field(default=None, name=SET.keys[0])
    template_hash: str | None = msgspec.field(default=None, name=TEMPLATE_HASH)
    gang: str | None = msgspec.field(default=None, name=POD_GANG)
    index: Any = msgspec.field(default=None, name=POD_INDEX)

    @property
    def set_name(self) -> str:
        """The name of the set under the first key that has one; empty without one."""
        return self.first_set_name or next(filter(None, (getattr(self, name) for name in _OTHER_SET_NAMES)), "")


class DecodedOwnerReference(Struct, frozen=True, gc=False):
    """An owner reference."""

    uid: str | None = None
    controller: bool | None = None


class ManagedFields(Struct, frozen=True, gc=False):
    """An entry of ``managedFields``."""

    time: Any = None


class MetadataFields(Struct, frozen=True, gc=False, rename="camel"):
    """Metadata of a pod."""

    name: str
    namespace: str | None = None
    uid: str | None = None
    resource_version: str | None = None
    deletion_timestamp: str | None = None
    creation_timestamp: str | None = None
    labels: DecodedPodLabels | None = None
    owner_references: list[DecodedOwnerReference] | None = None
    managed_fields: list[ManagedFields] | None = None


class DecodedSchedulingGate(Struct, frozen=True, gc=False):
    """A scheduling gate."""

    name: str


class DecodedContainer(Struct, frozen=True, gc=False, rename="camel"):
    """A container or init container of a spec."""

    resources: Raw = NO_JSON
    restart_policy: Any = None


class SchedulingGroupFields(Struct, frozen=True, gc=False, rename="camel"):
    """What a pod names as its PodGroup."""

    pod_group_name: str | None = None


class DecodedPodSpec(Struct, frozen=True, gc=False, rename="camel"):
    """The spec of a pod."""

    node_name: str | None = None
    scheduling_gates: list[DecodedSchedulingGate] | None = None
    scheduling_group: SchedulingGroupFields | None = None
    containers: list[DecodedContainer] | None = None
    init_containers: list[DecodedContainer] | None = None
    resources: Raw = NO_JSON
    overhead: Raw = NO_JSON
    tolerations: Raw = NO_JSON
    readiness_gates: Raw = NO_JSON


class DecodedPodCondition(Struct, frozen=True, gc=False, rename="camel"):
    """A condition of a status; ``status`` is whatever stands there, and of few conditions it counts."""

    type: str
    status: Any = None
    reason: str | None = None
    message: str | None = None
    last_transition_time: str | None = None
    last_probe_time: str | None = None


class DecodedContainerStateDetail(Struct, frozen=True, gc=False, rename="camel"):
    """One of the three states that a container is or was in."""

    reason: str | None = None
    exit_code: int | None = None
    started_at: str | None = None
    finished_at: str | None = None


class DecodedContainerState(Struct, frozen=True, gc=False):
    """The state of a container: at most one of the three."""

    running: DecodedContainerStateDetail | None = None
    waiting: DecodedContainerStateDetail | None = None
    terminated: DecodedContainerStateDetail | None = None


class ContainerStatusFields(Struct, frozen=True, gc=False, rename="camel"):
    """The status of a container."""

    ready: bool | None = None
    started: bool | None = None
    state: DecodedContainerState | None = None
    last_state: DecodedContainerState | None = None


class DecodedPodStatus(Struct, frozen=True, gc=False, rename="camel"):
    """The status of a pod."""

    phase: str | None = None
    reason: str | None = None
    start_time: str | None = None
    conditions: list[DecodedPodCondition] | None = None
    container_statuses: list[ContainerStatusFields] | None = None
    init_container_statuses: list[ContainerStatusFields] | None = None
    ephemeral_container_statuses: list[ContainerStatusFields] | None = None

    @property
    def counted_containers(self) -> Sequence[ContainerStatusFields]:
        """The statuses of init containers and of main containers."""
        first, main = self.init_container_statuses, self.container_statuses
        return (*first, *(main or ())) if first else main or ()


NO_SPEC: Final = DecodedPodSpec()
NO_STATUS: Final = DecodedPodStatus()


class DecodedPod(Struct, frozen=True, gc=False):
    """A pod."""

    metadata: MetadataFields
    spec: DecodedPodSpec | None = None
    status: DecodedPodStatus | None = None


class _StoredMetadata(MetadataFields, frozen=True, gc=False, rename="camel", kw_only=True):
    uid: str


class DecodedStoredPod(DecodedPod, frozen=True, gc=False, rename="camel", kw_only=True):
    """A pod that a server stored, with everything that says that it is one."""

    kind: Literal["Pod"]
    api_version: Literal["v1"]
    metadata: _StoredMetadata


UnreadableFields: Final = (msgspec.MsgspecError, TypeError, ValueError, OverflowError, RecursionError)
"""What decoding raises: JSON of another shape, values that no JSON holds, deep nesting."""


def decode_pod(raw: Mapping[str, Any]) -> DecodedPod:
    """Return the fields of a pod. Raises one of ``UnreadableFields``."""
    return decode_pod_text(msgspec.json.encode(raw))


def decode_pod_text(text: bytes) -> DecodedPod:
    """Return the fields of a pod, given as JSON. Raises one of ``UnreadableFields``."""
    return _POD.decode(text)


def decode_stored_pods(array: str) -> list[DecodedStoredPod]:
    """Return the fields of the pods of a JSON array. Raises one of ``UnreadableFields``."""
    return _STORED_PODS.decode(array)


def decode_whole(text: str | bytes) -> Any:  # noqa: ANN401 - any JSON
    """Return the value of a JSON text. Whole numbers are integers, however they are written.

    Raises one of ``UnreadableFields``, also for a number that is too large.
    """
    return _WHOLE.decode(text)


class _ManifestTexts(TypedDict, total=False):
    name: str
    uid: str | None
    labels: dict[str, Any] | None
    annotations: dict[str, Any] | None


class PodManifestParts(TypedDict, total=False):
    """The parts of a pod that its manifest consists of."""

    metadata: _ManifestTexts
    spec: dict[str, Any] | None


def decode_pod_manifest(text: str | bytes) -> PodManifestParts:
    """Return the manifest of a pod, read as :func:`decode_whole` does. Raises one of ``UnreadableFields``."""
    return _MANIFEST_PARTS.decode(text)


def _number(digits: str) -> float:
    value = float(digits)
    whole = int(value)  # OverflowError for infinity
    return whole if whole == value else value


_POD: Final = msgspec.json.Decoder(DecodedPod)
_STORED_PODS: Final = msgspec.json.Decoder(list[DecodedStoredPod])
_MANIFEST_PARTS: Final = msgspec.json.Decoder(PodManifestParts, float_hook=_number)
_WHOLE: Final = msgspec.json.Decoder(float_hook=_number)


def decode_value(text: Raw) -> Any:  # noqa: ANN401 - any JSON
    """Return the value of a field that is kept as JSON text, read as :func:`decode_whole` does; None where absent."""
    return _WHOLE.decode(text) if text else None
