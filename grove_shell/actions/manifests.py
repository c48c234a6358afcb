"""``grove manifests``: print the manifests of an installation."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from grove_core.kernel.structs import replace
from grove_shell.actions.configuration_files import FIELD, read_operator_configuration
from grove_shell.exit_codes import DONE, CommandFailed
from grove_shell.manifests.crd_definitions import compute_domain_crd_manifests, grove_crd_manifests
from grove_shell.manifests.deployments import operator_manifests, webhook_manifests
from grove_shell.manifests.installation import InstallationOptions, daemon_rbac_roles, namespace_and_role_manifests
from grove_shell.manifests.preview_program import preview_webhook_manifests
from grove_shell.monitoring.alert_settings import AlertOptions
from grove_shell.monitoring.monitoring_manifests import MONITORING_PARTS
from grove_shell.reading.input_faults import InputFault
from grove_shell.settings.webhook_settings import AUTO
from grove_shell.styled_text_page import print_error, write_stdout
from grove_shell.views.formatting import NOTHING_PRINTED, input_problems_page
from grove_shell.views.renderers import SERIALIZERS

PARTS: Final[Mapping[str, Callable[[InstallationOptions], Iterator[dict[str, Any]]]]] = {
    "crds": lambda _: grove_crd_manifests(),
    "rbac": namespace_and_role_manifests,
    "operator": operator_manifests,
    "webhooks": webhook_manifests,
}
"""In the order in which they are applied."""
PREVIEW_PART: Final = "preview"
"""The program that previews updates, which is printed last, and on request only (MF-030)."""
_DEFAULT_ALERTS: Final = AlertOptions()
_WITHOUT_TOPOLOGIES: Final = frozenset({PREVIEW_PART, *MONITORING_PARTS})

MORE: Final[Mapping[str, Callable[[], Iterator[dict[str, Any]]]]] = {
    "compute-domains": compute_domain_crd_manifests,
    "daemons": daemon_rbac_roles,
}
"""Parts that other software normally provides; printed on request (DC-110), definitions first."""


def installation_objects(
    installation: InstallationOptions,
    parts: tuple[str, ...] = (),
    more: tuple[str, ...] = (),
    alerts: AlertOptions = _DEFAULT_ALERTS,
) -> list[dict[str, Any]]:
    """Return the objects of these parts, or of all; as copies, so that YAML has no anchors.

    Args:
        parts: keys of ``PARTS``, of ``MONITORING_PARTS``, or ``preview``; empty for all of ``PARTS``.
        more: keys of ``MORE``, of ``MONITORING_PARTS``, or ``preview``, which are added.
        alerts: thresholds and links, for the monitoring parts.
    """
    made = [one for name, make_more in MORE.items() if name in more for one in make_more()]
    made += [one for part, make in PARTS.items() if not parts or part in parts for one in make(installation)]
    monitored = (make for part, make in MONITORING_PARTS.items() if part in {*parts, *more})
    made += [make(installation.home, alerts) for make in monitored]  # on request only (AL-013)
    made += preview_webhook_manifests(installation) if PREVIEW_PART in {*parts, *more} else ()
    return [json.loads(json.dumps(one)) for one in made]


def _no_levels(config: str | None) -> InputFault:
    """Return the fault of a file of the Go operator: what is installed keeps a default topology (TP-050)."""
    return InputFault(
        file=str(config),
        document=1,
        object="OperatorConfiguration",
        path="topologyAwareScheduling.levels",
        expected="the levels of the default topology, which the operator of Grove keeps",
        got="none: it is the Go operator's configuration",
    )


def print_installation_manifests(
    parts: tuple[str, ...],
    output: str,
    installation: InstallationOptions,
    more: tuple[str, ...] = (),
    config: str | None = None,
    alerts: AlertOptions = _DEFAULT_ALERTS,
) -> int:
    """Print these parts, or all, and the requested extra parts, for an operator configuration.

    Args:
        parts, more, alerts: as of :func:`installation_objects`.
        output: a key of ``SERIALIZERS``.
        installation: what the command line sets; the rest is taken from the configuration.
        config: the configuration file of the operator; None for the defaults.

    Returns:
        The exit code (CL-001).

    Raises:
        CommandFailed: The configuration has problems, or levels of a topology are needed and missing.
    """
    configured = read_operator_configuration(config)
    if configured.problems:
        raise CommandFailed(input_problems_page(configured.problems, NOTHING_PRINTED))
    features = configured.configuration
    needs_levels = not parts or not _WITHOUT_TOPOLOGIES.issuperset(parts)
    if features.topology.enabled and not features.topology.levels and needs_levels:
        raise CommandFailed(input_problems_page([_no_levels(config)], NOTHING_PRINTED))
    if configured.note:
        print_error(configured.note)
    whole = replace(
        installation,
        mnnvl=features.mnnvl,
        topology=features.topology,
        gang_backend=features.gang_backend,
        operator=configured.raw,
        lease=configured.lease[0] or installation.lease,
        lease_home=configured.lease[1],
        previewed_rules=AUTO if configured.rules in {None, FIELD} else str(configured.rules),
    )
    objects = installation_objects(whole, parts, more, alerts)
    write_stdout(SERIALIZERS[output].objects(objects))
    return DONE
