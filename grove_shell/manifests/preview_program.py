"""The preview of updates as a program of its own, beside any operator, and its registration (MF-030, MF-031)."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from grove_shell.manifests.deployments import (
    configuration_manifest,
    deployment_manifest,
    disruption_budget_manifest,
    service_manifest,
    settings_shared_by_programs,
)
from grove_shell.manifests.installation import (
    InstallationOptions,
    Json,
    preview_role_manifests,
    program_object_manifest,
)
from grove_shell.manifests.webhook_registrations import webhook_registration
from grove_shell.settings.shared_settings import API_VERSION
from grove_shell.settings.webhook_settings import (
    KIND,
    PREVIEW,
    PREVIEW_MODE_LABEL,
    PREVIEW_PROGRAM,
    REGISTRATION_VERSION,
    default_preview_webhook_settings,
)

_TIMEOUT: Final = 3  # s; its requests have 1 s (WH-046)
_CHANGED: Final = "object.spec != oldObject.spec"


def preview_webhook_manifests(
    installation: InstallationOptions, settings: Mapping[str, Any] | None = None
) -> Iterator[Json]:
    """Yield everything that the preview needs, the registration last.

    Args:
        settings: the part ``preview`` of its configuration; None for the defaults and the rules of the installation.
    """
    defaults = default_preview_webhook_settings()
    yield from preview_role_manifests(installation)
    said = {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "preview": settings or {"mode": defaults.preview.mode, "rules": installation.previewed_rules, "denyAbove": {}},
        **_features(installation),
    }
    yield configuration_manifest(installation, PREVIEW_PROGRAM, said)
    yield service_manifest(installation, PREVIEW_PROGRAM, defaults.registration.service)
    args = [
        "webhooks",
        "--only=preview",
        *([f"--watch-namespace={installation.watched}"] if installation.watched else []),
    ]
    ports = {"https": defaults.listening.port, "http": defaults.serving.port}
    yield deployment_manifest(installation, PREVIEW_PROGRAM, args, ports, said)
    yield disruption_budget_manifest(installation, PREVIEW_PROGRAM)
    yield program_object_manifest(
        REGISTRATION_VERSION,
        "ValidatingWebhookConfiguration",
        f"{defaults.registration.validating}{installation.cluster_scoped_name_suffix}",
        PREVIEW_PROGRAM,
        webhooks=[_registration(installation, defaults.registration.service)],
    )


def _registration(installation: InstallationOptions, service: str) -> Json:
    """Return the webhook: for updates that change the spec, where the namespace is not switched off (WH-045)."""
    found = webhook_registration(installation, PREVIEW, service)
    (rule,) = found["rules"]
    switched_off = {"key": PREVIEW_MODE_LABEL, "operator": "NotIn", "values": ["off"]}
    return {
        **found,
        "rules": [{**rule, "operations": ["UPDATE"]}],
        "namespaceSelector": {**found.get("namespaceSelector", {}), "matchExpressions": [switched_off]},
        "matchConditions": [{"name": "spec-changes", "expression": _CHANGED}],
        "failurePolicy": "Ignore",
        "timeoutSeconds": _TIMEOUT,
    }


def _features(installation: InstallationOptions) -> Json:
    """Return the operator's features where some are on; a topology without levels is not ours to keep (IN-071)."""
    topology = installation.topology
    if topology.enabled and not topology.levels:
        return {}
    is_on = installation.mnnvl.enabled or topology.enabled or installation.gang_backend is not None
    return settings_shared_by_programs(installation) if is_on else {}
