"""MNNVL groups of the Go operator: the group of a clique, and the ComputeDomains that a set needs (NF-002, NF-003)."""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.refs import Ref
from grove_core.resources.api_names import DOMAIN_KIND, MNNVL_CLAIM, MNNVL_GROUP, NVIDIA
from grove_core.resources.pod_spec_gpus import claim_names_in, pod_spec_with_gpu_claim, requests_gpus
from grove_core.resources.podcliqueset_spec import SetTemplate

OPT_OUT: Final = "none"
"""The value of the annotation that stands for no group, whatever the level above says."""


class MnnvlGroupDomain(NamedTuple):
    """The ComputeDomain that the cliques of one MNNVL group share in one replica of a set."""

    replica: int
    group: str

    def name_in(self, set_name: str) -> str:
        """Return the name of the domain, which is that of its ResourceClaimTemplate too (NF-005)."""
        return f"{set_name}-{self.replica}-{self.group}"

    def ref_in(self, root: Ref) -> Ref:
        """Return the address of the domain."""
        return Ref(NVIDIA, DOMAIN_KIND, root.namespace, self.name_in(root.name))


def mnnvl_group_in(*levels: Mapping[str, object]) -> str:
    """Return the group that the first level with the annotation names; empty where that is none, or no level has it.

    Args:
        levels: annotations, those of the innermost level first.
    """
    for annotations in levels:
        if MNNVL_GROUP in annotations:
            named = str(annotations[MNNVL_GROUP])
            return "" if named == OPT_OUT else named
    return ""


def pod_spec_with_group_claim(pod_spec: FrozenMap, set_name: str, replica: int, group: str) -> FrozenMap:
    """Return the pod spec of a clique with the claim of its group (WF-115).

    It is unchanged without a group or a GPU, and where it has a claim of that name already.

    Args:
        replica: index of the set's replica.
        group: the MNNVL group of the clique; empty for none.
    """
    if not group or not requests_gpus(pod_spec) or MNNVL_CLAIM in claim_names_in(pod_spec):
        return pod_spec
    template = MnnvlGroupDomain(replica, group).name_in(set_name)
    return pod_spec_with_gpu_claim(pod_spec, FrozenMap({"name": MNNVL_CLAIM, "resourceClaimTemplateName": template}))


def mnnvl_groups_of_cliques(annotations: Mapping[str, object], template: SetTemplate) -> dict[str, str]:
    """Return name of a clique with GPUs -> its group; cliques without a group are left out.

    Args:
        annotations: of the set.
        template: of the set.
    """
    groups = template.groups_by_clique
    found: dict[str, str] = {}
    for clique in template.cliques:
        group = groups.get(clique.name)
        named = mnnvl_group_in(clique.annotations, group.annotations if group is not None else {}, annotations)
        if named and requests_gpus(clique.spec.pod_spec):
            found[clique.name] = named
    return found


def mnnvl_domains_of_groups(
    annotations: Mapping[str, object], template: SetTemplate, replicas: int
) -> Iterator[MnnvlGroupDomain]:
    """Yield the domains that a set needs: one for each replica and each group of a clique with GPUs."""
    groups = sorted(set(mnnvl_groups_of_cliques(annotations, template).values()))
    for replica in range(max(replicas, 0)):
        yield from (MnnvlGroupDomain(replica, group) for group in groups)
