"""The configuration file of the webhooks (IN-030), and the names and paths under which they are registered."""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic import model_validator as validator

from grove_core.kernel.errors import ObjectProblem
from grove_core.resources.configuration import Configuration
from grove_core.rule_sets.rule_set_names import full_rule_set_name
from grove_shell.settings.shared_settings import (
    API_VERSION,
    HealthEndpointSettings,
    LabelName,
    Lifetime,
    MnnvlSettings,
    ObjectName,
    Port,
    SchedulingSettings,
    Seconds,
    StrictSettingsModel,
    TopologySettings,
    parse_settings_strictly,
)

KIND: Final = "WebhookConfiguration"
S = TypeVar("S", bound=StrictSettingsModel)


class CertificateSettings(StrictSettingsModel):
    """Certificates of the server.

    Attributes:
        mode: ``auto``: made by the webhooks and kept in a Secret; ``manual``: files that something else renews.
        secret: name of the Secret (``auto``); ``grove-preview-certs`` with ``--only preview``.
        directory: with ``tls.crt`` and ``tls.key`` (``manual``).
        valid_for, authority_valid_for: lifetimes (``auto``); renewed when a third is left.
        check_every: interval of checks of Secret, registration or files.
        settle: time for API servers to load a new authority before its certificate is served.
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


class WebhookRegistrationSettings(StrictSettingsModel):
    """Names of Service and registrations; the certificate is issued for ``service``."""

    service: LabelName = "grove-webhooks"
    mutating: ObjectName = "grove-defaulting"
    validating: ObjectName = "grove-validation"


class WebhookCallerSettings(StrictSettingsModel):
    """Which programs may call the webhooks (WH-049).

    Attributes:
        authority_file: certificates in PEM, of the authority of the client certificates; empty: any program may call.
        names: common names in client certificates that may call; none: any of this authority.
    """

    authority_file: str = ""
    names: Annotated[tuple[str, ...], Field(strict=False)] = ()

    @validator(mode="after")
    def _names_have_an_authority(self) -> "WebhookCallerSettings":
        if self.names and not self.authority_file:
            raise ValueError("authorityFile beside names")
        return self


class AdmissionListenerSettings(StrictSettingsModel):
    """Address of the admission server, and the programs that may call it; ``host`` as of health and metrics."""

    host: str = ""
    port: Port = 9443
    callers: WebhookCallerSettings = WebhookCallerSettings()


AUTO: Final = "auto"
Limit = Annotated[int, Field(ge=0)]


class PreviewLimits(StrictSettingsModel):
    """The most pods, and the most GPUs, that an update may restart; None for no limit."""

    pods: Limit | None = None
    gpus: Limit | None = None


class PreviewSettings(StrictSettingsModel):
    """The preview of updates (``--only preview``); labels of a namespace replace ``mode`` and ``denyAbove`` there.

    Attributes:
        mode: ``warn``: an update is answered with what it restarts; ``off``, which YAML reads as false: only where a
            namespace has the label.
        rules: of the operator that acts; ``auto``: as the objects of the set show.
        deny_above: an update that restarts more is refused.
        policies: PlanPolicies, as they stand in files of ``grove plan --policy``.
    """

    mode: Annotated[Literal["warn", "off"], BeforeValidator(lambda mode: "off" if mode is False else mode)] = "warn"
    rules: Annotated[str, AfterValidator(lambda name: name if name == AUTO else full_rule_set_name(name))] = AUTO
    deny_above: PreviewLimits = PreviewLimits()
    policies: Annotated[tuple[Mapping[str, Any], ...], Field(strict=False)] = ()


class WebhookSettings(StrictSettingsModel):
    """The configuration of the webhooks. ``farewell``: how long requests are accepted after SIGTERM."""

    api_version: Literal["operator.config.grove.io/v1alpha1"] = API_VERSION
    kind: Literal["WebhookConfiguration"] = KIND
    certificates: CertificateSettings = CertificateSettings()
    registration: WebhookRegistrationSettings = WebhookRegistrationSettings()
    listening: AdmissionListenerSettings = AdmissionListenerSettings()
    serving: HealthEndpointSettings = HealthEndpointSettings()
    mnnvl: MnnvlSettings = MnnvlSettings()
    topology_aware_scheduling: TopologySettings = TopologySettings()
    scheduling: SchedulingSettings = SchedulingSettings()
    preview: PreviewSettings = PreviewSettings()
    farewell: Seconds = 5.0

    @property
    def configuration(self) -> Configuration:
        """The part that verdicts depend on; it must be the same as the operator's."""
        return Configuration(
            mnnvl=self.mnnvl.as_configuration,
            topology=self.topology_aware_scheduling.as_configuration,
            gang_backend=self.scheduling.as_configuration,
        )


def parse_webhook_settings(raw: Mapping[str, Any]) -> tuple[WebhookSettings, tuple[ObjectProblem, ...]]:
    """Return the configuration and its problems; with problems, the defaults."""
    return parse_settings_strictly(WebhookSettings, raw, WebhookSettings)


def default_preview_webhook_settings(settings: WebhookSettings = WebhookSettings()) -> WebhookSettings:  # noqa: B008 - it is immutable
    """Return the settings with the names of the preview's own Secret, Service and registration where none are given."""
    certificates, registration = settings.certificates, settings.registration
    return settings.model_copy(
        update={
            "certificates": _with_names(certificates, secret="grove-preview-certs"),  # noqa: S106 - the name of one
            "registration": _with_names(registration, service=PREVIEW_PROGRAM, validating=PREVIEW_PROGRAM),
        }
    )


def _with_names(part: S, **names: str) -> S:
    """Return a part of the settings with these values for the fields that the file does not set."""
    return part.model_copy(update={key: name for key, name in names.items() if key not in part.model_fields_set})


PREVIEW_PROGRAM: Final = "grove-preview"
PREVIEW_LABELS: Final = "update-preview.grove.io/"
"""Prefix of the labels by which a namespace replaces the settings of the preview."""
PREVIEW_MODE_LABEL: Final = f"{PREVIEW_LABELS}mode"
REGISTRATION_GROUP: Final = "admissionregistration.k8s.io"
REGISTRATION_VERSION: Final = f"{REGISTRATION_GROUP}/v1"
DEFAULTING: Final = "defaulting.podcliquesets.grove.io"
VALIDATION: Final = "validation.podcliquesets.grove.io"
JOINING: Final = "joining.podcliques.grove.io"
STAMPING: Final = "stamping.podgangs.scheduler.grove.io"
TOPOLOGIES: Final = "validation.clustertopologies.grove.io"
LEAVING: Final = "deletion.clustertopologies.grove.io"
PREVIEW: Final = "preview.podcliquesets.grove.io"
PATHS: Final[Mapping[str, str]] = {
    DEFAULTING: "/webhooks/default-podcliqueset",
    VALIDATION: "/webhooks/validate-podcliqueset",
    JOINING: "/webhooks/join-podclique",
    STAMPING: "/webhooks/stamp-podgang",
    TOPOLOGIES: "/webhooks/validate-clustertopology",
    LEAVING: "/webhooks/delete-clustertopology",
    PREVIEW: "/webhooks/preview-podcliqueset",
}
GUARDING: Final = (TOPOLOGIES, LEAVING)
"""Of topologies."""
JOINED: Final = (JOINING, STAMPING)
"""Of PodCliques that share, and of their PodGangs."""
MUTATING: Final = "mutatingwebhookconfigurations"
VALIDATING: Final = "validatingwebhookconfigurations"
