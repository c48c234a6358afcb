"""Sets whose gangs are placed by the Workload API, and what of it exists in a cluster."""

from typing import Any, Final

from grove_core.areas.scheduling.rules import SchedulingReason
from grove_core.areas.workload.rules import WorkloadReason
from grove_core.kernel.frozen import thaw_json
from grove_core.kernel.refs import Ref
from grove_core.kernel.structs import replace
from grove_core.plan.plan import Plan
from grove_core.resources.cluster_topology import TopologyLevel
from grove_core.resources.configuration import Configuration, GangBackend, TopologyAwareSettings
from grove_core.resources.owned_object import GROUP_KINDS, OwnedObject
from tests.property.workload.life import Life
from tests.property.workload.sets import Json, clique_raw, set_raw

KUBERNETES: Final = Configuration(gang_backend=GangBackend.KUBERNETES)
PODGANG: Final = Configuration(gang_backend=GangBackend.PODGANG)
LEVELS: Final = (TopologyLevel("zone", "example.com/zone"), TopologyLevel("rack", "example.com/rack"))
PLACED: Final = replace(KUBERNETES, topology=TopologyAwareSettings(enabled=True, levels=LEVELS))


def llama(**more: Any) -> Json:
    """A router, and three replicas of a leader with three workers, of which two are needed."""
    pool = {"name": "pool", "cliqueNames": ["leader", "worker"], "replicas": 3, "minAvailable": 2}
    cliques = (clique_raw("router"), clique_raw("leader"), clique_raw("worker", 3))
    return set_raw(*cliques, groups=({**pool, **more.pop("pool", {})},), **more)


def grouped(raw: Json, configuration: Configuration = KUBERNETES) -> Life:
    """A set that was just applied to a cluster with this configuration."""
    life = Life(raw)
    life.world.configuration = configuration
    return life


def rested_in_groups(raw: Json, configuration: Configuration = KUBERNETES) -> Life:
    life = grouped(raw, configuration)
    life.settle()
    return life


def groups_in(life: Life) -> dict[str, OwnedObject]:
    """``Kind/name`` -> group or Workload."""
    return {
        ref.short: item
        for ref, item in life.world.items.items()
        if ref.kind in GROUP_KINDS and isinstance(item, OwnedObject)
    }


def spec_of(life: Life, group: str) -> Json:
    found: Json = thaw_json(groups_in(life)[group].spec)
    return found


def group_ref(life: Life, group: str) -> Ref:
    return groups_in(life)[group].ref


def rules_of(plan: Plan | None) -> set[SchedulingReason | WorkloadReason]:
    """The rules of steps and withheld steps."""
    assert plan is not None
    reasons = [*(why for step in plan.steps for why in step.because)]
    reasons += [why for one in plan.withheld for why in one.because]
    return {why.rule for why in reasons if isinstance(why.rule, SchedulingReason | WorkloadReason)}
