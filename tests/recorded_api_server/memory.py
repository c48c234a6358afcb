"""A sequence in the API server in memory, as a simulation has it: with its cluster, its users and its news."""

from collections.abc import Callable, Sequence
from typing import Literal

from grove_core.in_memory.in_memory_cluster import InMemoryCluster
from grove_core.kernel.refs import Ref
from grove_core.kernel.structs import replace
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import PodClique
from grove_core.resources.scaling_group import ScalingGroup
from grove_shell.simulator.actors.simulated_kubelets import SimulatedKubelets
from grove_shell.simulator.actors.user_actions import SimulatedUserActions
from grove_shell.simulator.cluster.simulated_cluster import SimulatedCluster
from grove_shell.simulator.recording.simulation_history import ScenarioEventWithoutEffect, SimulationHistory
from grove_shell.simulator.scenario.scenario import ScenarioKubeletSpec
from grove_shell.simulator.scenario.scenario_events import ScaleScenarioEvent
from grove_shell.simulator.virtual_time import VirtualTimeQueue
from tests.recorded_api_server.hands import START, step_of
from tests.recorded_api_server.moves import Move, What
from tests.recorded_api_server.slots import FOREIGN_FINALIZER, SLOTS, set_manifest
from tests.recorded_api_server.transcripts import SKIPPED, Eyes, Transcript
from tests.recorded_api_server.views import Object

NAMESPACE = "model"


def play(
    moves: Sequence[Move], make: Callable[[], InMemoryCluster] = lambda: InMemoryCluster((), lingering=True)
) -> Transcript:
    """What becomes of a sequence in memory.

    Args:
        moves: one after the other.
        make: the world; another one than the model for tests of the comparison.
    """
    player = _Player(make())
    transcript = Transcript()
    for move in moves:
        outcome = player.make(move)
        player.cluster.deliver_changes()
        transcript.frames.append(player.eyes.take(outcome, player.sight()))
    events = ((change.latest_object, change.after is None) for change in player.cluster.changes)
    transcript.reported = player.eyes.reported(events)
    return transcript


class _Player:
    """All clients."""

    def __init__(self, world: InMemoryCluster) -> None:
        agenda = VirtualTimeQueue()
        history = SimulationHistory(agenda)
        self.cluster = SimulatedCluster(world, agenda)
        self.user_actions = SimulatedUserActions(
            self.cluster, SimulatedKubelets(self.cluster, {}, ScenarioKubeletSpec(), history), history, START
        )
        self.eyes = Eyes()

    def sight(self) -> dict[str, Object]:
        found = {slot: self._find(one.ref(NAMESPACE)) for slot, one in SLOTS.items()}
        return {slot: item for slot, item in found.items() if item is not None}

    def make(self, move: Move) -> str:
        step = step_of(move, NAMESPACE, self.eyes)
        if step is not None:
            return self.cluster.attempt_step(step).outcome.value
        item = self._find(SLOTS[move.slot].ref(NAMESPACE))
        if move.what is What.WISH:
            self.user_actions.store_admitted_set(set_manifest(NAMESPACE, int(move.how)))
            return ""
        if isinstance(item, Pod):
            return self._act_on_pod(move, item)
        if item is None:
            return SKIPPED
        match move.what:
            case What.REMOVE:
                self.cluster.delete_object(item.ref)
            case What.TOUCH:
                self.cluster.put_object(item)
            case What.HOLD if FOREIGN_FINALIZER not in item.finalizers and not item.deleting:
                self.cluster.put_object(replace(item, finalizers=(*item.finalizers, FOREIGN_FINALIZER)))
            case What.SCALE if isinstance(item, ScalingGroup | PodClique):
                return self._scale(item, int(move.how))
            case _:
                return SKIPPED
        return ""

    def _scale(self, item: ScalingGroup | PodClique, replicas: int) -> str:
        kind: Literal["PodClique", "PodCliqueScalingGroup"]
        kind = "PodClique" if isinstance(item, PodClique) else "PodCliqueScalingGroup"
        try:
            self.user_actions.scale_object(ScaleScenarioEvent(kind=kind, name=item.ref.name, replicas=replicas))
        except ScenarioEventWithoutEffect:
            return SKIPPED
        return ""

    def _act_on_pod(self, move: Move, pod: Pod) -> str:
        match move.what:
            case What.REMOVE:
                self.cluster.delete_object(pod.ref)
            case What.TOUCH:
                self.cluster.put_pod(pod)
            case What.PLACE if can_be_placed(pod):
                self.cluster.put_pod(replace(pod, node="n", scheduled=True, trouble=""))
            case What.RUN if can_run(pod) and not pod.ready:
                self.cluster.put_pod(replace(pod, ready=True, phase="Running", trouble=""))
            case What.FAIL if can_run(pod):
                self.cluster.put_pod(replace(pod, ready=False, phase="Failed", trouble="Error"))
            case What.STOP if pod.deleting:
                self.cluster.end_pod_containers(pod)
            case _:
                return SKIPPED
        return ""

    def _find(self, ref: Ref) -> Object | None:
        world = self.cluster.server
        return world.get_pod(ref) if ref.kind == "Pod" else world.items.get(ref)


def can_be_placed(pod: Pod) -> bool:
    """Whether a scheduler would."""
    return not pod.node and not pod.has_grove_gate and not pod.deleting


def can_run(pod: Pod) -> bool:
    """Whether a kubelet would say something new of it."""
    return bool(pod.node) and not pod.deleting and pod.phase != "Failed"
