"""Of what is let in: sets that are older than a choice, operators without a definition, names (CD8, CD9, CD11)."""

from collections.abc import Mapping
from typing import Any

from grove_core.kernel.admission import Deny
from grove_core.kernel.steps import Attempt
from grove_core.resources.compute_domain import ComputeDomain
from grove_core.resources.configuration import Configuration
from grove_core.resources.owned_object import OwnedObject
from grove_core.resources.podclique import PodClique
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.simulator.checks.check import ActualState, Check, Manifest
from grove_shell.simulator.checks.sharing_facts import KINDS, LONGEST, NAME, choices_in, claim_in, share_of
from grove_shell.simulator.cluster.changes import Change
from grove_shell.simulator.recording.history import Actor


class AdmissionCheck(Check):
    """Whoever comes: sets from users, operators at their start, and objects under their names."""

    def __init__(self, state: ActualState) -> None:
        super().__init__(state)
        self._unfit = False  # the operator that runs should have ended at its start
        self._users: dict[tuple[str, str], tuple[str, ...]] = {}  # namespace and name of a claim -> whom it serves

    def on_set_write(self, new: Manifest, old: Manifest | None, stored: Manifest | Deny) -> None:
        """An update that leaves the choice as it was is not refused for it, and adds none (CD8)."""
        if old is None or choices_in(new) != choices_in(old):
            return
        name = f"PodCliqueSet/{_name_in(new)}"
        if isinstance(stored, Deny):
            paths = [one.path for one in stored.objections if "grove.io/mnnvl" in one.path]
            if paths:
                self.state.fail(
                    "CD8", f"an update of {name} is refused for {paths[0]}, which it leaves as it was", name
                )
        elif choices_in(stored) != choices_in(old):
            self.state.fail("CD8", f"an update of {name} is stored with another choice than it had", name)

    def on_start(self, actor: Actor, configuration: Configuration, *, goes_on: bool) -> None:
        """An operator that is to make domains and cannot ends before its first write (CD9)."""
        lacks = configuration.mnnvl.enabled and self.state.cluster.server.served.without_domains
        self._unfit = goes_on and lacks
        if not goes_on and not lacks:
            self.state.fail("CD9", "an operator ended at its start, and nothing was in its way")
        del actor

    def on_write(self, actor: Actor, snapshot: Snapshot, attempt: Attempt) -> None:
        """Any write at all."""
        if self._unfit and actor is Actor.OPERATOR:
            message = f"an operator that cannot make ComputeDomains writes {attempt.step.target.short}"
            self.state.fail("CD9", message, attempt.step.target.short)
        del snapshot

    def on_changes(self, changes: list[Change]) -> None:
        """Names are valid, and one user has each (CD11)."""
        for change in changes:
            item = change.after
            if change.before is not None or item is None:
                continue
            if isinstance(item, ComputeDomain | OwnedObject) and item.ref.kind in KINDS:
                texts = (
                    item.ref.name,
                    *(str(text) for key, text in item.labels.items() if key.startswith("grove.io/")),
                )
                wrong = [text for text in texts if len(text) > LONGEST or not NAME.fullmatch(text)]
                if wrong and item.owner_uid:
                    self.state.fail(
                        "CD11", f'{item.ref.short} has "{wrong[0]}", which is no valid name', item.ref.short
                    )
            elif isinstance(item, PodClique):
                self._is_its_own(item)

    def _is_its_own(self, clique: PodClique) -> None:
        root = self.state.roots.get(self.state.root_of.get(clique.uid, ""))
        claim = claim_in(clique.pod_spec)
        share = share_of(clique, root.ref.name) if root is not None else None
        if claim is None or share is None:
            return
        holder = self._users.setdefault((clique.ref.namespace, claim), share.user)
        if holder != share.user or claim != share.claim:
            message = (
                f"{clique.ref.short} shares claim {claim}, which is not that of {'/'.join(filter(None, share.user))}"
            )
            self.state.fail("CD11", message, clique.ref.short)


def _name_in(manifest: Mapping[str, Any]) -> str:
    return str((manifest.get("metadata") or {}).get("name", ""))
