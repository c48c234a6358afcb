"""All objects of a set as the Go operator writes them, from its manifest; without a plan."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from grove_core.areas.topology.verdicts import PlacingTopology
from grove_core.areas.workload.admission.manifest_defaults import podcliqueset_with_defaults
from grove_core.areas.workload.field.objects.podcliques_and_groups import (
    podclique_manifest_by_go_operator,
    scaling_group_manifest_by_go_operator,
)
from grove_core.areas.workload.field.objects.podgangs import podgang_manifest_by_go_operator
from grove_core.areas.workload.field.objects.pods import pod_manifest_by_go_operator
from grove_core.areas.workload.field.objects.services_rbac_and_claims import (
    autoscaler_manifest_by_go_operator,
    claims_of_podclique_by_go_operator,
    claims_of_scaling_group_by_go_operator,
    claims_of_set_by_go_operator,
    go_operator_rbac_manifests_of_set,
    service_manifest_by_go_operator,
)
from grove_core.areas.workload.field.releases import FROM_ALPHA_12, WorkloadBehaviourOfRelease
from grove_core.areas.workload.objects.services_rbac_and_claims import Shared
from grove_core.areas.workload.template_hash import template_hash_of_clique
from grove_core.areas.workload.workload_context import WorkloadContext
from grove_core.kernel.frozen import FrozenDict, freeze, thaw_json
from grove_core.kernel.structs import replace
from grove_core.kernel.wants import ObjectToCreate, Withheld
from grove_core.resources.api_names import GROUP_KIND
from grove_core.resources.configuration import Configuration, SchedulerProfiles
from grove_core.resources.podclique import PodClique, podclique_from_json
from grove_core.resources.podcliqueset import PodCliqueSet, podcliqueset_from_json
from grove_core.resources.podgang import NO_PLACEMENT
from grove_core.resources.scaling_group import ScalingGroup, scaling_group_from_json
from grove_core.snapshot.expected_replicas import ExpectedClique, ExpectedScalingGroup, ExpectedSetReplicas
from grove_core.snapshot.snapshot import Snapshot

Json = dict[str, Any]
NOW: Final = datetime(2026, 11, 20, 9, 0, 0, tzinfo=UTC)


def stored(manifest: Json) -> Json:
    """A manifest as the API server stores it: with a uid, which says what it is."""
    meta = manifest["metadata"]
    return {**manifest, "metadata": {**meta, "uid": f"uid/{manifest['kind']}/{meta['name']}"}}


def root_of(manifest: Json) -> PodCliqueSet:
    return podcliqueset_from_json(podcliqueset_with_defaults(stored({"kind": "PodCliqueSet", **manifest})))


class Expansion:
    """The objects of one set.

    Attributes:
        root, context: the set, alone in its snapshot.
        topology: of its gangs; None where they have none.
        release: of the operator.
    """

    def __init__(
        self,
        root: PodCliqueSet,
        *,
        claim_templates: Sequence[Json] = (),
        topology: PlacingTopology | None = None,
        scheduler: str = "",
        release: WorkloadBehaviourOfRelease = FROM_ALPHA_12,
    ) -> None:
        known = {
            (one["metadata"]["namespace"], one["metadata"]["name"]): freeze(one["spec"]) for one in claim_templates
        }
        self.root = root
        profiles = SchedulerProfiles((scheduler,), scheduler) if scheduler else None
        configuration = Configuration(schedulers=profiles)
        self.context = WorkloadContext(
            Snapshot(root=root, now=NOW, claim_templates=FrozenDict(known), configuration=configuration)
        )
        self.topology = topology
        self.release = release

    @property
    def manifests(self) -> list[Json]:
        """Every object, in the order in which they are created."""
        return [thaw_json(want.manifest) for want in self.wants]

    @property
    def wants(self) -> Iterator[ObjectToCreate]:
        root = self.root
        yield from (lazy.make() for lazy in go_operator_rbac_manifests_of_set(root, self.release))
        yield from _made(claims_of_set_by_go_operator(self.context))
        for replica in ExpectedSetReplicas(root.ref.name, root.spec).replicas:
            yield service_manifest_by_go_operator(root, replica.index)
            for part in replica.cliques:
                spec = part.template.spec
                if spec.auto_scaling_config is not None:
                    yield autoscaler_manifest_by_go_operator(
                        root, "PodClique", part.name, spec.auto_scaling_config, spec.replicas
                    )
                yield from self._clique(root, part)
            for group in replica.groups:
                yield from self._group(group)
            for gang in replica.gangs:
                topology = self.topology
                placement = topology.constraints_of_gang(root, gang) if topology is not None else NO_PLACEMENT
                yield podgang_manifest_by_go_operator(self.context, gang, {}, placement)

    def _group(self, part: ExpectedScalingGroup) -> Iterator[ObjectToCreate]:
        if part.template.scale_config is not None:
            yield autoscaler_manifest_by_go_operator(
                self.root, GROUP_KIND, part.name, part.template.scale_config, part.template.replicas
            )
        yield scaling_group_manifest_by_go_operator(self.root, part)
        group = self.group(part)
        yield from _made(claims_of_scaling_group_by_go_operator(self.context, group, part))
        for member in part.cliques:
            yield from self._clique(group, member)

    def _clique(self, owner: PodCliqueSet | ScalingGroup, part: ExpectedClique) -> Iterator[ObjectToCreate]:
        yield podclique_manifest_by_go_operator(self.context, owner, part, self.hash_of(part), self.release)
        clique = self.clique(owner, part)
        yield from _made(claims_of_podclique_by_go_operator(self.context, clique, part))
        for index in range(clique.replicas):
            name = f"{part.name}-{index}"
            yield pod_manifest_by_go_operator(self.context, clique, part, index, name, self.release)

    def group(self, part: ExpectedScalingGroup) -> ScalingGroup:
        """The scaling group as stored after its creation."""
        return scaling_group_from_json(
            stored(thaw_json(scaling_group_manifest_by_go_operator(self.root, part).manifest))
        )

    def clique(self, owner: PodCliqueSet | ScalingGroup, part: ExpectedClique) -> PodClique:
        """The PodClique as stored after its creation."""
        want = podclique_manifest_by_go_operator(self.context, owner, part, self.hash_of(part), self.release)
        return replace(podclique_from_json(stored(thaw_json(want.manifest))), replica_index=part.replica)

    def hash_of(self, part: ExpectedClique) -> str:
        return template_hash_of_clique(part.template, self.root.spec.template.priority_class_name)


def _made(claims: Shared) -> Iterator[ObjectToCreate]:
    return (one.make() for one in claims if not isinstance(one, Withheld))
