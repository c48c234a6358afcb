"""The operator's configuration file (OP-020): every field has a default, unknown ones are mistakes."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic import model_validator as validator
from pydantic.alias_generators import to_camel

from grove_core.kernel.durations import parse_duration
from grove_core.kernel.errors import Problem
from grove_core.resources.fields import shown

API_VERSION: Final = "operator.config.grove.io/v1alpha1"
KIND: Final = "OperatorConfiguration"
_PORTS: Final = 65_535


def _seconds(value: object) -> object:
    """Seconds of a Go duration; a number is none, for nobody knows its unit."""
    span = parse_duration(value) if isinstance(value, str) else None
    if span is None:
        raise ValueError('a duration such as "15s"')
    return span.total_seconds()


Seconds = Annotated[float, BeforeValidator(_seconds, json_schema_input_type=str), Field(gt=0, le=3600)]
Port = Annotated[int, Field(ge=0, le=_PORTS)]


class _Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=to_camel, populate_by_name=True, strict=True)


class LeaderElection(_Settings):
    """Who of several processes acts. ``namespace`` is that of the Lease; empty for the process's own."""

    enabled: bool = True
    name: str = "grove-operator-leader-election"
    namespace: str = ""
    lease_duration: Seconds = 15.0
    renew_deadline: Seconds = 10.0
    retry_period: Seconds = 2.0

    @validator(mode="after")
    def _in_order(self) -> "LeaderElection":
        if not self.retry_period < self.renew_deadline < self.lease_duration:
            raise ValueError("retryPeriod < renewDeadline < leaseDuration")
        return self


class Client(_Settings):
    """How hard the API server is pressed. ``qps`` 0: it protects itself (API Priority and Fairness)."""

    qps: Annotated[float, Field(ge=0)] = 0.0
    burst: Annotated[int, Field(ge=1)] = 150
    in_flight: Annotated[int, Field(ge=1, le=1024)] = 32
    timeout: Seconds = 30.0


class Served(_Settings):
    """Where health and metrics are served."""

    host: str = "0.0.0.0"  # noqa: S104 - probes come from outside the pod
    port: Port = 8080


class OperatorSettings(_Settings):
    """Everything an operator is told."""

    api_version: Literal["operator.config.grove.io/v1alpha1"] = API_VERSION
    kind: Literal["OperatorConfiguration"] = KIND
    rules: Literal["design"] = "design"
    workers: Annotated[int, Field(ge=1, le=1024)] = 16
    leader_election: LeaderElection = LeaderElection()
    client: Client = Client()
    serving: Served = Served()


def settings_of(raw: Mapping[str, Any]) -> tuple[OperatorSettings, tuple[Problem, ...]]:
    """Read a configuration; where there are problems, the defaults stand in for it.

    Args:
        raw: as it was written.
    """
    try:
        return OperatorSettings.model_validate(raw), ()
    except ValidationError as fault:
        return OperatorSettings(), tuple(_problems(fault))


def _problems(fault: ValidationError) -> Iterator[Problem]:
    for error in fault.errors():
        path = ".".join(str(step) for step in error["loc"])
        expected = "no such field" if error["type"] == "extra_forbidden" else _expected(error["msg"])
        yield Problem(path=path, expected=expected, got=shown(error["input"]))


def _expected(message: str) -> str:
    return message.removeprefix("Value error, ").removeprefix("Input should be ")
