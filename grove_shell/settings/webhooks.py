"""The configuration file of the webhooks (WH-032): every field has a default, unknown ones are mistakes."""

from collections.abc import Mapping
from typing import Any, Final, Literal

from pydantic import model_validator as validator

from grove_core.kernel.errors import Problem
from grove_core.resources.configuration import Configuration
from grove_shell.settings.mnnvl import MnnvlSettings
from grove_shell.settings.strict_model import (
    API_VERSION,
    HealthEndpoint,
    LabelName,
    Lifetime,
    ObjectName,
    Port,
    Seconds,
    StrictModel,
    read_strictly,
)
from grove_shell.settings.topology import TopologySettings

KIND: Final = "WebhookConfiguration"


class CertificateSettings(StrictModel):
    """How the server proves who it is.

    Attributes:
        mode: ``auto``: made here and kept in a Secret; ``manual``: files that somebody else renews.
        secret: of ``auto``: its name.
        directory: of ``manual``: where ``tls.crt`` and ``tls.key`` are.
        valid_for, authority_valid_for: of ``auto``: a certificate is renewed when a third of its time is left.
        check_every: how often Secret, registration or files are looked at.
        settle: how long API servers have to hear of a new authority before a certificate of it is shown.
    """

    mode: Literal["auto", "manual"] = "auto"
    secret: ObjectName = "grove-webhook-certs"  # noqa: S105 - the name of one
    directory: str = "/etc/grove/certs"
    valid_for: Lifetime = 365 * 24 * 3600.0
    authority_valid_for: Lifetime = 10 * 365 * 24 * 3600.0
    check_every: Seconds = 30.0
    settle: Seconds = 5.0

    @validator(mode="after")
    def _in_order(self) -> "CertificateSettings":
        if not self.valid_for <= self.authority_valid_for:
            raise ValueError("validFor <= authorityValidFor")
        return self


class RegistrationSettings(StrictModel):
    """What the API server knows of the webhooks; ``service`` is also what the certificate is made out to."""

    service: LabelName = "grove-webhooks"
    mutating: ObjectName = "grove-defaulting"
    validating: ObjectName = "grove-validation"


class ListenerSettings(StrictModel):
    """Where the API server calls."""

    host: str = "0.0.0.0"  # noqa: S104 - the API server is outside the pod
    port: Port = 9443


class WebhookSettings(StrictModel):
    """Everything the webhooks are told. ``farewell``: how long requests are still taken after SIGTERM."""

    api_version: Literal["operator.config.grove.io/v1alpha1"] = API_VERSION
    kind: Literal["WebhookConfiguration"] = KIND
    certificates: CertificateSettings = CertificateSettings()
    registration: RegistrationSettings = RegistrationSettings()
    listening: ListenerSettings = ListenerSettings()
    serving: HealthEndpoint = HealthEndpoint()
    mnnvl: MnnvlSettings = MnnvlSettings()
    topology_aware_scheduling: TopologySettings = TopologySettings()
    farewell: Seconds = 5.0

    @property
    def configuration(self) -> Configuration:
        """The part that verdicts depend on: the same as that of the operator beside it."""
        return Configuration(
            mnnvl=self.mnnvl.as_configuration, topology=self.topology_aware_scheduling.as_configuration
        )


def settings_of(raw: Mapping[str, Any]) -> tuple[WebhookSettings, tuple[Problem, ...]]:
    """Read a configuration; where there are problems, the defaults stand in for it.

    Args:
        raw: as it was written.
    """
    return read_strictly(WebhookSettings, raw, WebhookSettings)
