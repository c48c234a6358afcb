"""What a rule finds in a manifest, before it becomes an objection, and where the fields of a template stand."""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from grove_core.areas.workload.rules import Refuse, Warn
from grove_core.kernel.reasons import Fact
from grove_core.resources.manifest import Manifest
from grove_core.resources.template import AutoScaling, ResourceSharing

TEMPLATE: Final = "spec.template"
CLIQUES: Final = f"{TEMPLATE}.cliques"
GROUPS: Final = f"{TEMPLATE}.podCliqueScalingGroups"


class Found(NamedTuple):
    """A field, what stands there, the rule against it and the facts the rule quotes."""

    path: str
    got: object
    rule: Refuse | Warn
    facts: Mapping[str, Fact]


class Sharers(NamedTuple):
    """One list of ``resourceSharing``, at one of the three levels."""

    path: str
    entries: tuple[ResourceSharing, ...]
    cliques: frozenset[str] | None
    """Who may be named in the filter; None where there is no filter at this level."""
    groups: frozenset[str] | None


def sharers_in(manifest: Manifest) -> Iterator[Sharers]:
    """Every list of ``resourceSharing``: of the template, of its cliques, of its scaling groups.

    Cost: linear; the sets of names are built once for the template and once for each group.
    """
    template = manifest.spec.template
    cliques = frozenset(clique.name for clique in template.cliques)
    groups = frozenset(group.name for group in template.pod_clique_scaling_groups)
    yield Sharers(f"{TEMPLATE}.resourceSharing", template.resource_sharing, cliques, groups)
    for index, clique in enumerate(template.cliques):
        yield Sharers(f"{CLIQUES}[{index}].resourceSharing", clique.resource_sharing, None, None)
    for index, group in enumerate(template.pod_clique_scaling_groups):
        yield Sharers(f"{GROUPS}[{index}].resourceSharing", group.resource_sharing, frozenset(group.clique_names), None)


def most_replicas(replicas: int, scaling: AutoScaling | None) -> int:
    """How many there may come to be, at least one: what the manifest asks for, or what its autoscaler may ask for."""
    return max(1, replicas, scaling.max_replicas if scaling is not None else 1)
