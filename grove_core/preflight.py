"""Why an operator must not start on a cluster, and what follows from the cluster (MN-061, SC-005, SC-008)."""

from typing import NamedTuple

from grove_core.areas.mnnvl.admit import mnnvl_preflight_objection
from grove_core.areas.scheduling.judge import auto_backend_notice, scheduling_preflight_objection
from grove_core.kernel.reasons import Reason
from grove_core.resources.api_names import COMPOSITE_KIND, DOMAIN_KIND
from grove_core.resources.configuration import Configuration, GangBackend, ServedApis


class PreflightObjection(NamedTuple):
    """A setting that the cluster does not have what is needed for.

    Attributes:
        setting: its path in the operator's configuration.
        expected: the values that it may have on this cluster.
        got: its value.
    """

    setting: str
    expected: str
    got: str
    because: Reason


def preflight_objections(configuration: Configuration, served: ServedApis) -> tuple[PreflightObjection, ...]:
    """Return why an operator must not start; nothing where it may, or where the server's kinds are not known."""
    mnnvl = mnnvl_preflight_objection(configuration, served)
    groups = scheduling_preflight_objection(configuration, served)
    backend = GangBackend.KUBERNETES.value
    return (
        *((PreflightObjection("mnnvl.enabled", "false", "true", mnnvl),) if mnnvl is not None else ()),
        *((PreflightObjection("scheduling.backend", "auto, podgang", backend, groups),) if groups is not None else ()),
    )


def preflight_notices(configuration: Configuration, served: ServedApis) -> tuple[Reason, ...]:
    """Return what follows from the kinds that a server serves, where the configuration leaves that open (SC-008)."""
    notice = auto_backend_notice(configuration, served)
    return () if notice is None else (notice,)


def kinds_of_unknown_availability(configuration: Configuration, served: ServedApis) -> tuple[str, ...]:
    """Return the kinds that an operator needs, and of which it is not known whether the server has them."""
    needs_groups = configuration.gang_backend is GangBackend.KUBERNETES
    return (
        *((DOMAIN_KIND,) if configuration.mnnvl.enabled and served.domains is None else ()),
        *((COMPOSITE_KIND,) if needs_groups and served.workload_api is None else ()),
    )
