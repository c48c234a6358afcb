"""Lists all pods before the simulated operator creates one, so that an unobserved pod is not created twice (OP-106)."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet

from grove_core.kernel.steps import Attempt, Outcome, Step
from grove_core.resources.new_object import clique_of_new_pod
from grove_shell.simulator.operator.informers import Informers


class PodRelist:
    """The last list of one process; there is none after a start, and none after a creation without a response."""

    def __init__(self, informers: Informers) -> None:
        self._informers = informers
        self._unobserved: Mapping[str, AbstractSet[str]] | None = None
        self._made: set[str] = set()

    def clear(self) -> None:
        """Forget the list: the process crashed."""
        self._unobserved = None
        self._made.clear()

    def refusal(self, step: Step) -> Attempt | None:
        """Return a failed attempt for a new pod whose PodClique has an unobserved pod; None to execute the step."""
        clique = clique_of_new_pod(step)
        if not clique:
            return None
        if self._unobserved is None:
            pods = self._informers.cluster.server.pods
            self._unobserved = {uid: {pod.uid for pod in found} - self._known(uid) for uid, found in pods.items()}
        unobserved = self._unobserved.get(clique)
        if not unobserved or unobserved <= self._known(clique):
            return None
        self._unobserved = None
        return Attempt(step, Outcome.UNREACHABLE, "a pod of its PodClique is there that was not known")

    def on_attempt(self, attempt: Attempt) -> None:
        """Update the list with the outcome of a step."""
        if clique_of_new_pod(attempt.step):
            if attempt.outcome is Outcome.UNREACHABLE:
                self._unobserved = None
            elif attempt.outcome is Outcome.DONE:
                self._made.add(attempt.step.target.name)

    def _known(self, clique: str) -> AbstractSet[str]:
        """Return the uids of the cached pods and of those created with a response."""
        pods = self._informers.cluster.server.pods.get(clique, ())
        observed = {pod.uid for pod in self._informers.view.pods.get(clique, ())}
        return observed | {pod.uid for pod in pods if pod.name in self._made}
