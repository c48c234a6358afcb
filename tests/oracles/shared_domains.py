"""Checks ComputeDomains shared by annotation: users, owners and deletion (CD1 to CD7, CD10)."""

from typing import Final

from grove_core.areas.mnnvl_scopes.rules import SharedDomainReason
from grove_core.kernel.frozen import thaw_json
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Apply, Attempt, AttemptOutcome, Create, Delete
from grove_core.plan.plan import Plan
from grove_core.resources.compute_domain import ComputeDomain
from grove_core.resources.configuration import MnnvlMode
from grove_core.resources.labels import podcliqueset_name_from_labels
from grove_core.resources.naming_rules import parse_replica_index, scaled_gang_name
from grove_core.resources.owned_object import OwnedObject
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.simulator.checks.simulation_check import ActualClusterState, SimulationCheck
from grove_shell.simulator.cluster.object_change_detector import ObjectChange
from grove_shell.simulator.recording.simulation_history import SimulationActor
from tests.oracles.domain_facts import is_shared
from tests.oracles.sharing_facts import (
    ENABLED,
    KINDS,
    Share,
    Shared,
    claim_in,
    find_shared,
    name_prefix_of,
    share_of,
    stored_mnnvl_annotations,
    user_of,
)

_WAITING: Final = frozenset(
    {
        SharedDomainReason.EARLIER_OBJECT_BEING_DELETED,
        SharedDomainReason.NAME_SERVES_ANOTHER,
        SharedDomainReason.NOT_ENSURED,
    }
)


class SharedDomainCheck(SimulationCheck):
    """CD1 to CD7, CD10: checks new PodCliques, writes to the objects they share, and these objects at rest."""

    def __init__(self, state: ActualClusterState) -> None:
        super().__init__(state)
        self._shares: dict[str, Share] = {}  # uid of a PodClique with a shared claim -> its share
        self._known: set[str] = set()
        self._made_by_old_leader: set[str] = set()  # uids of PodCliques
        self._made: set[Ref] = set()

    # creation and changes

    def on_changes(self, changes: list[ObjectChange]) -> None:
        """Check new and changed PodCliques."""
        for change in changes:
            before, after = change.before, change.after
            if change.kind in KINDS and after is not None and before is None:
                self._made.add(after.ref)
            if not isinstance(after, PodClique):
                continue
            if before is None:
                self._add_clique(after)
            elif isinstance(before, PodClique):
                was = stored_mnnvl_annotations(before.annotations), claim_in(before.pod_spec)
                if was != (stored_mnnvl_annotations(after.annotations), claim_in(after.pod_spec)):
                    message = f"what {after.ref.short} shares was changed after its creation"
                    self.state.report_broken_promise("CD2", message, after.ref.short)

    def _add_clique(self, clique: PodClique) -> None:
        root = self.state.roots.get(self.state.root_of.get(clique.uid, ""))
        claim = claim_in(clique.pod_spec)
        self._known.add(clique.uid)
        if root is None or claim is None:
            return
        share = share_of(clique, root.ref.name)
        if share is None:
            self.state.report_broken_promise(
                "CD2", f"{clique.ref.short} does not opt in, and has claim {claim}", clique.ref.short
            )
        elif claim == share.claim:
            self._shares[clique.uid] = share

    def on_operator_write(self, actor: SimulationActor, snapshot: Snapshot, attempt: Attempt) -> None:
        """Check one write."""
        step = attempt.step
        if step.target.kind == "PodClique" and isinstance(step.action, Create):
            made = self.state.cluster.server.items.get(step.target)
            if isinstance(made, PodClique) and made.uid not in self._known:
                self._known.add(made.uid)
                if actor is SimulationActor.SECOND:
                    self._made_by_old_leader.add(made.uid)
                self._check_admission(made, snapshot)
        elif (
            step.target.kind in KINDS
            and attempt.outcome is AttemptOutcome.DONE
            and isinstance(step.action, Apply | Delete)
        ):
            of_name = snapshot.named_domains if step.target.kind == "ComputeDomain" else snapshot.named_claims
            found = of_name.get((step.target.namespace, step.target.name))
            if found is None or not is_shared(found):
                if step.target.kind != "ComputeDomain":  # compute_domains.py checks these
                    self.state.report_broken_promise(
                        "CD6", f"{step.target.short} is a foreign object", step.target.short
                    )
                return
            if user_of(found)[0] != snapshot.root.ref.name:
                self.state.report_broken_promise(
                    "CD6", f"{step.target.short} belongs to another set", step.target.short
                )
            if isinstance(step.action, Delete):
                self._check_deletion(found)

    def _check_admission(self, clique: PodClique, snapshot: Snapshot) -> None:
        """Check that a PodClique which opts in has its claim, and that domain and claim exist (CD2, CD6, CD7)."""
        if clique.deleting:  # its owner was deleted: it is garbage-collected
            return
        short, share = clique.ref.short, share_of(clique, snapshot.root.ref.name)
        is_on = self.state.cluster.server.configuration.mnnvl.is_enabled_in_mode(MnnvlMode.ANNOTATIONS)
        if share is None or not is_on:
            return
        if claim_in(clique.pod_spec) is None:
            self.state.report_broken_promise("CD2", f"{short} opts in, and is stored without a claim", short)
        for kind, name in (("ComputeDomain", share.domain), ("ResourceClaim", share.claim)):
            found = find_shared(self.state, kind, clique.ref.namespace, name)
            if found is None:
                self.state.report_broken_promise("CD2", f"{short} is stored, and {kind} {name} does not exist", short)
            elif not is_shared(found) or user_of(found) != share.user:
                self.state.report_broken_promise("CD6", f"{short} uses {kind} {name}, which is for another user", short)
            elif self.state.root_of.get(found.owner_uid, snapshot.root.uid) != snapshot.root.uid:
                self.state.report_broken_promise("CD7", f"{short} uses {kind} {name} of an earlier set", short)
            elif found.deleting:
                self.state.report_broken_promise("CD2", f"{short} uses {kind} {name}, which is being deleted", short)

    # actions of operators

    def on_operator_plan(self, actor: SimulationActor, snapshot: Snapshot, plan: Plan) -> None:
        """Check that only a PodClique which shares a domain waits for one (CD3)."""
        root = snapshot.root
        template = root.spec.template
        places = (root.annotations, *(one.annotations for one in template.cliques))
        silent = all(ENABLED not in one for one in places) and all(
            ENABLED not in group.annotations for group in template.pod_clique_scaling_groups
        )
        for held in plan.withheld:
            waits = held.target.kind == "PodClique" and _WAITING & {why.rule for why in held.because}
            if waits and (silent or self._opts_out(held.target, root)):
                self.state.report_broken_promise(
                    "CD3", f"{held.target.short} shares nothing, and waits for it", held.target.short
                )
        del actor

    def _opts_out(self, target: Ref, root: PodCliqueSet) -> bool:
        """Return whether the template of a standalone clique opts out."""
        for clique in root.spec.template.cliques:
            enabled = clique.annotations.get(ENABLED, root.annotations.get(ENABLED))
            replica, dash, short = target.name.removeprefix(f"{root.ref.name}-").partition("-")
            if dash and short == clique.name and parse_replica_index(replica) is not None:
                return enabled != "true"
        return False

    def _check_deletion(self, item: Shared) -> None:
        """Check that no domain or claim is deleted that has users or a PodGang as owner (CD5)."""
        name, stem = item.ref.short, name_prefix_of(item.ref)
        if item.owner_kind != "PodCliqueSet":
            self.state.report_broken_promise(
                "CD5", f"{name} was deleted, and {item.owner_kind} {item.owner_name} owns it", name
            )
        for clique in self.state.cluster.all_cliques():
            share = self._shares.get(clique.uid)
            if share is not None and share.name_prefix == stem and not self._is_no_user(clique, share):
                self.state.report_broken_promise(
                    "CD5", f"{name} was deleted while {clique.ref.name} uses it", name, clique.ref.short
                )
        server = self.state.cluster.server
        for pod in self.state.cluster.all_pods():
            manifest = server.manifests.get(pod.ref)
            of_old_leader = pod.owner_uid in self._made_by_old_leader
            if (
                manifest is not None
                and claim_in(thaw_json(manifest)["spec"]) == f"{stem}-mnnvl-claim"
                and not of_old_leader
            ):
                self.state.report_broken_promise(
                    "CD5", f"{name} was deleted while {pod.name} uses it", name, pod.ref.short
                )

    def _is_no_user(self, clique: PodClique, share: Share) -> bool:
        """Return whether a PodClique is of an old leader, or is being deleted without pods and without a known set."""
        is_known = podcliqueset_name_from_labels(clique.labels) == share.user[
            0
        ] or self.state.cluster.server.has_object_with_uid(clique.owner_uid)
        disappears = clique.deleting and not self.state.pods_of_clique(clique.uid)
        return clique.uid in self._made_by_old_leader or (disappears and not is_known)

    # at rest

    def check_at_rest(self) -> None:
        """Check that shared objects exist with the right owner, and that unused ones are deleted."""
        cluster = self.state.cluster
        for clique in cluster.all_cliques():
            share = self._shares.get(clique.uid)
            if (
                share is not None
                and not clique.deleting
                and cluster.server.configuration.mnnvl.is_enabled_in_mode(MnnvlMode.ANNOTATIONS)
            ):
                self._check_share(clique, share)
        for item in tuple(cluster.server.items.values()):
            if isinstance(item, ComputeDomain | OwnedObject) and item.ref.kind in KINDS and is_shared(item):
                self._check_need(item)

    def _check_share(self, clique: PodClique, share: Share) -> None:
        root = self.state.roots[self.state.root_of[clique.uid]]
        for kind, name in (("ComputeDomain", share.domain), ("ResourceClaim", share.claim)):
            found = find_shared(self.state, kind, clique.ref.namespace, name)
            if found is None or found.deleting:
                made = any(ref.kind == kind and ref.name == name for ref in self._made)
                message = f"{kind} {name}, which {clique.ref.short} uses, is never {'recreated' if made else 'created'}"
                self.state.report_broken_promise("CD10" if made else "CD1", message, clique.ref.short)
            elif is_shared(found) and user_of(found) == share.user:
                self._check_owner(clique, share, root, found)

    def _check_owner(self, clique: PodClique, share: Share, root: PodCliqueSet, item: Shared) -> None:
        """Check that the owner is the gang of the users where it exists, else the set (O1)."""
        name = f"{root.ref.name}-{self.state.replica_index_of_clique(clique)}"
        group = self.state.groups.get(clique.owner_uid)
        if any(share.user[2:]) and group is not None:
            beyond = int(share.user[3]) - group.min_available
            name = name if beyond < 0 else scaled_gang_name(group.ref.name, beyond)
        gang = self.state.cluster.find_object("PodGang", f"{clique.ref.namespace}/{name}")
        owner = gang if gang is not None and not gang.deleting else root
        if item.owner_uid != owner.uid:
            message = (
                f"{item.ref.short} belongs to {item.owner_kind} {item.owner_name}, and should to {owner.ref.short}"
            )
            self.state.report_broken_promise("O1", message, item.ref.short)

    def _check_need(self, item: Shared) -> None:
        """Check that a set owns shared objects of existing replicas only (CD1)."""
        root = next((one for one in self.state.cluster.all_sets() if one.uid == item.owner_uid), None)
        if root is None or root.deleting or item.deleting:
            return
        replica = parse_replica_index(user_of(item)[1])
        used = any(share.name_prefix == name_prefix_of(item.ref) for share in self._current_shares())
        if replica is not None and replica >= root.spec.replicas and not used:
            self.state.report_broken_promise("CD1", f"{item.ref.short} is left of a deleted replica", item.ref.short)

    def _current_shares(self) -> list[Share]:
        there = {clique.uid for clique in self.state.cluster.all_cliques()}
        return [share for uid, share in self._shares.items() if uid in there]
