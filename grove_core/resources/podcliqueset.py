"""PodCliqueSet: what the user wrote. Validated by pydantic, whose messages people read."""

import re
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, field
from datetime import timedelta
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Final

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictInt, StrictStr, ValidationError
from pydantic import model_validator as validator
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from grove_core.kernel.conditions import Condition
from grove_core.kernel.durations import parse_duration
from grove_core.kernel.errors import MalformedObject, Problem
from grove_core.resources.fields import Fields, shown
from grove_core.resources.keys import GROVE
from grove_core.resources.meta import Resource, read_conditions, read_identity

_INT32: Final = 2**31 - 1
_EXPECTED: Final[Mapping[str, str]] = MappingProxyType(
    {
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


GoDuration = Annotated[timedelta, BeforeValidator(_duration)]
Count = Annotated[StrictInt, Field(ge=-_INT32 - 1, le=_INT32)]


class _Resource(BaseModel):
    """Base of what people write: frozen, camelCase, unknown fields ignored, null the same as absent."""

    model_config = ConfigDict(frozen=True, extra="ignore", alias_generator=to_camel, populate_by_name=True)

    @validator(mode="before")
    @classmethod
    def _null_is_absent(cls, value: object) -> object:
        return {key: item for key, item in value.items() if item is not None} if isinstance(value, Mapping) else value


class CliqueSpec(_Resource):
    """``cliques[].spec``; counts as written, thresholds still unjudged."""

    replicas: Count = 1
    min_available: Count | None = None


class CliqueTemplate(_Resource):
    """One clique of the template."""

    name: StrictStr
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
    replicas: Count = 1
    min_available: Count = 1


class SetTemplate(_Delayed):
    """``spec.template``; without a ``delay`` gang termination is off (GT-031)."""

    cliques: tuple[CliqueTemplate, ...]
    pod_clique_scaling_groups: tuple[GroupTemplate, ...] = ()


class SetSpec(_Resource):
    """``spec`` of a PodCliqueSet."""

    replicas: Count = 0
    template: SetTemplate

    @property
    def standalone_cliques(self) -> tuple[CliqueTemplate, ...]:
        """The cliques that no scaling group names, in template order."""
        grouped = {name for group in self.template.pod_clique_scaling_groups for name in group.clique_names}
        return tuple(clique for clique in self.template.cliques if clique.name not in grouped)


@dataclass(frozen=True, slots=True, kw_only=True)
class SetStatus:
    """A PodCliqueSet's stored status; None where a field is absent."""

    FIELDS: ClassVar[Mapping[str, str]] = MappingProxyType({"replicas": "replicas", "availableReplicas": "available"})

    replicas: int | None = None
    available: int | None = None
    conditions: tuple[Condition, ...] = ()


@dataclass(frozen=True, slots=True)
class Shape:
    """What the replicas of a set are made of, and which delays count for them.

    Attributes:
        delay: of the set; None if gang termination is off (GT-031).
        standalone: short names of the standalone cliques, in template order.
        groups: short name of a scaling group -> its effective delay (GT-030).
    """

    delay: timedelta | None
    standalone: tuple[str, ...]
    groups: Mapping[str, timedelta | None]


def _shape_of(spec: SetSpec) -> Shape:
    template, delay = spec.template, spec.template.delay
    return Shape(
        delay=delay,
        standalone=tuple(clique.name for clique in spec.standalone_cliques),
        groups=MappingProxyType(
            {
                group.name: (group.delay or delay) if delay is not None else None
                for group in template.pod_clique_scaling_groups
            }
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PodCliqueSet(Resource):
    """A PodCliqueSet: a root of plans.

    Attributes:
        shape: follows from the spec; taken from it once, because every look at the set needs it.
    """

    spec: SetSpec
    status: SetStatus
    shape: Shape = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", _shape_of(self.spec))


def podcliqueset_of(raw: Mapping[str, Any], shared: MutableMapping[str, str] | None = None) -> PodCliqueSet:
    """Read a PodCliqueSet.

    Args:
        raw: the object; unknown fields are ignored, missing ones have defaults.
        shared: strings seen before, so that equal ones are one.

    Raises:
        MalformedObject: with every problem (IN-030).
    """
    problems: list[Problem] = []
    top = Fields(raw, "", problems)
    identity = read_identity(top, GROVE, "PodCliqueSet", shared)
    status = top.part("status")
    read = SetStatus(
        replicas=status.integer("replicas"),
        available=status.integer("availableReplicas"),
        conditions=read_conditions(status),
    )
    spec = None
    try:
        spec = SetSpec.model_validate(top.raw.get("spec"), by_name=False)
    except ValidationError as fault:
        problems.extend(_problem_of(error) for error in fault.errors(include_url=False))
    if problems or spec is None:
        raise MalformedObject(tuple(problems))
    return PodCliqueSet(**identity, spec=spec, status=read)


def _problem_of(error: Any) -> Problem:  # noqa: ANN401 - pydantic's ErrorDetails
    path = "spec"
    for part in error["loc"]:
        path += f"[{part}]" if isinstance(part, int) else f".{part}"
    kind = str(error["type"])
    got = "nothing" if kind == "missing" else shown(error["input"])
    return Problem(path=path, expected=_EXPECTED.get(kind, str(error["msg"])), got=got)
