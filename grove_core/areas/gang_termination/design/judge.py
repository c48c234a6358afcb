"""Judges a set by the design: each clique, each scaling group, then each replica of the set."""

from collections import Counter, defaultdict

from grove_core.areas.gang_termination.design.clique import judge_clique
from grove_core.areas.gang_termination.design.group import judge_group
from grove_core.areas.gang_termination.design.replica import judge_replicas
from grove_core.areas.gang_termination.rules import Why
from grove_core.areas.gang_termination.verdicts import CliqueJudgement, Judgement
from grove_core.resources.podclique import PodClique
from grove_core.resources.statuses import is_marked_breached
from grove_core.snapshot.snapshot import Snapshot, is_too_large


def judge_by_design(snapshot: Snapshot) -> Judgement:
    """Return the judgement of a set by the Gang Termination Design Doc. Linear in its pods, cliques and groups."""
    judgement = judge_terminations(snapshot)
    lacking = {judged.clique.uid: judged for judged in judgement.cliques}
    cliques = tuple(
        lacking.get(clique.uid) or judge_clique(clique, snapshot.pods_of.get(clique.uid, ()), snapshot.now)
        for clique in snapshot.cliques
        if not clique.deleting
    )
    return judgement._replace(cliques=cliques)


def judge_terminations(snapshot: Snapshot) -> Judgement:
    """Return the same judgement with only those cliques that have too few ready pods.

    No termination depends on the other cliques; they matter for statuses and findings.
    """
    root, now = snapshot.root, snapshot.now
    pods_of, guard = snapshot.pods_of, why_not_terminated(snapshot)
    leaving: list[PodClique] = []
    lacking: dict[str, CliqueJudgement] = {}  # by uid, those with too few ready pods: no other clique can be breached
    members: defaultdict[str, list[CliqueJudgement]] = defaultdict(list)
    for clique in snapshot.cliques:
        if clique.deleting:
            leaving.append(clique)
            continue
        pods = pods_of.get(clique.uid, ())
        spare = len(pods) - clique.min_available
        for pod in pods:
            if not pod.ready:
                spare -= 1
        if spare < 0:
            judged = lacking[clique.uid] = judge_clique(clique, pods, now)
            members[clique.owner_uid].append(judged)
    gone = {clique.uid for clique in leaving}
    standing = tuple(clique for clique in snapshot.cliques if clique.uid not in gone) if gone else snapshot.cliques
    stand = any(is_marked_breached(group.status) for group in snapshot.groups)
    left = Counter(clique.replica_index for clique in standing) if stand else Counter[int]()
    groups = tuple(
        [
            judge_group(root, group, members.get(group.uid, ()), now, guard, left[group.replica_index])
            for group in snapshot.groups
            if not group.deleting
        ]
    )
    indices = {clique.replica_index for clique in standing}
    indices.update([judged.group.replica_index for judged in groups])
    replicas = root.spec.replicas
    wanted = [index for index in sorted(indices) if 0 <= index < replicas]
    return Judgement(
        cliques=tuple(lacking.values()),
        leaving=tuple(leaving),
        groups=groups,
        replicas=judge_replicas(root, wanted, lacking.values(), groups, now, guard),
        guard=guard,
    )


def why_not_terminated(snapshot: Snapshot) -> Why | None:
    """Return why nothing of a set may be terminated; None if it may (GT-037, GT-064)."""
    if snapshot.root.deleting:
        return Why.SET_BEING_DELETED
    return Why.SET_TOO_LARGE if is_too_large(snapshot) else None
