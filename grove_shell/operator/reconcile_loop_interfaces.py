"""What a reconcile loop reads from and writes to: the operator and the simulator implement both."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Protocol

from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Attempt, Step
from grove_core.resources.metadata_readers import Resource
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import PodClique
from grove_core.resources.scaling_group import ScalingGroup
from grove_shell.apply.execute_concurrently import Execute
from grove_shell.cache.cache_view import Observation
from grove_shell.cache.root_keys import RootKey


class ReconcileLoopCache(Protocol):
    """The cache of the cluster of the loop."""

    def root_keys(self) -> list[RootKey]:
        """Return the keys of all roots."""

    def has_anything_of_root(self, root_key: RootKey) -> bool:
        """Return whether anything of a root is cached."""

    def is_set_known_absent(self, root_key: RootKey) -> bool:
        """Return whether a set is known not to exist."""

    def leftovers_of_deleted_set(self, root_key: RootKey) -> list[ScalingGroup | PodClique]:
        """Return the parts of a deleted set that are being deleted."""

    def pod_uids_of_clique(self, root_key: RootKey, clique: str) -> Mapping[str, str]:
        """Return name -> uid of the pods that a PodClique controls."""

    def find_object(self, ref: Ref) -> Resource | Pod | None:
        """Return an object by its address."""

    def snapshot_of_root(
        self, root_key: RootKey, now: datetime, attempts: tuple[Attempt, ...] = ...
    ) -> Observation | None:
        """Return the snapshot of a root; None if it does not exist."""


class ReconcileLoopWriter(Protocol):
    """Writes to the cluster of the loop."""

    def step_executor(self, withdrawn_because: Callable[[Step], str | None] = ...) -> Execute:
        """Return what executes the steps of a round; ``withdrawn_because`` returns why a step is not sent any more."""

    async def relist_set(self, root_key: RootKey) -> None:
        """Read everything of a set from the server into the cache. Raises NoServerResponse or KindNotListed."""
