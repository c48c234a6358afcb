"""Checks admission of MNNVL annotations, the preflight of operators, and names (CD8, CD9, CD11)."""

from collections.abc import Mapping
from typing import Any

from grove_core.kernel.admission import Deny
from grove_core.kernel.steps import Attempt
from grove_core.resources.compute_domain import ComputeDomain
from grove_core.resources.configuration import Configuration
from grove_core.resources.owned_object import OwnedObject
from grove_core.resources.podclique import PodClique
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.simulator.checks.simulation_check import ActualClusterState, Manifest, SimulationCheck
from grove_shell.simulator.cluster.object_change_detector import ObjectChange
from grove_shell.simulator.recording.simulation_history import SimulationActor
from tests.oracles.sharing_facts import KINDS, LONGEST, NAME, claim_in, mnnvl_annotations_in, share_of


class MnnvlAdmissionCheck(SimulationCheck):
    """CD8, CD9, CD11: updates of sets, operators at their start, and names of new objects."""

    def __init__(self, state: ActualClusterState) -> None:
        super().__init__(state)
        self._unfit = False  # the running operator should have exited at its start
        self._users: dict[tuple[str, str], tuple[str, ...]] = {}  # namespace and name of a claim -> its user

    def on_user_set_write(self, new: Manifest, old: Manifest | None, stored: Manifest | Deny) -> None:
        """Check that an update which leaves the MNNVL annotations is not refused for them, and stores them (CD8)."""
        if old is None or mnnvl_annotations_in(new) != mnnvl_annotations_in(old):
            return
        name = f"PodCliqueSet/{_name_in(new)}"
        if isinstance(stored, Deny):
            paths = [one.path for one in stored.objections if "grove.io/mnnvl" in one.path]
            if paths:
                self.state.report_broken_promise(
                    "CD8", f"an update of {name} is refused for {paths[0]}, which it does not change", name
                )
        elif mnnvl_annotations_in(stored) != mnnvl_annotations_in(old):
            self.state.report_broken_promise("CD8", f"an update of {name} is stored with other MNNVL annotations", name)

    def on_operator_start(self, actor: SimulationActor, configuration: Configuration, *, goes_on: bool) -> None:
        """Check that exactly the operators which cannot create domains exit at their start (CD9)."""
        lacks = configuration.mnnvl.enabled and self.state.cluster.server.served.without_domains
        self._unfit = goes_on and lacks
        if not goes_on and not lacks:
            self.state.report_broken_promise("CD9", "an operator exited at its start without a reason")
        del actor

    def on_operator_write(self, actor: SimulationActor, snapshot: Snapshot, attempt: Attempt) -> None:
        """Check that an operator which cannot create domains writes nothing (CD9)."""
        if self._unfit and actor is SimulationActor.OPERATOR:
            message = f"an operator that cannot make ComputeDomains writes {attempt.step.target.short}"
            self.state.report_broken_promise("CD9", message, attempt.step.target.short)
        del snapshot

    def on_changes(self, changes: list[ObjectChange]) -> None:
        """Check that names are valid, and that each claim has one user (CD11)."""
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
                    self.state.report_broken_promise(
                        "CD11", f'{item.ref.short} has "{wrong[0]}", which is no valid name', item.ref.short
                    )
            elif isinstance(item, PodClique):
                self._check_claim(item)

    def _check_claim(self, clique: PodClique) -> None:
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
            self.state.report_broken_promise("CD11", message, clique.ref.short)


def _name_in(manifest: Mapping[str, Any]) -> str:
    return str((manifest.get("metadata") or {}).get("name", ""))
