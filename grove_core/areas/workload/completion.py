"""The whole of a set's life while it is wanted: its update is judged first, for that may want one more of something."""

from grove_core.areas.gang_termination.verdicts import Ending
from grove_core.areas.mnnvl.verdicts import CliqueDomains
from grove_core.areas.topology.verdicts import GangTopology
from grove_core.areas.workload.blueprint import blueprint_of
from grove_core.areas.workload.expansion import wants_of_expansion
from grove_core.areas.workload.lagging import findings_of_update
from grove_core.areas.workload.rollout import judge_rollout
from grove_core.areas.workload.scene import Scene
from grove_core.areas.workload.status import statuses_of
from grove_core.areas.workload.surplus import wants_of_surplus
from grove_core.areas.workload.verdicts import Completion
from grove_core.areas.workload.walk import Midst
from grove_core.kernel.wants import Desired
from grove_core.snapshot.size import is_too_large
from grove_core.snapshot.snapshot import Snapshot


def complete(snapshot: Snapshot, ending: Ending, fabric: CliqueDomains, placing: GangTopology) -> Completion:
    """What goes, what is rolled, what comes, and what statuses say; linear in what the set consists of (WL-024).

    Args:
        snapshot: of a set that is not being deleted, with all its cliques.
        ending: where nothing is made, because it is being ended (WL-076).
        fabric: which replicas wait for a ComputeDomain, and which join one.
        placing: what gangs are told of their topology.
    """
    if is_too_large(snapshot):
        return Completion()
    scene = Scene(snapshot)
    replicas = blueprint_of(snapshot)
    if not scene.knows("Pod"):
        may_surge = scene.groups.keys()  # of which one an update has one more nobody knows
        return Completion(
            (
                Desired(tuple(wants_of_surplus(scene, may_surge))),
                wants_of_expansion(scene, replicas, Midst(ending, fabric, placing)).desired,
            )
        )
    rollout = judge_rollout(scene, replicas, ending)
    if rollout.surge:
        replicas = blueprint_of(snapshot, rollout.surge)
    expansion = wants_of_expansion(scene, replicas, Midst(ending, fabric, placing, rollout.written))
    wants = (
        Desired(tuple(wants_of_surplus(scene, rollout.surge))),
        expansion.desired,
        rollout.desired,
        Desired(tuple(statuses_of(scene, rollout))),
    )
    misplaced = expansion.misplaced if scene.knows("PodGang") else None
    return Completion(wants, tuple(findings_of_update(scene, rollout)), misplaced)
