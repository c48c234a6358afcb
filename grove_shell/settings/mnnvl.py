"""Multi-Node NVLink in configuration files, the same for operator and webhooks (decisions D1, D2)."""

from typing import Literal

from pydantic import Field

from grove_core.resources.configuration import DomainShape, Mnnvl, MnnvlMode
from grove_shell.settings.strict_model import StrictModel


class MnnvlSettings(StrictModel):
    """Whether sets get ComputeDomains, in which way, and how these are written.

    Attributes:
        mode: ``operator``: one for each replica of every set with GPUs that does not opt out; ``annotations``: where
            sets ask for one.
        compute_domain_shape: ``auto`` is that of the cluster.
    """

    enabled: bool = False
    mode: Literal["operator", "annotations"] = "operator"
    compute_domain_shape: Literal["auto", "design", "nvidia"] = "auto"

    @property
    def as_configuration(self) -> Mnnvl:
        """The settings as decisions use them."""
        shape = None if self.compute_domain_shape == "auto" else DomainShape(self.compute_domain_shape)
        return Mnnvl(self.enabled, MnnvlMode(self.mode), shape)


class GoOperatorNetwork(StrictModel):
    """The field of the Go operator's configuration."""

    auto_mnnvl_enabled: bool = Field(default=False, alias="autoMNNVLEnabled")
