"""Who admits what is written: sets on behalf of users, and parts of sets as the webhooks do (SM-085)."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

from grove_core.admit import admit
from grove_core.admit_podclique import admit_podclique, admit_podgang, set_named_in
from grove_core.admit_topology import admit_topology
from grove_core.areas.mnnvl_scopes.clique_admission import CliqueAdmissionView
from grove_core.areas.topology.admit import TopologyView
from grove_core.areas.workload.admission.defaults import with_defaults
from grove_core.kernel.admission import AdmissionVerdict, AmendmentVerdict, Deny
from grove_core.kernel.decisions import Decision
from grove_core.kernel.frozen import FrozenMap, freeze, thaw
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Apply, Attempt, Create, Ensure, Outcome, Stage, Step
from grove_core.resources.after_apply import with_applied_fields
from grove_core.resources.api_names import GROVE
from grove_core.resources.cluster_topology import TOPOLOGY_KINDS, ClusterTopology
from grove_core.resources.compute_domain import ComputeDomain
from grove_core.resources.configuration import Configuration, MnnvlMode
from grove_core.resources.owned_object import CLAIM_KIND, OwnedObject
from grove_shell.in_memory.cluster import InMemoryCluster
from grove_shell.simulator.cluster.topologies import topology_manifest

Json: TypeAlias = Mapping[str, Any]
AMENDED: Final = frozenset({"PodClique", "PodGang"})


def _of_set(new: Json, old: Json | None, configuration: Configuration, around: TopologyView) -> AdmissionVerdict:
    return admit(new, old, configuration=configuration, around=around).verdict


def _of_topology(new: Json, old: Json | None, configuration: Configuration, around: TopologyView) -> AdmissionVerdict:
    return admit_topology(new, old, around, configuration).verdict


@dataclass(frozen=True, slots=True)
class Admission:
    """The decisions that are asked when something is written.

    Attributes:
        of_set: whether a user's write of a set is accepted, by the set, the one before, the configuration, and what is
            known of topologies.
        of_topology: the same of a topology, whoever writes it.
        defaults: what an accepted set is stored as.
        of_clique, of_gang: what becomes of a new one.
    """

    of_set: Callable[[Json, Json | None, Configuration, TopologyView], AdmissionVerdict] = _of_set
    of_topology: Callable[[Json, Json | None, Configuration, TopologyView], AdmissionVerdict] = _of_topology
    defaults: Callable[[Json], dict[str, Any]] = with_defaults
    of_clique: Callable[[Json, CliqueAdmissionView], Decision[AmendmentVerdict]] = admit_podclique
    of_gang: Callable[[Json, Configuration], Decision[AmendmentVerdict]] = admit_podgang


class Webhooks:
    """Asked about every write of a topology, and where MNNVL goes by annotation about new PodCliques and PodGangs."""

    def __init__(
        self,
        server: InMemoryCluster,
        admission: Admission,
        ensure: Callable[[Step], Attempt],
        around: Callable[[], TopologyView],
    ) -> None:
        """Of a world.

        Args:
            world: what there is, and the configuration.
            admission: who decides.
            ensure: how what a PodClique needs is asked for.
            around: what is known of topologies.
        """
        self.server = server
        self.admission = admission
        self.ensure = ensure
        self.topology_context = around

    def concerns(self, step: Step) -> bool:
        """Whether they are asked about a write."""
        if step.target.kind in TOPOLOGY_KINDS:
            return isinstance(step.action, Create | Apply)
        is_on = self.server.configuration.mnnvl.in_mode(MnnvlMode.ANNOTATIONS)
        return is_on and isinstance(step.action, Create) and step.target.kind in AMENDED

    def amended(self, step: Step) -> Step | Attempt:
        """The write as it goes on to the store, or what is answered instead."""
        if step.target.kind in TOPOLOGY_KINDS:
            return self._topology(step)
        assert isinstance(step.action, Create)  # noqa: S101 - it concerns them
        raw = thaw(step.action.manifest)
        if step.target.kind == "PodGang":
            verdict = self.admission.of_gang(raw, self.server.configuration).verdict
        else:
            verdict = self.admission.of_clique(raw, self._around(step.target, raw)).verdict
        if isinstance(verdict, Deny):
            return _refused(step, verdict)
        for wanted in verdict.ensures:
            answer = self.ensure(Step(Stage.FOUNDATION, wanted.target, Ensure(wanted.manifest), wanted.because))
            if answer.outcome is not Outcome.DONE:
                words = f"what the PodClique shares cannot be had: {wanted.target.short}: {answer.detail}"
                return Attempt(step, answer.outcome, words)
        if not verdict.patch:
            return step
        manifest = freeze(patched(raw, verdict.patch))
        assert isinstance(manifest, FrozenMap)  # noqa: S101 - a patch leaves an object an object
        return replace(step, action=Create(manifest))

    def _topology(self, step: Step) -> Step | Attempt:
        """An operator's write of a topology is judged as anybody's (TP-085)."""
        found = self.server.items.get(step.target)
        old = topology_manifest(found) if isinstance(found, ClusterTopology) else None
        if isinstance(step.action, Create):
            new = thaw(step.action.manifest)
        elif isinstance(step.action, Apply) and isinstance(found, ClusterTopology):
            changed = with_applied_fields(found, step.action.fields)
            assert isinstance(changed, ClusterTopology)  # noqa: S101 - the kind stays
            new = topology_manifest(changed)
        else:
            return step
        verdict = self.admission.of_topology(new, old, self.server.configuration, self.topology_context())
        return _refused(step, verdict) if isinstance(verdict, Deny) else step

    def _around(self, target: Ref, raw: Json) -> CliqueAdmissionView:
        items = self.server.items
        return CliqueAdmissionView(
            configuration=self.server.configuration,
            served=self.server.served,
            owner=items.get(Ref(GROVE, "PodCliqueSet", target.namespace, set_named_in(raw))),
            domains={(r.namespace, r.name): one for r, one in items.items() if isinstance(one, ComputeDomain)},
            claims={
                (r.namespace, r.name): one
                for r, one in items.items()
                if isinstance(one, OwnedObject) and r.kind == CLAIM_KIND
            },
        )


def _refused(step: Step, verdict: Deny) -> Attempt:
    words = "; ".join(f"{one.path}: {one.reason.sentence}" for one in verdict.objections)
    return Attempt(step, Outcome.REFUSED, f"422 Unprocessable Entity: {words}")


def patched(value: Json, patch: tuple[dict[str, Any], ...]) -> dict[str, Any]:
    """An object after a JSON patch (RFC 6902) of additions to objects, replacements and removals."""
    whole: dict[str, Any] = {"": json.loads(json.dumps(value))}
    for step in patch:
        *path, last = [part.replace("~1", "/").replace("~0", "~") for part in step["path"].split("/")]
        place: Any = whole
        for part in path:
            place = place[int(part)] if isinstance(place, list) else place[part]
        key: Any = int(last) if isinstance(place, list) else last
        if step["op"] == "remove":
            del place[key]
        else:
            place[key] = step["value"]
    found: dict[str, Any] = whole[""]
    return found
