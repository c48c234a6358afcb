"""Base model of configuration files, and what operator and webhooks share; every mistake is reported at once."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Annotated, Any, Final, Literal, TypeVar, get_args

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic import model_validator as validator
from pydantic.alias_generators import to_camel
from pydantic_core import InitErrorDetails, PydanticCustomError

from grove_core.kernel.errors import ObjectProblem, ProblemKind
from grove_core.kernel.time_formats import parse_duration
from grove_core.resources.cluster_topology import TopologyLevel, topology_level_problems
from grove_core.resources.configuration import (
    ComputeDomainFormatName,
    GangBackend,
    MnnvlConfiguration,
    MnnvlMode,
    TopologyAwareSettings,
)
from grove_core.resources.json_field_reader import short_json
from grove_core.resources.naming_rules import is_dns_label, is_dns_subdomain

API_VERSION: Final = "operator.config.grove.io/v1alpha1"
_PORTS: Final = 65_535
_CENTURY: Final = 100 * 365 * 24 * 3600
_KINDS: Final[Mapping[str, ProblemKind]] = {
    "missing": ProblemKind.MISSING,
    "extra_forbidden": ProblemKind.UNKNOWN_FIELD,
}


def _seconds(value: object) -> object:
    """Return the seconds of a Go duration; a plain number is refused, since it has no unit."""
    span = parse_duration(value) if isinstance(value, str) else None
    if span is None:
        raise ValueError('a duration such as "15s"')
    return span.total_seconds()


def _object_name(text: str) -> str:
    if not is_dns_subdomain(text):
        raise ValueError("a DNS subdomain, as objects are named")
    return text


def _label(text: str) -> str:
    if not is_dns_label(text):
        raise ValueError("a DNS label, as namespaces and Services are named")
    return text


ObjectName = Annotated[str, AfterValidator(_object_name)]
"""Checked here, since an API server would refuse a bad name only when it is used."""
LabelName = Annotated[str, AfterValidator(_label)]
OptionalNamespace = Annotated[str, AfterValidator(lambda text: text and _label(text))]
"""A namespace; empty for the process's own."""
_Duration = BeforeValidator(_seconds, json_schema_input_type=str)
Seconds = Annotated[float, _Duration, Field(gt=0, le=3600)]
GoSeconds = Annotated[float, _Duration, Field(ge=0)]
"""A duration of the Go operator's configuration, where zero stands for the default."""
Lifetime = Annotated[float, _Duration, Field(gt=0, le=_CENTURY)]
Port = Annotated[int, Field(ge=0, le=_PORTS)]


class StrictSettingsModel(BaseModel):
    """A part of a configuration, in camelCase; unknown fields are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=to_camel, populate_by_name=True, strict=True)


S = TypeVar("S", bound=StrictSettingsModel)


class HealthEndpointSettings(StrictSettingsModel):
    """Address of the health and metrics endpoints; an empty ``host`` is every IPv4 and IPv6 address (OP-110)."""

    host: str = ""
    port: Port = 8080


def parse_settings_strictly(
    model: type[S], raw: Mapping[str, Any], otherwise: Callable[[], S]
) -> tuple[S, tuple[ObjectProblem, ...]]:
    """Return a file as a model, and its problems; with problems, the result of ``otherwise``."""
    try:
        return model.model_validate(raw), ()
    except ValidationError as fault:
        return otherwise(), tuple(_problems_of(fault, model))


def _problems_of(fault: ValidationError, model: type[BaseModel]) -> Iterator[ObjectProblem]:
    for error in fault.errors():
        path, got = ".".join(map(str, error["loc"])), short_json(error["input"])
        expected = error["msg"].removeprefix("Value error, ").removeprefix("Input should be ")
        kind = problem_kind_of(error["type"])
        if kind is ProblemKind.UNKNOWN_FIELD:
            *outer, name = map(str, error["loc"])
            near = get_close_matches(name, field_names_at(model, outer), n=1)
            expected = "unknown field" + (f"; did you mean {near[0]}?" if near else "")
        if kind is ProblemKind.MISSING:
            expected, got = "a value", "nothing"
        yield ObjectProblem(path=path, expected=expected, got=got, kind=kind)


def problem_kind_of(error_type: str) -> ProblemKind:
    """Return the kind of a validation error, by the type that pydantic gives it."""
    return _KINDS.get(error_type, ProblemKind.WRONG_VALUE)


def field_names_at(model: type[BaseModel], path: Iterable[object]) -> list[str]:
    """Return the field names of the part of a model at a location, as they are named in a file."""
    for step in path:
        kinds = [field.annotation for name, field in model.model_fields.items() if step in {name, field.alias}]
        model = next((part for kind in kinds for part in _models_in(kind)), model)
    return [field.alias or name for name, field in model.model_fields.items()]


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:  # noqa: ANN401 - any annotation
    """Yield the models that a type annotation contains."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models_in(part)


class TopologyLevelSettings(StrictSettingsModel):
    """One level: its name, and the key of the node label."""

    domain: str
    key: str


def _level_error(problem: ObjectProblem) -> InitErrorDetails:
    """Return a problem of levels as an error of pydantic, located below the topology's settings."""
    location = tuple(int(part) if part.isdecimal() else part for part in re.findall(r"\w+", problem.path))
    error = PydanticCustomError("level", "{expected}", {"expected": problem.expected})
    got = problem.got if location else int(problem.got)  # the number of levels
    return InitErrorDetails(type=error, loc=("levels", *location), input=got)


class TopologySettings(StrictSettingsModel):
    """Whether pods are placed by topology, and the default topology.

    Attributes:
        levels: of the default topology, from broad to narrow.
    """

    enabled: bool = False
    levels: Annotated[tuple[TopologyLevelSettings, ...], Field(strict=False)] = ()

    @validator(mode="after")
    def _sound(self) -> "TopologySettings":
        """Validate the levels as those of any topology, all at once (TP-080)."""
        problems = topology_level_problems(self.as_configuration.levels) if self.enabled or self.levels else ()
        if errors := list(map(_level_error, problems)):
            raise ValidationError.from_exception_data("levels", errors)
        return self

    @property
    def as_configuration(self) -> TopologyAwareSettings:
        """The settings as decisions use them."""
        return TopologyAwareSettings(self.enabled, tuple(TopologyLevel(one.domain, one.key) for one in self.levels))


class SchedulingSettings(StrictSettingsModel):
    """What places gangs. ``backend`` ``auto``: the Workload API of Kubernetes where it is served, else PodGangs."""

    backend: Literal["auto", "podgang", "kubernetes"] = "auto"

    @property
    def as_configuration(self) -> GangBackend | None:
        """The setting as decisions use it."""
        return None if self.backend == "auto" else GangBackend(self.backend)


class MnnvlSettings(StrictSettingsModel):
    """Whether sets get ComputeDomains, in which way, and how these are written.

    Attributes:
        mode: ``operator``: one for each replica of every set with GPUs that does not opt out; ``annotations``: where
            sets ask for one.
        compute_domain_shape: ``auto`` is that of the cluster.
    """

    enabled: bool = False
    mode: Literal["operator", "annotations"] = "operator"
    compute_domain_shape: Literal["auto", "design", "nvidia"] = "auto"

    @property
    def as_configuration(self) -> MnnvlConfiguration:
        """The settings as decisions use them."""
        shape = None if self.compute_domain_shape == "auto" else ComputeDomainFormatName(self.compute_domain_shape)
        return MnnvlConfiguration(self.enabled, MnnvlMode(self.mode), shape)


class GoOperatorNetworkSettings(StrictSettingsModel):
    """The field of the Go operator's configuration."""

    auto_mnnvl_enabled: bool = Field(default=False, alias="autoMNNVLEnabled")
