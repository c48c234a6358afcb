"""The parts of a pod template that admission validates."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from grove_core.kernel.errors import Problem
from grove_core.resources.fields import Fields


@dataclass(frozen=True, slots=True)
class Container:
    """One container or init container: its path in the pod spec, and the names of its variables."""

    path: str
    env: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PodTemplate:
    """The validated parts of a pod template; empty or 0 where absent."""

    scheduler_name: str
    node_name: str
    restart_policy: str
    spread_constraints: int
    containers: tuple[Container, ...]


def read_pod_template(raw: Mapping[str, Any], path: str, problems: list[Problem]) -> PodTemplate:
    """Read a pod spec at ``path``; problems are added to ``problems``."""
    spec = Fields(raw, path, problems)
    return PodTemplate(
        scheduler_name=spec.text("schedulerName"),
        node_name=spec.text("nodeName"),
        restart_policy=spec.text("restartPolicy"),
        spread_constraints=sum(1 for _ in spec.parts("topologySpreadConstraints")),
        containers=tuple(
            Container(f"{key}[{index}]", tuple(variable.text("name") for variable in container.parts("env")))
            for key in ("containers", "initContainers")
            for index, container in enumerate(spec.parts(key))
        ),
    )


def read_device_requests(raw: Mapping[str, Any], path: str, problems: list[Problem]) -> int:
    """Return the number of device requests in the ``templateSpec`` of a ResourceClaimTemplate at ``path``."""
    devices = Fields(raw, path, problems).part("spec").part("devices")
    return sum(1 for _ in devices.parts("requests"))
