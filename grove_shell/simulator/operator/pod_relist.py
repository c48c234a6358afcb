"""What an operator that is played asks before a pod is made: who is there that it was not told of (OP-106)."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet

from grove_core.kernel.steps import Attempt, Outcome, Step
from grove_core.resources.owner_reference import clique_of_new_pod
from grove_shell.simulator.operator.informers import Informers


class PodRelist:
    """The last call of one process; there is none when it begins, nor after a creation that was not answered."""

    def __init__(self, informers: Informers) -> None:
        self._informers = informers
        self._strangers: Mapping[str, AbstractSet[str]] | None = None
        self._made: set[str] = set()

    def forget(self) -> None:
        """Another process begins."""
        self._strangers = None
        self._made.clear()

    def refusal(self, step: Step) -> Attempt | None:
        """Why a pod is not made: its PodClique has one that is not known yet; None where the step is tried."""
        clique = clique_of_new_pod(step)
        if not clique:
            return None
        if self._strangers is None:
            pods = self._informers.cluster.server.pods
            self._strangers = {uid: {pod.uid for pod in found} - self._known(uid) for uid, found in pods.items()}
        strangers = self._strangers.get(clique)
        if not strangers or strangers <= self._known(clique):
            return None
        self._strangers = None
        return Attempt(step, Outcome.UNREACHABLE, "a pod of its PodClique is there that was not known")

    def take(self, answer: Attempt) -> None:
        """What became of a step."""
        if clique_of_new_pod(answer.step):
            if answer.outcome is Outcome.UNREACHABLE:
                self._strangers = None
            elif answer.outcome is Outcome.DONE:
                self._made.add(answer.step.target.name)

    def _known(self, clique: str) -> AbstractSet[str]:
        """Of whom a watch told, and what was made with an answer."""
        pods = self._informers.cluster.server.pods.get(clique, ())
        told = {pod.uid for pod in self._informers.view.pods.get(clique, ())}
        return told | {pod.uid for pod in pods if pod.name in self._made}
