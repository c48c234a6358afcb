"""The spec of a PodCliqueSet: what people write. Validated by pydantic, whose messages they read.

Rule for this file: shapes only. Whether a sound value is allowed is the business of admission.
"""

import re
from collections.abc import Mapping
from datetime import timedelta
from types import MappingProxyType
from typing import Annotated, Any, Final

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictInt,
    StrictStr,
    ValidationError,
    WithJsonSchema,
)
from pydantic import model_validator as validator
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from grove_core.kernel.durations import parse_duration
from grove_core.kernel.errors import Problem
from grove_core.kernel.frozen import FrozenMap, freeze
from grove_core.resources.fields import shown

ANY_ORDER: Final = "CliqueStartupTypeAnyOrder"
IN_ORDER: Final = "CliqueStartupTypeInOrder"
EXPLICIT: Final = "CliqueStartupTypeExplicit"
STARTUP_TYPES: Final = (ANY_ORDER, IN_ORDER, EXPLICIT)
ALL_REPLICAS: Final = "AllReplicas"
PER_REPLICA: Final = "PerReplica"
SCOPES: Final = (ALL_REPLICAS, PER_REPLICA)
ROLLING_RECREATE: Final = "RollingRecreate"
ON_DELETE: Final = "OnDelete"
UPDATE_STRATEGIES: Final = (ROLLING_RECREATE, ON_DELETE)

_INT32: Final = 2**31 - 1
_EXPECTED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "bool_type": "true or false",
        "int_type": "an integer",
        "string_type": "a string",
        "missing": "a value",
        "tuple_type": "a list",
        "model_type": "an object",
        "model_attributes_type": "an object",
        "less_than_equal": "an integer of at most 2147483647",
        "greater_than_equal": "an integer of at least -2147483648",
    }
)
_SIGNED: Final = re.compile(r"-[0-9.a-zµμ]+")


def _duration(value: object) -> object:
    if isinstance(value, timedelta):
        return value
    span = parse_duration(value) if isinstance(value, str) else None
    if span is None and isinstance(value, str) and _SIGNED.fullmatch(value):
        span = parse_duration(value[1:])
        span = None if span is None else -span
    if span is None:
        raise PydanticCustomError("duration", 'a duration such as "4h" or "1h30m"')
    return span


def _object(value: object) -> object:
    if not isinstance(value, Mapping):
        raise PydanticCustomError("object", "an object")
    return freeze(value)


def _texts(value: object) -> object:
    if not isinstance(value, Mapping) or any(not isinstance(text, str) for text in value.values()):
        raise PydanticCustomError("texts", "an object whose values are strings")
    return FrozenMap(value)


# The schema beside each type is what a custom resource definition says of it (MF-001).
GoDuration = Annotated[timedelta, BeforeValidator(_duration), WithJsonSchema({"type": "string"})]
Count = Annotated[StrictInt, Field(ge=-_INT32 - 1, le=_INT32), WithJsonSchema({"type": "integer", "format": "int32"})]
Opaque = Annotated[
    FrozenMap,
    BeforeValidator(_object),
    WithJsonSchema({"type": "object", "x-kubernetes-preserve-unknown-fields": True}),
]
Texts = Annotated[
    FrozenMap,
    BeforeValidator(_texts),
    WithJsonSchema({"type": "object", "additionalProperties": {"type": "string"}}),
]
StartupType = Annotated[StrictStr, WithJsonSchema({"type": "string", "enum": list(STARTUP_TYPES)})]
Scope = Annotated[StrictStr, WithJsonSchema({"type": "string", "enum": list(SCOPES)})]
UpdateType = Annotated[StrictStr, WithJsonSchema({"type": "string", "enum": list(UPDATE_STRATEGIES)})]
_NOTHING: Final = FrozenMap({})


class _Resource(BaseModel):
    """Base of the parts of what people write: frozen, camelCase, unknown fields ignored, null the same as absent."""

    # Built when the first set is read, once and as one: a class at a time takes three times as long to start.
    model_config = ConfigDict(
        frozen=True,
        extra="ignore",
        alias_generator=to_camel,
        populate_by_name=True,
        arbitrary_types_allowed=True,
        defer_build=True,
    )

    @validator(mode="before")
    @classmethod
    def _null_is_absent(cls, value: object) -> object:
        return {key: item for key, item in value.items() if item is not None} if isinstance(value, Mapping) else value


class AutoScaling(_Resource):
    """``autoScalingConfig`` of a clique, ``scaleConfig`` of a scaling group; ``metrics`` as the HPA takes them."""

    min_replicas: Count | None = None
    max_replicas: Count
    metrics: tuple[Opaque, ...] = ()


def most_replicas(replicas: int, scaling: AutoScaling | None) -> int:
    """How many there may come to be, at least one: what the manifest asks for, or what its autoscaler may ask for."""
    return max(1, replicas, scaling.max_replicas if scaling is not None else 1)


class SharingFilter(_Resource):
    """Who takes part in a shared claim."""

    child_clique_names: tuple[StrictStr, ...] = ()
    child_scaling_group_names: tuple[StrictStr, ...] = ()


class ResourceSharing(_Resource):
    """One entry of ``resourceSharing``: a claim template, and how many claims are made of it."""

    name: StrictStr
    namespace: StrictStr = ""
    scope: Scope
    filter: SharingFilter | None = None

    def concerns(self, clique: str, group: str = "") -> bool:
        """Whether the pods of a clique share it, by the name of the clique or of the scaling group that it is in."""
        chosen = self.filter
        return chosen is None or clique in chosen.child_clique_names or group in chosen.child_scaling_group_names


class ClaimTemplate(_Resource):
    """One entry of ``resourceClaimTemplates``."""

    name: StrictStr
    template_spec: Opaque


class CliqueSpec(_Resource):
    """``cliques[].spec``; counts as written, thresholds still unjudged."""

    role_name: StrictStr = ""
    pod_spec: Opaque = _NOTHING
    replicas: Count = 1
    min_available: Count | None = None
    starts_after: tuple[StrictStr, ...] = ()
    auto_scaling_config: AutoScaling | None = None


class PackConstraint(_Resource):
    """``pack`` of a topology constraint: domains that pods must share, and that they should."""

    required: StrictStr = ""
    preferred: StrictStr = ""


class TopologyConstraint(_Resource):
    """``topologyConstraint`` of a set, a scaling group or a clique.

    Attributes:
        topology_name: where released manifests name the topology.
        pack_domain: the design's word for ``pack.required``.
    """

    topology_name: StrictStr = ""
    pack: PackConstraint = PackConstraint()
    pack_domain: StrictStr = ""

    @property
    def domains(self) -> tuple[str, str]:
        """What its pods must share, and what they should; empty for neither (TP-006)."""
        return self.pack.required or self.pack_domain, self.pack.preferred


class CliqueTemplate(_Resource):
    """One clique of the template."""

    name: StrictStr
    labels: Texts = _NOTHING
    annotations: Texts = _NOTHING
    resource_sharing: tuple[ResourceSharing, ...] = ()
    topology_constraint: TopologyConstraint | None = None
    spec: CliqueSpec

    @property
    def min_available(self) -> int:
        """The threshold that counts (GT-025)."""
        return self.spec.replicas if self.spec.min_available is None else self.spec.min_available


class _Delayed(_Resource):
    """Something with a ``terminationDelay``."""

    termination_delay: GoDuration | None = None

    @property
    def delay(self) -> timedelta | None:
        """The delay if it is one: a stored zero or less turns nothing on (GT-031)."""
        span = self.termination_delay
        return span if span is not None and span > timedelta() else None


class GroupTemplate(_Delayed):
    """One entry of ``podCliqueScalingGroups``."""

    name: StrictStr
    clique_names: tuple[StrictStr, ...]
    annotations: Texts = _NOTHING
    replicas: Count = 1
    min_available: Count = 1
    scale_config: AutoScaling | None = None
    resource_sharing: tuple[ResourceSharing, ...] = ()
    topology_constraint: TopologyConstraint | None = None


class HeadlessService(_Resource):
    """``headlessServiceConfig``."""

    publish_not_ready_addresses: StrictBool = True


class SetTemplate(_Delayed):
    """``spec.template``; without a ``delay`` gang termination is off (GT-031)."""

    cluster_topology_name: StrictStr = ""
    topology_constraint: TopologyConstraint | None = None
    cliques: tuple[CliqueTemplate, ...]
    clique_startup_type: StartupType = ANY_ORDER
    priority_class_name: StrictStr = ""
    headless_service_config: HeadlessService = HeadlessService()
    resource_claim_templates: tuple[ClaimTemplate, ...] = ()
    resource_sharing: tuple[ResourceSharing, ...] = ()
    pod_clique_scaling_groups: tuple[GroupTemplate, ...] = ()


class UpdateStrategy(_Resource):
    """``spec.updateStrategy``."""

    type: UpdateType = ROLLING_RECREATE


class SetSpec(_Resource):
    """``spec`` of a PodCliqueSet."""

    replicas: Count = 0
    update_strategy: UpdateStrategy = UpdateStrategy()
    template: SetTemplate

    @property
    def standalone_cliques(self) -> tuple[CliqueTemplate, ...]:
        """The cliques that no scaling group names, in template order."""
        grouped = {name for group in self.template.pod_clique_scaling_groups for name in group.clique_names}
        return tuple(clique for clique in self.template.cliques if clique.name not in grouped)


def read_spec(raw: object) -> tuple[SetSpec | None, tuple[Problem, ...]]:
    """Read ``spec``: the spec, or every problem of it with its path."""
    try:
        return SetSpec.model_validate(raw, by_name=False), ()
    except ValidationError as fault:
        return None, tuple(_problem_of(error) for error in fault.errors(include_url=False))


def _problem_of(error: Any) -> Problem:  # noqa: ANN401 - pydantic's ErrorDetails
    path = "spec"
    for part in error["loc"]:
        path += f"[{part}]" if isinstance(part, int) else f".{part}"
    kind = str(error["type"])
    got = "nothing" if kind == "missing" else shown(error["input"])
    return Problem(path=path, expected=_EXPECTED.get(kind, str(error["msg"])), got=got)
