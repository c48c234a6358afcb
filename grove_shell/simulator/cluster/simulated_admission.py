"""Admission in a run: of sets and topologies that users write, and of PodCliques and PodGangs (SM-002)."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeAlias, assert_never

from grove_core.admit import admit, manifest_with_defaults_of
from grove_core.admit_cluster_topology import admit_topology
from grove_core.admit_podclique import admit_podclique, amend_podgang_at_admission, podcliqueset_name_in_labels
from grove_core.areas.mnnvl_scopes.clique_admission import CliqueAdmissionView
from grove_core.areas.topology.admit import KnownTopologiesForAdmission
from grove_core.areas.workload.admission.manifest_defaults import podcliqueset_with_defaults
from grove_core.in_memory.in_memory_cluster import InMemoryCluster
from grove_core.kernel.admission import AdmissionVerdict, AmendmentVerdict, Deny
from grove_core.kernel.decisions import Decision
from grove_core.kernel.frozen import FrozenMap, freeze, thaw_json
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import (
    Apply,
    Attempt,
    AttemptOutcome,
    Create,
    Delete,
    DropFinalizer,
    Ensure,
    SetStatus,
    Step,
    StepStage,
)
from grove_core.kernel.structs import replace
from grove_core.resources.api_names import CLAIM_KIND, GROVE
from grove_core.resources.cluster_topology import TOPOLOGY_KINDS, ClusterTopology, effective_topologies
from grove_core.resources.compute_domain import ComputeDomain
from grove_core.resources.configuration import Configuration, MnnvlMode
from grove_core.resources.metadata_readers import Resource
from grove_core.resources.object_after_write import object_after_merge_patch
from grove_core.resources.owned_object import OwnedObject
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.topology_usage import bound_pod_counts_by_set, sets_by_topology
from grove_core.rule_sets.rule_set import DESIGN, RuleSet

Json: TypeAlias = Mapping[str, Any]
AMENDED: Final = frozenset({"PodClique", "PodGang"})


def _of_set(
    new: Json,
    old: Json | None,
    configuration: Configuration,
    view: KnownTopologiesForAdmission,
    rules: RuleSet = DESIGN,
) -> AdmissionVerdict:
    return admit(new, old, configuration=configuration, around=view, rules=rules).verdict


def _of_topology(
    new: Json, old: Json | None, configuration: Configuration, view: KnownTopologiesForAdmission
) -> AdmissionVerdict:
    return admit_topology(new, old, view, configuration).verdict


@dataclass(frozen=True, slots=True)
class SimulatedAdmissionDecisions:
    """The admission decisions of a run; tests replace them.

    Attributes:
        of_set: verdict on a write of a set, by its new and old manifest, the configuration, and the topologies.
        of_topology: verdict on a write of a topology, by any client.
        defaults: returns an accepted set with its defaults.
        of_clique, of_gang: verdict on a new PodClique or PodGang, with the changes that admission makes.
    """

    of_set: Callable[[Json, Json | None, Configuration, KnownTopologiesForAdmission], AdmissionVerdict] = _of_set
    of_topology: Callable[[Json, Json | None, Configuration, KnownTopologiesForAdmission], AdmissionVerdict] = (
        _of_topology
    )
    defaults: Callable[[Json], dict[str, Any]] = podcliqueset_with_defaults
    of_clique: Callable[[Json, CliqueAdmissionView], Decision[AmendmentVerdict]] = admit_podclique
    of_gang: Callable[[Json, Configuration], Decision[AmendmentVerdict]] = amend_podgang_at_admission


def simulated_admission_for_rules(rules: RuleSet) -> SimulatedAdmissionDecisions:
    """Return the admission decisions of an operator; its sets alone are judged in another way than the design's."""
    return SimulatedAdmissionDecisions(
        of_set=partial(_of_set, rules=rules), defaults=partial(manifest_with_defaults_of, rules=rules)
    )


class SimulatedWebhooks:
    """The webhooks: called for every write of a topology, and in mode annotations for new PodCliques and PodGangs.

    ``ensure`` creates an object that a new PodClique needs.
    """

    def __init__(
        self,
        server: InMemoryCluster,
        admission: SimulatedAdmissionDecisions,
        ensure: Callable[[Step], Attempt],
        topology_view: Callable[[], KnownTopologiesForAdmission],
    ) -> None:
        self.server = server
        self.admission = admission
        self.ensure = ensure
        self.topology_view = topology_view

    def applies_to(self, step: Step) -> bool:
        """Return whether the webhooks are called for a write."""
        if step.target.kind in TOPOLOGY_KINDS:
            return isinstance(step.action, Create | Apply)
        is_on = self.server.configuration.mnnvl.is_enabled_in_mode(MnnvlMode.ANNOTATIONS)
        return is_on and isinstance(step.action, Create) and step.target.kind in AMENDED

    def admitted_write(self, step: Step) -> Step | Attempt:
        """Return the write as it is stored, or the refusal."""
        if step.target.kind in TOPOLOGY_KINDS:
            return self._topology(step)
        assert isinstance(step.action, Create)  # noqa: S101 - applies_to() checked it
        raw = thaw_json(step.action.manifest)
        if step.target.kind == "PodGang":
            verdict = self.admission.of_gang(raw, self.server.configuration).verdict
        else:
            verdict = self.admission.of_clique(raw, self._clique_view(step.target, raw)).verdict
        if isinstance(verdict, Deny):
            return _refused(step, verdict)
        for wanted in verdict.ensures:
            attempt = self.ensure(Step(StepStage.FOUNDATION, wanted.target, Ensure(wanted.manifest), wanted.because))
            if attempt.outcome is not AttemptOutcome.DONE:
                detail = f"what the PodClique shares cannot be created: {wanted.target.short}: {attempt.detail}"
                return Attempt(step, attempt.outcome, detail)
        if not verdict.patch:
            return step
        manifest = freeze(with_json_patch(raw, tuple(map(thaw_json, verdict.patch))))
        assert isinstance(manifest, FrozenMap)  # noqa: S101 - a patched object is an object
        return replace(step, action=Create(manifest))

    def _topology(self, step: Step) -> Step | Attempt:
        """Judge an operator's write of a topology like one of any other client (TP-085)."""
        found = self.server.items.get(step.target)
        old = topology_manifest(found) if isinstance(found, ClusterTopology) else None
        match step.action:
            case Create(manifest):
                new = thaw_json(manifest)
            case Apply(fields) if isinstance(found, ClusterTopology):
                changed = object_after_merge_patch(found, fields)
                assert isinstance(changed, ClusterTopology)  # noqa: S101 - the kind stays
                new = topology_manifest(changed)
            case Apply() | Ensure() | SetStatus() | Delete() | DropFinalizer():
                return step
            case _:
                assert_never(step.action)
        verdict = self.admission.of_topology(new, old, self.server.configuration, self.topology_view())
        return _refused(step, verdict) if isinstance(verdict, Deny) else step

    def _clique_view(self, target: Ref, raw: Json) -> CliqueAdmissionView:
        items = self.server.items
        return CliqueAdmissionView(
            configuration=self.server.configuration,
            served=self.server.served,
            owner=items.get(Ref(GROVE, "PodCliqueSet", target.namespace, podcliqueset_name_in_labels(raw))),
            domains={(r.namespace, r.name): one for r, one in items.items() if isinstance(one, ComputeDomain)},
            claims={
                (r.namespace, r.name): one
                for r, one in items.items()
                if isinstance(one, OwnedObject) and r.kind == CLAIM_KIND
            },
        )


def _refused(step: Step, verdict: Deny) -> Attempt:
    objections = "; ".join(f"{one.path}: {one.reason.sentence}" for one in verdict.objections)
    return Attempt(step, AttemptOutcome.REFUSED, f"422 Unprocessable Entity: {objections}")


def with_json_patch(value: Json, patch: tuple[dict[str, Any], ...]) -> dict[str, Any]:
    """Return an object with a JSON patch (RFC 6902) applied: additions to objects, replacements, removals."""
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


def known_topologies_for_simulated_admission(items: Iterable[Resource]) -> KnownTopologiesForAdmission:
    """Return what admission sees of topologies; whether pods are bound is read from the status of their PodClique."""
    there = tuple(items)
    bound = bound_pod_counts_by_set(item for item in there if isinstance(item, PodClique))
    sets = (item for item in there if isinstance(item, PodCliqueSet))
    users = sets_by_topology(((one.ref.namespace, one.ref.name, one.spec.template) for one in sets), bound)
    return KnownTopologiesForAdmission(
        effective_topologies(item for item in there if isinstance(item, ClusterTopology)), bound, users
    )


def topology_manifest(topology: ClusterTopology) -> dict[str, Any]:
    """Return the manifest of a topology."""
    metadata = {"name": topology.ref.name, "labels": dict(topology.labels), "finalizers": list(topology.finalizers)}
    return {
        "apiVersion": topology.ref.api_version,
        "kind": topology.ref.kind,
        "metadata": {key: value for key, value in metadata.items() if value},
        "spec": {"levels": [level._asdict() for level in topology.levels]},
    }
