"""``grove manifests``: print the manifests of an installation."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from grove_shell.actions.configuration import read_configuration
from grove_shell.exit_codes import DONE, CommandFailed
from grove_shell.manifests.crd_definitions import compute_domain_crds, custom_resource_definitions
from grove_shell.manifests.deployments import operator_objects, webhook_objects
from grove_shell.manifests.installation import Installation, daemon_rbac_roles, namespace_and_role_manifests
from grove_shell.page import write_stdout
from grove_shell.views.formatting import NOTHING_PRINTED, input_problems_page
from grove_shell.views.renderers import SERIALIZERS

PARTS: Final[Mapping[str, Callable[[Installation], Iterator[dict[str, Any]]]]] = {
    "crds": lambda _: custom_resource_definitions(),
    "rbac": namespace_and_role_manifests,
    "operator": operator_objects,
    "webhooks": webhook_objects,
}
"""In the order in which they are applied."""


MORE: Final[Mapping[str, Callable[[], Iterator[dict[str, Any]]]]] = {
    "compute-domains": compute_domain_crds,
    "daemons": daemon_rbac_roles,
}
"""Parts that other software normally provides; printed on request (DC-110), definitions first."""


def manifest_objects(
    installation: Installation, parts: tuple[str, ...] = (), more: tuple[str, ...] = ()
) -> list[dict[str, Any]]:
    """Return the objects of these parts, or of all; as copies, so that YAML has no anchors."""
    made = [one for name, make_more in MORE.items() if name in more for one in make_more()]
    made += [one for part, make in PARTS.items() if not parts or part in parts for one in make(installation)]
    return [json.loads(json.dumps(one)) for one in made]


def manifests(
    parts: tuple[str, ...],
    output: str,
    installation: Installation,
    more: tuple[str, ...] = (),
    config: str | None = None,
) -> int:
    """Print these parts, or all, and the requested extra parts, for an operator configuration.

    Returns:
        The exit code (CL-001).
    """
    configured = read_configuration(config)
    if configured.problems:
        raise CommandFailed(input_problems_page(configured.problems, NOTHING_PRINTED))
    features = configured.configuration
    whole = replace(installation, mnnvl=features.mnnvl, topology=features.topology, operator=configured.raw)
    objects = manifest_objects(whole, parts, more)
    write_stdout(SERIALIZERS[output].objects(objects))
    return DONE
