"""The Go operator's configuration file, read as it is (IN-070 to IN-073).

Only the parts that bear on decisions are checked for unknown fields: that operator ignores unknown fields everywhere,
and its chart writes some.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import ConfigDict, Field
from pydantic import model_validator as validator

from grove_core.kernel.errors import ObjectProblem
from grove_core.resources.configuration import DEFAULT_SCHEDULER, GoSchedulerName, SchedulerProfiles
from grove_shell.settings.shared_settings import (
    API_VERSION,
    GoOperatorNetworkSettings,
    GoSeconds,
    Port,
    StrictSettingsModel,
    parse_settings_strictly,
)

_GO_FIELDS: Final = frozenset(
    {
        *("runtimeClientConnection", "controllers", "server", "debugging", "logLevel", "logFormat"),
        *("authorizer", "network", "scheduler"),
    }
)
_OWN_FIELDS: Final = frozenset({"rules", "workers", "client", "serving", "mnnvl", "startup"})
_OWN_INNER_FIELDS: Final = (
    ("leaderElection", "name"),
    ("leaderElection", "namespace"),
    ("topologyAwareScheduling", "levels"),
)
_GO_INNER_FIELDS: Final = tuple(("leaderElection", f"resource{part}") for part in ("Lock", "Name", "Namespace"))
_DECIDING: Final = frozenset({"apiVersion", "kind", "topologyAwareScheduling", "network", "scheduler"})
"""What decisions depend on; the rest is listed as not used."""
_LEASE: Final = {"lease_duration": 15.0, "renew_deadline": 10.0, "retry_period": 2.0}


def is_go_operator_file(raw: Mapping[str, Any]) -> bool:
    """Return whether a configuration file is the Go operator's: it has a field of that, and none of Grove's own."""
    if not _OWN_FIELDS.isdisjoint(raw) or any(_has_inner(raw, *names) for names in _OWN_INNER_FIELDS):
        return False
    topology = raw.get("topologyAwareScheduling")
    has_no_levels = isinstance(topology, Mapping) and topology.get("enabled") is True
    return has_no_levels or not _GO_FIELDS.isdisjoint(raw) or any(_has_inner(raw, *names) for names in _GO_INNER_FIELDS)


def _has_inner(raw: Mapping[str, Any], outer: str, inner: str) -> bool:
    found = raw.get(outer)
    return isinstance(found, Mapping) and inner in found


class _LooseSettingsModel(StrictSettingsModel):
    """A part that no decision depends on: types are checked, unknown fields are ignored as that operator does."""

    model_config = ConfigDict(extra="ignore")


class GoSchedulerProfileSettings(StrictSettingsModel):
    """One scheduler; its own settings are not read."""

    name: GoSchedulerName
    config: Any = None


class GoSchedulerSettings(StrictSettingsModel):
    """The enabled schedulers, and the one for pods whose template names none."""

    profiles: Annotated[tuple[GoSchedulerProfileSettings, ...], Field(strict=False)] = ()
    default_profile_name: str = ""

    @validator(mode="after")
    def _sound(self) -> "GoSchedulerSettings":
        names = [one.name for one in self.profiles]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"each scheduler at most once in profiles; more than once: {', '.join(twice)}")
        if names and self.default_profile_name and self.default_profile_name not in {*names, DEFAULT_SCHEDULER}:
            raise ValueError(f"as defaultProfileName one of {', '.join(dict.fromkeys((*names, DEFAULT_SCHEDULER)))}")
        return self

    @property
    def as_profiles(self) -> SchedulerProfiles:
        """The settings as decisions use them: ``default-scheduler`` is always enabled, and the default by default."""
        if not self.profiles:
            return SchedulerProfiles()
        names = tuple(dict.fromkeys((*(one.name for one in self.profiles), DEFAULT_SCHEDULER)))
        return SchedulerProfiles(names, self.default_profile_name or DEFAULT_SCHEDULER)


class GoTopologySettings(StrictSettingsModel):
    """Whether pods are placed by topology; the levels are in ClusterTopologyBindings."""

    enabled: bool = False


class _GoClientSettings(_LooseSettingsModel):
    qps: float = 0.0
    burst: Annotated[int, Field(ge=0)] = 0
    content_type: str = ""
    accept_content_types: str = ""


class GoLeaderElectionSettings(_LooseSettingsModel):
    """Leader election; a duration of zero is the default."""

    enabled: bool = False
    lease_duration: GoSeconds = 0.0
    renew_deadline: GoSeconds = 0.0
    retry_period: GoSeconds = 0.0
    resource_lock: str = ""
    resource_name: str = ""
    resource_namespace: str = ""

    @validator(mode="after")
    def _in_order(self) -> "GoLeaderElectionSettings":
        found = self.durations
        if self.enabled and not found["retry_period"] < found["renew_deadline"] < found["lease_duration"]:
            raise ValueError("retryPeriod < renewDeadline < leaseDuration")
        return self

    @property
    def durations(self) -> Mapping[str, float]:
        """The durations in seconds by name, with their defaults."""
        return {name: getattr(self, name) or default for name, default in _LEASE.items()}


class _GoEndpointSettings(_LooseSettingsModel):
    bind_address: str = ""
    port: Port = 0


class _GoWebhookServerSettings(_GoEndpointSettings):
    server_cert_dir: str = ""
    secret_name: str = ""
    cert_provision_mode: str = ""


class _GoServerSettings(_LooseSettingsModel):
    webhooks: _GoWebhookServerSettings = _GoWebhookServerSettings()
    health_probes: _GoEndpointSettings = _GoEndpointSettings()
    metrics: _GoEndpointSettings = _GoEndpointSettings()


class _GoDebuggingSettings(_LooseSettingsModel):
    enable_profiling: bool = False
    pprof_bind_host: str = ""
    pprof_bind_port: int = 0


class _GoControllerSettings(_LooseSettingsModel):
    concurrent_syncs: Annotated[int, Field(ge=1)] = 10


class _GoControllersSettings(_LooseSettingsModel):
    pod_clique_set: _GoControllerSettings = _GoControllerSettings()
    pod_clique: _GoControllerSettings = _GoControllerSettings()
    pod_clique_scaling_group: _GoControllerSettings = _GoControllerSettings()
    pod_gang: _GoControllerSettings = _GoControllerSettings()


class _GoAuthorizerSettings(_LooseSettingsModel):
    enabled: bool = False
    exempt_service_account_user_names: Annotated[tuple[str, ...], Field(strict=False)] = ()


class GoOperatorSettings(StrictSettingsModel):
    """The Go operator's configuration."""

    api_version: Literal["operator.config.grove.io/v1alpha1"] = API_VERSION
    kind: Literal["OperatorConfiguration"] = "OperatorConfiguration"
    runtime_client_connection: _GoClientSettings = _GoClientSettings()
    leader_election: GoLeaderElectionSettings = GoLeaderElectionSettings()
    server: _GoServerSettings = _GoServerSettings()
    debugging: _GoDebuggingSettings = _GoDebuggingSettings()
    controllers: _GoControllersSettings = _GoControllersSettings()
    log_level: Literal["debug", "info", "error"] = "info"
    log_format: Literal["json", "text"] = "json"
    authorizer: _GoAuthorizerSettings = _GoAuthorizerSettings()
    topology_aware_scheduling: GoTopologySettings = GoTopologySettings()
    network: GoOperatorNetworkSettings = GoOperatorNetworkSettings()
    scheduler: GoSchedulerSettings = GoSchedulerSettings()


def parse_go_operator_settings(raw: Mapping[str, Any]) -> tuple[GoOperatorSettings, tuple[ObjectProblem, ...]]:
    """Return a file of the Go operator as a model, and its problems; with problems, the defaults."""
    return parse_settings_strictly(GoOperatorSettings, _without_empty_fields(raw), GoOperatorSettings)


def _without_empty_fields(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return the file without fields that are null or empty texts: that operator fills in their defaults."""
    return {
        key: _without_empty_fields(value) if isinstance(value, Mapping) else value
        for key, value in raw.items()
        if value is not None and value != ""
    }


def unused_go_operator_fields(raw: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the fields of a file of the Go operator that no decision depends on, sorted (IN-072)."""
    return tuple(sorted(_unused(raw)))


def _unused(raw: Mapping[str, Any]) -> Iterator[str]:
    yield from (str(key) for key in raw if key not in _DECIDING)
    scheduler = raw.get("scheduler")
    profiles = scheduler.get("profiles") if isinstance(scheduler, Mapping) else None
    for place, profile in enumerate(profiles if isinstance(profiles, list) else ()):
        if isinstance(profile, Mapping) and profile.get("config"):
            yield f"scheduler.profiles[{place}].config"
