"""MNNVL and topology-aware scheduling in configuration files, the same for operator and webhooks."""

from typing import Annotated, Literal

from pydantic import Field
from pydantic import model_validator as validator

from grove_core.resources.cluster_topology import TopologyLevel, level_problems
from grove_core.resources.configuration import (
    ComputeDomainFormatName,
    MnnvlConfiguration,
    MnnvlMode,
    TopologyAwareSettings,
)
from grove_shell.settings.strict_model import StrictModel


class TopologyLevelSettings(StrictModel):
    """One level: its name, and the key of the node label."""

    domain: str
    key: str


class TopologySettings(StrictModel):
    """Whether pods are placed by topology, and the default topology.

    Attributes:
        levels: of the default topology, from broad to narrow.
    """

    enabled: bool = False
    levels: Annotated[tuple[TopologyLevelSettings, ...], Field(strict=False)] = ()

    @validator(mode="after")
    def _sound(self) -> "TopologySettings":
        """Validate the levels as those of any topology, all at once (TP-080)."""
        problems = level_problems(self.as_configuration.levels) if self.enabled or self.levels else ()
        words = "; ".join(f"levels{problem.path}: {problem.expected}, got {problem.got}" for problem in problems)
        if words:
            raise ValueError(words)
        return self

    @property
    def as_configuration(self) -> TopologyAwareSettings:
        """The settings as decisions use them."""
        return TopologyAwareSettings(self.enabled, tuple(TopologyLevel(one.domain, one.key) for one in self.levels))


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
    def as_configuration(self) -> MnnvlConfiguration:
        """The settings as decisions use them."""
        shape = None if self.compute_domain_shape == "auto" else ComputeDomainFormatName(self.compute_domain_shape)
        return MnnvlConfiguration(self.enabled, MnnvlMode(self.mode), shape)


class GoOperatorNetworkSettings(StrictModel):
    """The field of the Go operator's configuration."""

    auto_mnnvl_enabled: bool = Field(default=False, alias="autoMNNVLEnabled")
