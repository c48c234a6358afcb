"""Preflight check: whether an operator with MNNVL may start on a server (MN-061)."""

from typing import Final

from grove_core.areas.mnnvl.rules import Preflight
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.resources.api_names import NVIDIA
from grove_core.resources.compute_domain import DOMAIN_KIND
from grove_core.resources.configuration import Configuration, ServedApis

_DEFINITION: Final = f"computedomains.{NVIDIA.partition('/')[0]}"
_SUBJECT: Final = Ref("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", _DEFINITION)


def objection_to_start(configuration: Configuration, served: ServedApis) -> Reason | None:
    """Return why the operator must not start; None if it may, or if the server's kinds are unknown."""
    if configuration.mnnvl.enabled and served.without_domains:
        return Preflight.NO_NVIDIA.because(_SUBJECT, kind=DOMAIN_KIND)
    return None
