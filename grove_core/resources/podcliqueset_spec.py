"""The spec of a PodCliqueSet: what people write. Validated by pydantic, whose messages they read.

Rule for this file: shapes only. Whether a sound value is allowed is the business of admission.
"""

from collections.abc import Iterable
from datetime import timedelta
from typing import Annotated, Final, TypeVar

from pydantic import (
    StrictBool,
    StrictStr,
    ValidationError,
    WithJsonSchema,
)

from grove_core.kernel.errors import ObjectProblem
from grove_core.kernel.frozen import EMPTY
from grove_core.resources.template_field_types import (
    Count,
    GoDuration,
    ManifestModel,
    Opaque,
    Texts,
    problem_from_validation_error,
)

ANY_ORDER: Final = "CliqueStartupTypeAnyOrder"
IN_ORDER: Final = "CliqueStartupTypeInOrder"
EXPLICIT: Final = "CliqueStartupTypeExplicit"
STARTUP_TYPES: Final = (ANY_ORDER, IN_ORDER, EXPLICIT)
ALL_REPLICAS: Final = "AllReplicas"
PER_REPLICA: Final = "PerReplica"
SCOPES: Final = (ALL_REPLICAS, PER_REPLICA)
ROLLING_RECREATE: Final = "RollingRecreate"
ON_DELETE: Final = "OnDelete"
UPDATE_STRATEGIES: Final = (ROLLING_RECREATE, ON_DELETE)

StartupType = Annotated[StrictStr, WithJsonSchema({"type": "string", "enum": list(STARTUP_TYPES)})]
Scope = Annotated[StrictStr, WithJsonSchema({"type": "string", "enum": list(SCOPES)})]
UpdateType = Annotated[StrictStr, WithJsonSchema({"type": "string", "enum": list(UPDATE_STRATEGIES)})]


class AutoScalingConfiguration(ManifestModel):
    """``autoScalingConfig`` of a clique, ``scaleConfig`` of a scaling group; ``metrics`` as the HPA takes them."""

    min_replicas: Count | None = None
    max_replicas: Count
    metrics: tuple[Opaque, ...] = ()


def maximum_replicas(replicas: int, scaling: AutoScalingConfiguration | None) -> int:
    """Return the largest number of replicas, at least one: the manifest's, or its autoscaler's upper bound."""
    return max(1, replicas, scaling.max_replicas if scaling is not None else 1)


class SharingFilter(ManifestModel):
    """Who takes part in a shared claim."""

    child_clique_names: tuple[StrictStr, ...] = ()
    child_scaling_group_names: tuple[StrictStr, ...] = ()


class ResourceSharing(ManifestModel):
    """One entry of ``resourceSharing``: a claim template, and how many claims are made of it."""

    name: StrictStr
    namespace: StrictStr = ""
    scope: Scope
    filter: SharingFilter | None = None

    def is_shared_by_clique(self, clique: str, group: str = "") -> bool:
        """Return whether the pods of a clique share it, by the name of the clique or of its scaling group."""
        chosen = self.filter
        return chosen is None or clique in chosen.child_clique_names or group in chosen.child_scaling_group_names


class SetClaimTemplate(ManifestModel):
    """One entry of ``resourceClaimTemplates``."""

    name: StrictStr
    template_spec: Opaque


class CliqueSpec(ManifestModel):
    """``cliques[].spec``; counts as written, thresholds still unjudged."""

    role_name: StrictStr = ""
    pod_spec: Opaque = EMPTY
    replicas: Count = 1
    min_available: Count | None = None
    starts_after: tuple[StrictStr, ...] = ()
    auto_scaling_config: AutoScalingConfiguration | None = None


class PackConstraint(ManifestModel):
    """``pack`` of a topology constraint: domains that pods must share, and that they should."""

    required: StrictStr = ""
    preferred: StrictStr = ""


class TopologyConstraint(ManifestModel):
    """``topologyConstraint`` of a set, a scaling group or a clique.

    Attributes:
        topology_name: where released manifests name the topology.
        pack_domain: the design's word for ``pack.required``.
    """

    topology_name: StrictStr = ""
    pack: PackConstraint = PackConstraint()
    pack_domain: StrictStr = ""

    @property
    def domains(self) -> tuple[str, str]:
        """The required and the preferred domain; empty for none (TP-069)."""
        return self.pack.required or self.pack_domain, self.pack.preferred


class CliqueTemplate(ManifestModel):
    """One clique of the template."""

    name: StrictStr
    labels: Texts = EMPTY
    annotations: Texts = EMPTY
    resource_sharing: tuple[ResourceSharing, ...] = ()
    topology_constraint: TopologyConstraint | None = None
    spec: CliqueSpec

    @property
    def min_available(self) -> int:
        """The threshold that counts (GT-025)."""
        return self.spec.replicas if self.spec.min_available is None else self.spec.min_available


class _Delayed(ManifestModel):
    """Something with a ``terminationDelay``."""

    termination_delay: GoDuration | None = None

    @property
    def delay(self) -> timedelta | None:
        """The delay if it is one: a stored zero or less turns nothing on (GT-031)."""
        span = self.termination_delay
        return span if span is not None and span > timedelta() else None


class ScalingGroupTemplate(_Delayed):
    """One entry of ``podCliqueScalingGroups``."""

    name: StrictStr
    clique_names: tuple[StrictStr, ...]
    annotations: Texts = EMPTY
    replicas: Count = 1
    min_available: Count = 1
    scale_config: AutoScalingConfiguration | None = None
    resource_sharing: tuple[ResourceSharing, ...] = ()
    topology_constraint: TopologyConstraint | None = None


class HeadlessServiceConfig(ManifestModel):
    """``headlessServiceConfig``."""

    publish_not_ready_addresses: StrictBool = True


class SetTemplate(_Delayed):
    """``spec.template``; without a ``delay`` gang termination is off (GT-031)."""

    cluster_topology_name: StrictStr = ""
    topology_constraint: TopologyConstraint | None = None
    cliques: tuple[CliqueTemplate, ...]
    clique_startup_type: StartupType = ANY_ORDER
    priority_class_name: StrictStr = ""
    headless_service_config: HeadlessServiceConfig = HeadlessServiceConfig()
    resource_claim_templates: tuple[SetClaimTemplate, ...] = ()
    resource_sharing: tuple[ResourceSharing, ...] = ()
    pod_clique_scaling_groups: tuple[ScalingGroupTemplate, ...] = ()

    @property
    def groups_by_clique(self) -> dict[str, ScalingGroupTemplate]:
        """Name of a clique -> its scaling group, for each clique that is in one."""
        return {name: group for group in self.pod_clique_scaling_groups for name in group.clique_names}


class UpdateStrategy(ManifestModel):
    """``spec.updateStrategy``."""

    type: UpdateType = ROLLING_RECREATE


class SetSpec(ManifestModel):
    """``spec`` of a PodCliqueSet."""

    replicas: Count = 0
    update_strategy: UpdateStrategy = UpdateStrategy()
    template: SetTemplate

    @property
    def standalone_cliques(self) -> tuple[CliqueTemplate, ...]:
        """The cliques that no scaling group names, in template order."""
        homes = self.template.groups_by_clique
        return tuple(clique for clique in self.template.cliques if clique.name not in homes)


Template = TypeVar("Template", CliqueTemplate, ScalingGroupTemplate)


def first_templates_by_name(templates: Iterable[Template]) -> dict[str, Template]:
    """Return templates by name, in their order; of several with one name the first counts (WL-022)."""
    found: dict[str, Template] = {}
    for template in templates:
        found.setdefault(template.name, template)
    return found


def read_podcliqueset_spec(raw: object) -> tuple[SetSpec | None, tuple[ObjectProblem, ...]]:
    """Read ``spec``: the spec, or every problem of it with its path."""
    try:
        return SetSpec.model_validate(raw, by_name=False), ()
    except ValidationError as fault:
        return None, tuple(problem_from_validation_error(error) for error in fault.errors(include_url=False))
