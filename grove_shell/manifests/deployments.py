"""The operator and the webhooks as Deployments, and what every program has (MF-023, MF-025)."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from grove_shell.manifests.installation import (
    OPERATOR,
    REPLICAS,
    WEBHOOKS,
    InstallationOptions,
    Json,
    program_labels,
    program_object_manifest,
)
from grove_shell.manifests.webhook_registrations import HTTPS, webhook_configuration_manifests
from grove_shell.settings.operator_settings import KIND as OPERATOR_KIND
from grove_shell.settings.operator_settings import parse_operator_settings
from grove_shell.settings.shared_settings import API_VERSION
from grove_shell.settings.webhook_settings import KIND as WEBHOOKS_KIND
from grove_shell.settings.webhook_settings import (
    PREVIEW_PROGRAM,
    WebhookSettings,
)


def _resources(cpu: str, memory: str, most_memory: str) -> Json:
    """Return requests and limits: no limit of CPU, since a throttled leader loses its Lease; logs take up the disk."""
    return {
        "requests": {"cpu": cpu, "memory": memory, "ephemeral-storage": "64Mi"},
        "limits": {"memory": most_memory, "ephemeral-storage": "512Mi"},
    }


RESOURCES: Final[dict[str, Json]] = {
    OPERATOR: _resources("100m", "256Mi", "2Gi"),
    WEBHOOKS: _resources("50m", "128Mi", "512Mi"),
    PREVIEW_PROGRAM: _resources("50m", "128Mi", "512Mi"),
}
_USER_ID: Final = 65_532
_CONFIG: Final = "/etc/grove/config"
_FILE: Final = "config.json"
_CHECKSUM: Final = "checksum/config"
_GRACE: Final = 40  # s; reconciles have 20 s to end, and reviews 15 s


def operator_manifests(installation: InstallationOptions) -> Iterator[Json]:
    """Yield the objects of the operator."""
    args = [
        "operator",
        f"--own-image={installation.image}",
        *([f"--namespace={installation.watched}"] if installation.watched else []),
    ]
    said = None
    if installation.has_configuration_file(OPERATOR):
        kind = {"kind": OPERATOR_KIND}
        said = {
            "apiVersion": API_VERSION,
            **(installation.operator or {**kind, **settings_shared_by_programs(installation)}),
        }
        yield configuration_manifest(installation, OPERATOR, said)
    settings, _ = parse_operator_settings(installation.operator)
    yield deployment_manifest(installation, OPERATOR, args, {"http": settings.serving.port}, said)
    yield disruption_budget_manifest(installation, OPERATOR)


def webhook_manifests(installation: InstallationOptions) -> Iterator[Json]:
    """Yield the objects of the webhooks; the registration is last, since it blocks admission until they respond."""
    settings = WebhookSettings()
    args = ["webhooks", *([f"--watch-namespace={installation.watched}"] if installation.watched else [])]
    ports = {"https": settings.listening.port, "http": settings.serving.port}
    said = None
    if installation.has_configuration_file(WEBHOOKS):
        said = {"apiVersion": API_VERSION, "kind": WEBHOOKS_KIND, **settings_shared_by_programs(installation)}
        yield configuration_manifest(installation, WEBHOOKS, said)
    yield service_manifest(installation, WEBHOOKS, settings.registration.service)
    yield deployment_manifest(installation, WEBHOOKS, args, ports, said)
    yield disruption_budget_manifest(installation, WEBHOOKS)
    yield from webhook_configuration_manifests(installation)


def service_manifest(installation: InstallationOptions, program: str, name: str) -> Json:
    """Return the Service by which the API server calls a program."""
    spec = {
        "selector": program_labels(program),
        "ports": [{"name": "https", "port": HTTPS, "targetPort": "https", "protocol": "TCP"}],
    }
    return program_object_manifest("v1", "Service", name, program, installation.namespace_metadata, spec=spec)


def settings_shared_by_programs(installation: InstallationOptions) -> Json:
    """Return the settings that all programs have to agree on."""
    shape = installation.mnnvl.shape
    mnnvl = {
        "enabled": installation.mnnvl.enabled,
        "mode": installation.mnnvl.mode.value,
        "computeDomainShape": "auto" if shape is None else shape.value,
    }
    levels = [level._asdict() for level in installation.topology.levels]
    topology = {"enabled": installation.topology.enabled, "levels": levels}
    backend = installation.gang_backend
    scheduling = {"scheduling": {"backend": backend.value}} if backend is not None else {}
    return {"mnnvl": mnnvl, "topologyAwareScheduling": topology, **scheduling}


def configuration_manifest(installation: InstallationOptions, program: str, said: Mapping[str, Any]) -> Json:
    """Return the configuration of a program, as the file that it reads (MF-027)."""
    text = json.dumps(said, indent=2)
    return program_object_manifest(
        "v1", "ConfigMap", f"{program}-config", program, installation.namespace_metadata, data={_FILE: text}
    )


def _checksum(said: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a configuration as compact JSON with sorted keys, which is how Helm writes it."""
    text = json.dumps(said, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def deployment_manifest(
    installation: InstallationOptions,
    program: str,
    args: list[str],
    ports: dict[str, int],
    said: Mapping[str, Any] | None,
) -> Json:
    """Return the Deployment of a program: two replicas on different nodes, restricted (MF-023).

    Args:
        said: its configuration, whose change replaces the pods (MF-032); None if it has no file.
    """
    labels = program_labels(program)
    metadata: Json = {"labels": labels}
    if said is not None:
        metadata["annotations"] = {_CHECKSUM: _checksum(said)}
    spread = {
        "maxSkew": 1,
        "topologyKey": "kubernetes.io/hostname",
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": labels},
    }
    pod = {
        "serviceAccountName": program,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": _USER_ID,
            "runAsGroup": _USER_ID,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "terminationGracePeriodSeconds": _GRACE,
        "topologySpreadConstraints": [spread],
        "containers": [_container(installation, program, args, ports, has_file=said is not None)],
        "volumes": [
            {"name": "tmp", "emptyDir": {"medium": "Memory", "sizeLimit": "16Mi"}},
            *([{"name": "config", "configMap": {"name": f"{program}-config"}}] if said is not None else []),
        ],
    }
    spec = {
        "replicas": REPLICAS,
        "selector": {"matchLabels": labels},
        "template": {"metadata": metadata, "spec": pod},
    }
    return program_object_manifest(
        "apps/v1", "Deployment", program, program, installation.namespace_metadata, spec=spec
    )


def _container(
    installation: InstallationOptions, program: str, args: list[str], ports: dict[str, int], *, has_file: bool
) -> Json:
    return {
        "name": program.removeprefix("grove-"),
        "image": installation.image,
        "args": [*args, *([f"--config={_CONFIG}/{_FILE}"] if has_file else [])],
        "ports": [{"name": name, "containerPort": port, "protocol": "TCP"} for name, port in ports.items()],
        "livenessProbe": {"httpGet": {"path": "/healthz", "port": "http"}, "periodSeconds": 10, "failureThreshold": 6},
        "readinessProbe": {"httpGet": {"path": "/readyz", "port": "http"}, "periodSeconds": 5},
        "resources": RESOURCES[program],
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
        },
        "volumeMounts": [
            {"name": "tmp", "mountPath": "/tmp"},  # noqa: S108 - a volume of its own
            *([{"name": "config", "mountPath": _CONFIG, "readOnly": True}] if has_file else []),
        ],
    }


def disruption_budget_manifest(installation: InstallationOptions, program: str) -> Json:
    """Return the budget that keeps one replica of a program."""
    spec = {"maxUnavailable": 1, "selector": {"matchLabels": program_labels(program)}}
    return program_object_manifest(
        "policy/v1", "PodDisruptionBudget", program, program, installation.namespace_metadata, spec=spec
    )
