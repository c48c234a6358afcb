"""What an upgrade of the Go operator restarts: pods whose template hash the new release computes otherwise (WF-090)."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from grove_core.areas.workload.field.clique_update import state_of_unready_pod
from grove_core.areas.workload.template_hash import has_own_template_hash_form
from grove_core.kernel.steps import DeletionImpact
from grove_core.kernel.structs import Struct, replace
from grove_core.resources.pod import FINISHED_PHASES
from grove_core.resources.podcliqueset import PlannedSetChange
from grove_core.resources.podcliqueset_spec import ON_DELETE
from grove_core.snapshot.snapshot import Snapshot

HASH_FORMS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "v0.1.0-alpha.9": "k8s.io/api v0.34.3",
        "v0.1.0-alpha.10": "k8s.io/api v0.35.5",
        "v0.1.0-alpha.11": "k8s.io/api v0.35.5",
        "v0.1.0-alpha.12-rc1": "k8s.io/api v0.35.5",
    }
)
"""Form of the template hashes by release: the version of the Kubernetes types whose fields are hashed (WF-090)."""


class UpgradeRestart(Struct, frozen=True):
    """What an upgrade between two releases with other hashes does to a set (WF-091, WF-092).

    Attributes:
        on_delete: whether the strategy is ``OnDelete``, so that no pod is restarted.
        takes: the pods that are replaced, under ``OnDelete`` none; None where pods or PodCliques are not known.
        at_once: how many pods of standalone PodCliques do not serve, and go together in the turn of their replica.
        replicas: of the set; they are updated one after the other.
        groups: names of the scaling groups; their replicas are updated one after the other.
    """

    on_delete: bool
    takes: DeletionImpact | None
    at_once: int
    replicas: int
    groups: tuple[str, ...]

    @property
    def may_restart_pods(self) -> bool:
        """Whether pods are restarted, or not known."""
        return self.takes is None or bool(self.takes.pods)


def pods_restarted_by_upgrade(snapshot: Snapshot, before: str, after: str) -> UpgradeRestart | None:
    """Return what the upgrade does to a set; None where the new release begins no update. Linear in the pods.

    Args:
        snapshot: of the set.
        before, after: the forms of the hashes of both rule sets; empty for one that compares content.
    """
    root = snapshot.root
    stored = root.status.current_hash
    if not before or not after or before == after or root.deleting or not stored or has_own_template_hash_form(stored):
        return None
    on_delete = root.spec.update_strategy.type == ON_DELETE
    groups = tuple(sorted(group.ref.name for group in snapshot.groups))
    if on_delete:
        return UpgradeRestart(on_delete, DeletionImpact(), 0, root.spec.replicas, groups)
    if snapshot.not_collected & {"Pod", "PodClique"}:
        return UpgradeRestart(on_delete, None, 0, root.spec.replicas, groups)
    found = [(clique, pod) for clique, pod in snapshot.pods() if not pod.deleting]
    running = [pod for _, pod in found if pod.scheduled and pod.phase not in FINISHED_PHASES]
    takes = DeletionImpact(len(found), sum(pod.ready for _, pod in found), sum(pod.gpus for pod in running))
    at_once = sum(not clique.is_in_scaling_group and bool(state_of_unready_pod(pod)) for clique, pod in found)
    return UpgradeRestart(on_delete, takes, at_once, root.spec.replicas, groups)


def snapshot_after_upgrade(snapshot: Snapshot) -> Snapshot:
    """Return the snapshot as the first reconcile of a release with other hashes takes it: no stored hash is present."""
    return replace(snapshot, root=replace(snapshot.root, edit=PlannedSetChange.OF_HASHES))
