"""The operator's configuration file (IN-030): every field has a default, unknown fields are errors."""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, Field
from pydantic import model_validator as validator

from grove_core.kernel.errors import ObjectProblem
from grove_core.kernel.structs import replace
from grove_core.resources.configuration import Configuration
from grove_core.rule_sets.rule_set_names import full_rule_set_name
from grove_core.version import IMAGE
from grove_shell.settings.go_operator_settings import (
    GoOperatorSettings,
    GoSchedulerSettings,
    is_go_operator_file,
    parse_go_operator_settings,
)
from grove_shell.settings.shared_settings import (
    API_VERSION,
    GoOperatorNetworkSettings,
    HealthEndpointSettings,
    MnnvlSettings,
    ObjectName,
    OptionalNamespace,
    SchedulingSettings,
    Seconds,
    StrictSettingsModel,
    TopologySettings,
    parse_settings_strictly,
)

KIND: Final = "OperatorConfiguration"
_RuleSetName = Annotated[str, AfterValidator(full_rule_set_name)]
"""The full name of a rule set (GF-100)."""


class LeaderElectionSettings(StrictSettingsModel):
    """Leader election. ``namespace`` is that of the Lease; empty for the process's own."""

    enabled: bool = True
    name: ObjectName = "grove-operator-leader-election"
    namespace: OptionalNamespace = ""
    lease_duration: Seconds = 15.0
    renew_deadline: Seconds = 10.0
    retry_period: Seconds = 2.0

    @validator(mode="after")
    def _in_order(self) -> "LeaderElectionSettings":
        if not self.retry_period < self.renew_deadline < self.lease_duration:
            raise ValueError("retryPeriod < renewDeadline < leaseDuration")
        return self


class RequestLimitSettings(StrictSettingsModel):
    """Limits of requests. ``qps`` 0: no limit, since API Priority and Fairness protects the API server."""

    qps: Annotated[float, Field(ge=0)] = 0.0
    burst: Annotated[int, Field(ge=1)] = 150
    in_flight: Annotated[int, Field(ge=1, le=1024)] = 32
    timeout: Seconds = 30.0


class InitContainerSettings(StrictSettingsModel):
    """The init container that delays pods. ``image`` has the command ``grove-initc``; empty: the own image."""

    image: str = ""


class OperatorSettings(StrictSettingsModel):
    """The configuration of an operator.

    Attributes:
        network: the Go operator's field for ``mnnvl``; used if ``mnnvl`` is not set.
        scheduler: the Go operator's schedulers; used by the rule sets ``field``.
    """

    api_version: Literal["operator.config.grove.io/v1alpha1"] = API_VERSION
    kind: Literal["OperatorConfiguration"] = KIND
    rules: _RuleSetName = "design"
    workers: Annotated[int, Field(ge=1, le=1024)] = 16
    leader_election: LeaderElectionSettings = LeaderElectionSettings()
    client: RequestLimitSettings = RequestLimitSettings()
    serving: HealthEndpointSettings = HealthEndpointSettings()
    mnnvl: MnnvlSettings = MnnvlSettings()
    network: GoOperatorNetworkSettings = GoOperatorNetworkSettings()
    startup: InitContainerSettings = InitContainerSettings()
    topology_aware_scheduling: TopologySettings = TopologySettings()
    scheduler: GoSchedulerSettings = GoSchedulerSettings()
    scheduling: SchedulingSettings = SchedulingSettings()

    @property
    def configuration(self) -> Configuration:
        """The part that decisions depend on."""
        found = self.mnnvl.as_configuration
        if "mnnvl" not in self.model_fields_set and self.network.auto_mnnvl_enabled:
            found = replace(found, enabled=True)
        found = replace(found, is_given=not self.model_fields_set.isdisjoint({"mnnvl", "network"}))
        image, topology = self.startup.image or IMAGE, self.topology_aware_scheduling.as_configuration
        schedulers = self.scheduler.as_profiles if "scheduler" in self.model_fields_set else None
        return Configuration(
            mnnvl=found,
            init_image=image,
            topology=topology,
            schedulers=schedulers,
            gang_backend=self.scheduling.as_configuration,
        )


def operator_settings_of_go_operator(settings: GoOperatorSettings) -> OperatorSettings:
    """Return the settings of an operator that does what a configuration of the Go operator says, as far as it can."""
    election = settings.leader_election
    return OperatorSettings().model_copy(
        update={
            "leader_election": LeaderElectionSettings().model_copy(
                update={
                    "enabled": election.enabled,
                    "namespace": election.resource_namespace,
                    **({"name": election.resource_name} if election.resource_name else {}),
                    **election.durations,
                }
            ),
            "network": settings.network,
            "scheduler": settings.scheduler,
            "topology_aware_scheduling": TopologySettings.model_construct(
                enabled=settings.topology_aware_scheduling.enabled
            ),
        }
    )


def parse_operator_settings(raw: Mapping[str, Any]) -> tuple[OperatorSettings, tuple[ObjectProblem, ...]]:
    """Return the configuration and its problems; with problems, the defaults."""
    if is_go_operator_file(raw):
        settings, problems = parse_go_operator_settings(raw)
        return (OperatorSettings() if problems else operator_settings_of_go_operator(settings)), problems
    return parse_settings_strictly(OperatorSettings, raw, OperatorSettings)
