"""The registration of the webhooks: for which requests the API server calls them (WH-010, MF-025)."""

from collections.abc import Iterator
from typing import Final

from grove_core.resources.api_names import GROVE, MNNVL_ENABLED, SCHEDULER, SET_KIND, TOPOLOGY_KIND
from grove_shell.client.api_kinds import KINDS
from grove_shell.manifests.installation import WEBHOOKS, InstallationOptions, Json, program_object_manifest
from grove_shell.settings.webhook_settings import (
    DEFAULTING,
    JOINING,
    LEAVING,
    PATHS,
    REGISTRATION_VERSION,
    STAMPING,
    TOPOLOGIES,
    VALIDATION,
    WebhookSettings,
)

HTTPS: Final = 443
_TIMEOUT: Final = 10


def webhook_configuration_manifests(installation: InstallationOptions) -> Iterator[Json]:
    """Yield the configurations of the webhooks that default and validate.

    Webhooks of a feature are registered whether the feature is on or not (WH-010).
    """
    names = WebhookSettings().registration
    sharing = [_joining(installation), _stamping(installation)]
    mutating = [
        webhook_registration(installation, DEFAULTING),
        *(sharing if installation.shares_domains_by_annotation else map(_of_nothing, sharing)),
    ]
    guarding = [] if installation.watched else [_levels(installation), _leaving(installation)]
    validating = [
        webhook_registration(installation, VALIDATION),
        *(guarding if installation.needs_topology_validation else map(_of_nothing, guarding)),
    ]
    for kind, name, found in (
        ("MutatingWebhookConfiguration", names.mutating, mutating),
        ("ValidatingWebhookConfiguration", names.validating, validating),
    ):
        yield program_object_manifest(
            REGISTRATION_VERSION, kind, f"{name}{installation.cluster_scoped_name_suffix}", WEBHOOKS, webhooks=found
        )


def _of_nothing(webhook: Json) -> Json:
    """Return a webhook as registered while its feature is off."""
    return {key: part for key, part in webhook.items() if key != "rules"}  # an empty list would differ at each apply


def _joining(installation: InstallationOptions) -> Json:
    """Return the webhook of PodCliques that have an MNNVL annotation other than false (WH-010)."""
    every, key = "object.metadata.annotations", MNNVL_ENABLED
    said = f"has({every}) && {key!r} in {every} && {every}[{key!r}] != 'false'"
    return {
        **webhook_registration(installation, JOINING),
        "rules": [_rule(GROVE, "PodClique")],
        "matchConditions": [{"name": "says-so", "expression": said}],
        "sideEffects": "NoneOnDryRun",
    }


def _stamping(installation: InstallationOptions) -> Json:
    """Return the webhook of PodGangs; it only adds a mark, so its failure is ignored."""
    return {
        **webhook_registration(installation, STAMPING),
        "rules": [_rule(SCHEDULER, "PodGang")],
        "failurePolicy": "Ignore",
    }


def _levels(installation: InstallationOptions) -> Json:
    """Return the webhook of topologies that are created or whose levels change (TP-088, WH-010)."""
    lacks_spec = "!has(object.spec) || !has(oldObject.spec)"
    changed = f"request.operation == 'CREATE' || {lacks_spec} || object.spec != oldObject.spec"
    return {
        **webhook_registration(installation, TOPOLOGIES),
        "rules": [_of_topologies("CREATE", "UPDATE")],
        "matchConditions": [{"name": "levels-change", "expression": changed}],
    }


def _leaving(installation: InstallationOptions) -> Json:
    """Return the webhook of deletions of topologies; it only warns, so its failure is ignored (TP-086)."""
    return {
        **webhook_registration(installation, LEAVING),
        "rules": [_of_topologies("DELETE")],
        "failurePolicy": "Ignore",
    }


def _of_topologies(*operations: str) -> Json:
    return {**_rule(GROVE, TOPOLOGY_KIND), "operations": list(operations), "scope": "Cluster"}


def _rule(api_version: str, kind: str) -> Json:
    """Return the rule for creations of a kind."""
    group, _, version = api_version.partition("/")
    return {
        "apiGroups": [group],
        "apiVersions": [version],
        "operations": ["CREATE"],
        "resources": [KINDS[kind].plural],
        "scope": "Namespaced",
    }


def webhook_registration(installation: InstallationOptions, name: str, service_name: str = "") -> Json:
    """Return a webhook as it is registered for PodCliqueSets.

    Args:
        service_name: of the Service; empty for that of the webhooks.
    """
    only = {"kubernetes.io/metadata.name": installation.watched}
    service = {
        "name": service_name or WebhookSettings().registration.service,
        **installation.namespace_metadata,
        "path": PATHS[name],
        "port": HTTPS,
    }
    return {
        "name": name,
        "admissionReviewVersions": ["v1"],
        "clientConfig": {"service": service},
        "rules": [{**_rule(GROVE, SET_KIND), "operations": ["CREATE", "UPDATE"]}],
        **({"namespaceSelector": {"matchLabels": only}} if installation.watched else {}),
        "matchPolicy": "Equivalent",
        "failurePolicy": "Fail",
        "sideEffects": "None",
        "timeoutSeconds": _TIMEOUT,
    }
