"""The obvious other way to hold a pod: nested frozen pydantic models of the parts that an operator looks at."""

from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", alias_generator=to_camel, populate_by_name=True)


class OwnerReference(_Part):
    """``metadata.ownerReferences[]``."""

    api_version: str
    kind: str
    name: str
    uid: str
    controller: bool = False


class Metadata(_Part):
    """``metadata``."""

    name: str
    namespace: str = "default"
    uid: str = ""
    resource_version: str = ""
    creation_timestamp: datetime | None = None
    deletion_timestamp: datetime | None = None
    labels: dict[str, str] = {}
    owner_references: tuple[OwnerReference, ...] = ()


class Resources(_Part):
    """``spec.containers[].resources``."""

    limits: dict[str, str] = {}
    requests: dict[str, str] = {}


class Container(_Part):
    """``spec.containers[]``."""

    name: str
    image: str
    resources: Resources = Resources()


class SchedulingGate(_Part):
    """``spec.schedulingGates[]``."""

    name: str


class Spec(_Part):
    """``spec``."""

    node_name: str = ""
    hostname: str = ""
    containers: tuple[Container, ...] = ()
    scheduling_gates: tuple[SchedulingGate, ...] = ()


class Condition(_Part):
    """``status.conditions[]``."""

    type: str
    status: str
    reason: str = ""
    message: str = ""
    last_transition_time: datetime | None = None


class ContainerStatus(_Part):
    """``status.containerStatuses[]``."""

    name: str
    ready: bool = False
    restart_count: int = 0
    state: dict[str, Any] = {}


class Status(_Part):
    """``status``."""

    phase: str = ""
    conditions: tuple[Condition, ...] = ()
    container_statuses: tuple[ContainerStatus, ...] = ()


class PodModel(_Part):
    """A pod."""

    metadata: Metadata
    spec: Spec = Spec()
    status: Status = Status()
