"""In-memory servers that are wrong in one thing each; the comparison must find every one of them."""

from collections.abc import Callable, Mapping
from typing import Final

from grove_core.in_memory.garbage_collection import StoredObject
from grove_core.in_memory.in_memory_cluster import InMemoryCluster
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Apply, Attempt, AttemptOutcome, Create, Delete, Make, SetStatus, Step
from grove_core.kernel.structs import replace
from grove_core.resources.pod import Pod


class Lingering(InMemoryCluster):
    """As simulations have it."""

    def __init__(self) -> None:
        super().__init__((), lingering=True)

    def found(self, ref: Ref) -> StoredObject | Pod | None:
        return self.get_pod(ref) if ref.kind == "Pod" else self.items.get(ref)


class WritesInVain(Lingering):
    """A write that changes nothing has a version of its own."""

    def _keep(self, item: StoredObject) -> None:
        self.put_object(item)


class KnowsNotItsOwn(Lingering):
    """A creation that was answered before is a conflict."""

    def attempt_step(self, step: Step) -> Attempt:
        answer = super().attempt_step(step)
        return replace(answer, outcome=AttemptOutcome.CONFLICT) if answer.unexpected else answer


class TakesWhatIsThere(Lingering):
    """A foreign name counts as one's own."""

    def attempt_step(self, step: Step) -> Attempt:
        taken = isinstance(step.action, Create) and self.found(step.target) is not None
        return Attempt(step, AttemptOutcome.DONE) if taken else super().attempt_step(step)


class WantsOwners(Lingering):
    """Nothing is created whose owner is gone."""

    def attempt_step(self, step: Step) -> Attempt:
        there = self.found(step.target) is not None
        answer = super().attempt_step(step)
        vanished = isinstance(step.action, Create) and not there and self.found(step.target) is None
        return replace(answer, outcome=AttemptOutcome.CONFLICT) if vanished else answer


class IgnoresGuards(Lingering):
    """A late write goes through all the same."""

    def attempt_step(self, step: Step) -> Attempt:
        item = self.found(step.target)
        if item is None or isinstance(step.action, Make):
            return super().attempt_step(step)
        return super().attempt_step(replace(step, action=replace(step.action, guard=item.guard)))


class GuardsGates(Lingering):
    """A gate is opened only on the version that was judged."""

    def attempt_step(self, step: Step) -> Attempt:
        item = self.found(step.target)
        if isinstance(item, Pod) and isinstance(step.action, Apply) and item.guard != step.action.guard:
            return Attempt(step, AttemptOutcome.CONFLICT)
        return super().attempt_step(step)


class RestsOnNothing(Lingering):
    """What a deletion rests on is not asked for again."""

    def attempt_step(self, step: Step) -> Attempt:
        action = step.action
        bare = replace(action, basis=None) if isinstance(action, Delete) else action
        return super().attempt_step(replace(step, action=bare))


class HeldByNothing(Lingering):
    """Finalizers do not keep what is deleted."""

    def _settle(self, item: StoredObject) -> None:
        super()._settle(replace(item, finalizers=()) if item.deleting else item)


class LeavesParts(Lingering):
    """Parts outlive what controlled them."""

    def _delete_owned(self, uid: str, *, foreground: bool) -> None:
        if foreground:
            super()._delete_owned(uid, foreground=True)


class WaitsForNoPart(Lingering):
    """In the foreground is as in the background."""

    def _delete(self, item: StoredObject, *, foreground: bool) -> None:
        super()._delete(item, foreground=False)


class ForgetsTheSecondDeletion(Lingering):
    """What is being deleted cannot be distinguished."""

    def _delete(self, item: StoredObject, *, foreground: bool) -> None:
        if not item.deleting:
            super()._delete(item, foreground=foreground)


class StopsAtOnce(Lingering):
    """A pod with a node is gone when it is deleted."""

    def __init__(self) -> None:
        super().__init__()
        self.lingering = False


class KeepsEndedPods(Lingering):
    """A pod that has ended waits for its kubelet."""

    def delete_pod(self, pod: Pod) -> None:
        if pod.node and not pod.deleting:
            self.put_pod(replace(pod, deleting=True))
        elif not pod.node:
            self.end_pod_containers(pod.ref)


class ReplacesConditions(Lingering):
    """A status write forgets the conditions that it does not name."""

    def attempt_step(self, step: Step) -> Attempt:
        item = self.items.get(step.target)
        if isinstance(step.action, SetStatus) and item is not None and item.guard == step.action.guard:
            bare = replace(item, status=replace(item.status, conditions=()))  # type: ignore[union-attr, arg-type]  # every kind with a status has conditions
            self.items[step.target] = bare
        return super().attempt_step(step)


MUTANTS: Final[Mapping[str, Callable[[], InMemoryCluster]]] = {
    "writes in vain": WritesInVain,
    "knows not its own": KnowsNotItsOwn,
    "takes what is there": TakesWhatIsThere,
    "wants owners": WantsOwners,
    "looks at no guard": IgnoresGuards,
    "guards gates": GuardsGates,
    "rests on nothing": RestsOnNothing,
    "held by nothing": HeldByNothing,
    "leaves parts": LeavesParts,
    "waits for no part": WaitsForNoPart,
    "forgets the second deletion": ForgetsTheSecondDeletion,
    "stops at once": StopsAtOnce,
    "keeps ended pods": KeepsEndedPods,
    "replaces conditions": ReplacesConditions,
}
