"""What releases of the Go operator do differently with the parts of a set, and which release the pods show.

Its rules: WF-010, WF-033, WF-045, WF-070, WF-141, WF-152, WF-154, WF-155.
"""

from typing import Final

from grove_core.areas.workload.objects.lazy_manifests import POD_VARIABLE_NAMES
from grove_core.areas.workload.workload_context import WorkloadContext
from grove_core.kernel.frozen import FrozenMap, list_at, object_under_key
from grove_core.kernel.structs import Struct
from grove_core.resources.naming_rules import service_account_token_name


class WorkloadBehaviourOfRelease(Struct, frozen=True):
    """The behaviour of one release.

    Attributes:
        updates_cliques_of_idle_sets: whether a standalone clique is updated while no update of its set runs (WF-010).
        keeps_other_gates: whether gates of other products stay when Grove's gate is removed from a pod (WF-045).
        awaits_token: whether a new set waits for the token of its ServiceAccount (WF-070).
        has_long_token_name: whether the Secret for that token has its earlier name (WF-141).
        picks_deleted_pods: whether pods that are being deleted are among those to scale in (WF-033).
        has_variables_first: whether Grove's variables are before those of the user (WF-154).
        names_gang_to_kai: whether pods have the texts by which the KAI scheduler finds their gang (WF-152).
    """

    updates_cliques_of_idle_sets: bool = True
    keeps_other_gates: bool = True
    awaits_token: bool = True
    has_long_token_name: bool = False
    picks_deleted_pods: bool = True
    has_variables_first: bool = False
    names_gang_to_kai: bool = False

    def token_name(self, set_name: str) -> str:
        """Return the name of the Secret for the token of a set's ServiceAccount."""
        return f"{set_name}-initc-sa-token-secret" if self.has_long_token_name else service_account_token_name(set_name)


FROM_ALPHA_12: Final = WorkloadBehaviourOfRelease()
"""v0.1.0-alpha.12-rc1."""
BEFORE_ALPHA_12: Final = WorkloadBehaviourOfRelease(
    updates_cliques_of_idle_sets=False, keeps_other_gates=False, awaits_token=False, has_long_token_name=True
)
"""v0.1.0-alpha.9 to v0.1.0-alpha.11."""
MAIN_BRANCH: Final = WorkloadBehaviourOfRelease(
    picks_deleted_pods=False, has_variables_first=True, names_gang_to_kai=True
)
"""The main branch at fcc3b3bb, which is in no release."""


def release_shown_by_pods(context: WorkloadContext, release: WorkloadBehaviourOfRelease) -> WorkloadBehaviourOfRelease:
    """Return the main branch where pods of the set show it (WF-155), and the release otherwise. Linear in the pods."""
    if release is not FROM_ALPHA_12:
        return release
    manifests = (
        pod.manifest
        for clique in context.snapshot.cliques
        for pod in context.pods_of_clique(clique)
        if pod.manifest is not None
    )
    return MAIN_BRANCH if any(map(_has_variables_first, manifests)) else release


def _has_variables_first(manifest: FrozenMap) -> bool:
    """Return whether Grove's variables stand before others in some container."""
    containers = list_at(object_under_key(manifest, "spec"), "containers")
    return any(_starts_with_groves(container) for container in containers if isinstance(container, FrozenMap))


def _starts_with_groves(container: FrozenMap) -> bool:
    names = tuple(one.get("name") for one in list_at(container, "env") if isinstance(one, FrozenMap))
    count = len(POD_VARIABLE_NAMES)
    return names[:count] == POD_VARIABLE_NAMES and len(names) > count
