"""The operator and the webhooks as Deployments, and how API servers come to call the latter (MF-023, MF-026)."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from grove_core.resources.api_names import GROVE, MNNVL_ENABLED, SCHEDULER
from grove_core.resources.cluster_topology import TOPOLOGY_KIND
from grove_shell.client.kinds import KINDS, POD_CLIQUE_SET
from grove_shell.client.webhook_names import (
    API_VERSION,
    DEFAULTING,
    JOINING,
    LEAVING,
    PATHS,
    STAMPING,
    TOPOLOGIES,
    VALIDATION,
)
from grove_shell.manifests.installation import OPERATOR, REPLICAS, WEBHOOKS, Installation, labels_of, program_object
from grove_shell.manifests.schemas import Json
from grove_shell.settings.operator import KIND as OPERATOR_KIND
from grove_shell.settings.operator import settings_of
from grove_shell.settings.strict_model import API_VERSION as CONFIGURED
from grove_shell.settings.webhooks import KIND as WEBHOOKS_KIND
from grove_shell.settings.webhooks import WebhookSettings

RESOURCES: Final[dict[str, Json]] = {
    OPERATOR: {"requests": {"cpu": "100m", "memory": "256Mi"}, "limits": {"memory": "2Gi"}},
    WEBHOOKS: {"requests": {"cpu": "50m", "memory": "128Mi"}, "limits": {"memory": "512Mi"}},
}
_NOBODY: Final = 65_532
_HTTPS: Final = 443
_TIMEOUT: Final = 10
_CONFIG: Final = "/etc/grove/config"
_FILE: Final = "config.json"
_GRACE: Final = 40  # rounds have 20 s to end, and reviews 15


def operator_objects(told: Installation) -> Iterator[Json]:
    """The operator."""
    args = ["operator", f"--own-image={told.image}", *([f"--namespace={told.watched}"] if told.watched else [])]
    if told.configures(OPERATOR):
        said = told.operator or {"kind": OPERATOR_KIND, **_features(told)}
        yield _configuration(told, OPERATOR, {"apiVersion": CONFIGURED, **said})
    settings, _ = settings_of(told.operator)
    yield _deployment(told, OPERATOR, args, {"http": settings.serving.port})
    yield _budget(told, OPERATOR)


def webhook_objects(told: Installation) -> Iterator[Json]:
    """The webhooks; their registration comes last, for nothing is admitted from then on until they answer.

    What a feature registers stands in it whether the feature is on or not (WH-026).
    """
    settings = WebhookSettings()
    args = ["webhooks", *([f"--watch-namespace={told.watched}"] if told.watched else [])]
    ports = {"https": settings.listening.port, "http": settings.serving.port}
    service = {
        "selector": labels_of(WEBHOOKS),
        "ports": [{"name": "https", "port": _HTTPS, "targetPort": "https", "protocol": "TCP"}],
    }
    if told.configures(WEBHOOKS):
        yield _configuration(told, WEBHOOKS, {"apiVersion": CONFIGURED, "kind": WEBHOOKS_KIND, **_features(told)})
    yield program_object("v1", "Service", settings.registration.service, WEBHOOKS, told.where, spec=service)
    yield _deployment(told, WEBHOOKS, args, ports)
    yield _budget(told, WEBHOOKS)
    sharing = [_joining(told), _stamping(told)]
    mutating = [_webhook(told, DEFAULTING), *(sharing if told.is_shared else map(_of_nothing, sharing))]
    guarding = [] if told.watched else [_levels(told), _leaving(told)]
    validating = [_webhook(told, VALIDATION), *(guarding if told.is_guarded else map(_of_nothing, guarding))]
    for kind, name, found in (
        ("MutatingWebhookConfiguration", settings.registration.mutating, mutating),
        ("ValidatingWebhookConfiguration", settings.registration.validating, validating),
    ):
        yield program_object(API_VERSION, kind, f"{name}{told.suffix}", WEBHOOKS, webhooks=found)


def _of_nothing(webhook: Json) -> Json:
    """As it stands while its feature is off."""
    return {key: part for key, part in webhook.items() if key != "rules"}  # an empty list would differ at each apply


def _joining(told: Installation) -> Json:
    """Of PodCliques, those that say something of MNNVL, and not no (MS-095, MS-096)."""
    every, key = "object.metadata.annotations", MNNVL_ENABLED
    said = f"has({every}) && {key!r} in {every} && {every}[{key!r}] != 'false'"
    return {
        **_webhook(told, JOINING),
        "rules": [_rule(GROVE, "PodClique")],
        "matchConditions": [{"name": "says-so", "expression": said}],
        "sideEffects": "NoneOnDryRun",
    }


def _stamping(told: Installation) -> Json:
    """Of PodGangs; a stamp decides nothing, so nothing waits for it."""
    return {**_webhook(told, STAMPING), "rules": [_rule(SCHEDULER, "PodGang")], "failurePolicy": "Ignore"}


def _levels(told: Installation) -> Json:
    """Of topologies that come or get other levels; labels and finalizers are nobody's concern (TP-088, TP-093)."""
    told_less = "!has(object.spec) || !has(oldObject.spec)"
    changed = f"request.operation == 'CREATE' || {told_less} || object.spec != oldObject.spec"
    return {
        **_webhook(told, TOPOLOGIES),
        "rules": [_of_topologies("CREATE", "UPDATE")],
        "matchConditions": [{"name": "levels-change", "expression": changed}],
    }


def _leaving(told: Installation) -> Json:
    """Of topologies that go: a warning is all there is to say, so nothing waits for it (TP-086)."""
    return {**_webhook(told, LEAVING), "rules": [_of_topologies("DELETE")], "failurePolicy": "Ignore"}


def _of_topologies(*operations: str) -> Json:
    return {**_rule(GROVE, TOPOLOGY_KIND), "operations": list(operations), "scope": "Cluster"}


def _rule(api_version: str, kind: str) -> Json:
    """Creations of a kind."""
    group, _, version = api_version.partition("/")
    return {
        "apiGroups": [group],
        "apiVersions": [version],
        "operations": ["CREATE"],
        "resources": [KINDS[kind].plural],
        "scope": "Namespaced",
    }


def _webhook(told: Installation, name: str) -> Json:
    only = {"kubernetes.io/metadata.name": told.watched}
    service = {"name": WebhookSettings().registration.service, **told.where, "path": PATHS[name], "port": _HTTPS}
    return {
        "name": name,
        "admissionReviewVersions": ["v1"],
        "clientConfig": {"service": service},
        "rules": [{**_rule(GROVE, POD_CLIQUE_SET), "operations": ["CREATE", "UPDATE"]}],
        **({"namespaceSelector": {"matchLabels": only}} if told.watched else {}),
        "matchPolicy": "Equivalent",
        "failurePolicy": "Fail",
        "sideEffects": "None",
        "timeoutSeconds": _TIMEOUT,
    }


def _features(told: Installation) -> Json:
    """What both programs have to know."""
    shape = told.mnnvl.shape
    mnnvl = {
        "enabled": told.mnnvl.enabled,
        "mode": told.mnnvl.mode.value,
        "computeDomainShape": "auto" if shape is None else shape.value,
    }
    levels = [level._asdict() for level in told.topology.levels]
    topology = {"enabled": told.topology.enabled, "levels": levels}
    return {"mnnvl": mnnvl, "topologyAwareScheduling": topology}


def _configuration(told: Installation, program: str, said: Mapping[str, Any]) -> Json:
    """What a program is told, as the file that it reads (MF-028)."""
    text = json.dumps(said, indent=2)
    return program_object("v1", "ConfigMap", f"{program}-config", program, told.where, data={_FILE: text})


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
        "volumes": [
            {"name": "tmp", "emptyDir": {"medium": "Memory", "sizeLimit": "16Mi"}},
            *([{"name": "config", "configMap": {"name": f"{program}-config"}}] if told.configures(program) else []),
        ],
    }
    spec = {
        "replicas": REPLICAS,
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": pod},
    }
    return program_object("apps/v1", "Deployment", program, program, told.where, spec=spec)


def _container(told: Installation, program: str, args: list[str], ports: dict[str, int]) -> Json:
    return {
        "name": program.removeprefix("grove-"),
        "image": told.image,
        "args": [*args, *([f"--config={_CONFIG}/{_FILE}"] if told.configures(program) else [])],
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
            *([{"name": "config", "mountPath": _CONFIG, "readOnly": True}] if told.configures(program) else []),
        ],
    }


def _budget(told: Installation, program: str) -> Json:
    spec = {"maxUnavailable": 1, "selector": {"matchLabels": labels_of(program)}}
    return program_object("policy/v1", "PodDisruptionBudget", program, program, told.where, spec=spec)
