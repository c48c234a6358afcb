"""The operator and the webhooks as Deployments, and how API servers come to call the latter (MF-023, MF-026)."""

from collections.abc import Iterator
from typing import Final

from grove_core.resources.keys import GROVE
from grove_shell.client.kinds import KINDS, POD_CLIQUE_SET
from grove_shell.manifests.installation import OPERATOR, REPLICAS, WEBHOOKS, Installation, Json, labels_of, made
from grove_shell.settings.operator import OperatorSettings
from grove_shell.settings.webhooks import WebhookSettings
from grove_shell.webhooks.registration import API_VERSION, DEFAULTING, PATHS, VALIDATION

RESOURCES: Final[dict[str, Json]] = {
    OPERATOR: {"requests": {"cpu": "100m", "memory": "256Mi"}, "limits": {"memory": "2Gi"}},
    WEBHOOKS: {"requests": {"cpu": "50m", "memory": "128Mi"}, "limits": {"memory": "512Mi"}},
}
_NOBODY: Final = 65_532
_HTTPS: Final = 443
_TIMEOUT: Final = 10
_GRACE: Final = 40  # rounds have 20 s to end, and reviews 15


def operator_objects(told: Installation) -> Iterator[Json]:
    """The operator."""
    args = ["operator", f"--own-image={told.image}", *([f"--namespace={told.watched}"] if told.watched else [])]
    yield _deployment(told, OPERATOR, args, {"http": OperatorSettings().serving.port})
    yield _budget(told, OPERATOR)


def webhook_objects(told: Installation) -> Iterator[Json]:
    """The webhooks; their registration comes last, for nothing is admitted from then on until they answer."""
    settings = WebhookSettings()
    args = ["webhooks", *([f"--watch-namespace={told.watched}"] if told.watched else [])]
    ports = {"https": settings.listening.port, "http": settings.serving.port}
    service = {
        "selector": labels_of(WEBHOOKS),
        "ports": [{"name": "https", "port": _HTTPS, "targetPort": "https", "protocol": "TCP"}],
    }
    yield made("v1", "Service", settings.registration.service, WEBHOOKS, told.where, spec=service)
    yield _deployment(told, WEBHOOKS, args, ports)
    yield _budget(told, WEBHOOKS)
    for kind, name, webhook in (
        ("MutatingWebhookConfiguration", settings.registration.mutating, DEFAULTING),
        ("ValidatingWebhookConfiguration", settings.registration.validating, VALIDATION),
    ):
        one = _webhook(told, settings.registration.service, webhook)
        yield made(API_VERSION, kind, f"{name}{told.suffix}", WEBHOOKS, webhooks=[one])


def _webhook(told: Installation, service: str, name: str) -> Json:
    group, _, version = GROVE.partition("/")
    only = {"kubernetes.io/metadata.name": told.watched}
    return {
        "name": name,
        "admissionReviewVersions": ["v1"],
        "clientConfig": {"service": {"name": service, **told.where, "path": PATHS[name], "port": _HTTPS}},
        "rules": [
            {
                "apiGroups": [group],
                "apiVersions": [version],
                "operations": ["CREATE", "UPDATE"],
                "resources": [KINDS[POD_CLIQUE_SET].plural],
                "scope": "Namespaced",
            }
        ],
        **({"namespaceSelector": {"matchLabels": only}} if told.watched else {}),
        "matchPolicy": "Equivalent",
        "failurePolicy": "Fail",
        "sideEffects": "None",
        "timeoutSeconds": _TIMEOUT,
    }


def _deployment(told: Installation, program: str, args: list[str], ports: dict[str, int]) -> Json:
    labels = labels_of(program)
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
            "runAsUser": _NOBODY,
            "runAsGroup": _NOBODY,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "terminationGracePeriodSeconds": _GRACE,
        "topologySpreadConstraints": [spread],
        "containers": [_container(told, program, args, ports)],
        "volumes": [{"name": "tmp", "emptyDir": {"medium": "Memory", "sizeLimit": "16Mi"}}],
    }
    spec = {
        "replicas": REPLICAS,
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": pod},
    }
    return made("apps/v1", "Deployment", program, program, told.where, spec=spec)


def _container(told: Installation, program: str, args: list[str], ports: dict[str, int]) -> Json:
    return {
        "name": program.removeprefix("grove-"),
        "image": told.image,
        "args": args,
        "ports": [{"name": name, "containerPort": port, "protocol": "TCP"} for name, port in ports.items()],
        "livenessProbe": {"httpGet": {"path": "/healthz", "port": "http"}, "periodSeconds": 10, "failureThreshold": 6},
        "readinessProbe": {"httpGet": {"path": "/readyz", "port": "http"}, "periodSeconds": 5},
        "resources": RESOURCES[program],
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
        },
        "volumeMounts": [{"name": "tmp", "mountPath": "/tmp"}],  # noqa: S108 - a volume of its own
    }


def _budget(told: Installation, program: str) -> Json:
    spec = {"maxUnavailable": 1, "selector": {"matchLabels": labels_of(program)}}
    return made("policy/v1", "PodDisruptionBudget", program, program, told.where, spec=spec)
