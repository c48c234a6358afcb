"""A set as the design sees it: each clique, each group, then each replica of the set."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import overload

from grove_core.areas.gang_termination.coverage import not_collected
from grove_core.areas.gang_termination.design.clique import judge_clique
from grove_core.areas.gang_termination.design.group import judge_group
from grove_core.areas.gang_termination.design.replica import judge_replicas
from grove_core.areas.gang_termination.rules import Why
from grove_core.areas.gang_termination.verdicts import CliqueJudgement, Judgement
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import PodClique
from grove_core.resources.statuses import is_marked_breached
from grove_core.snapshot.size import is_too_large
from grove_core.snapshot.snapshot import Snapshot


class JudgedCliques(Sequence[CliqueJudgement]):
    """The judgements of all cliques; those of cliques with enough ready pods are made when somebody looks at them.

    A termination depends on the others alone, so deciding it need not pay for what only statuses and readers want.
    """

    def __init__(
        self,
        cliques: Sequence[PodClique],
        lacking: Mapping[str, CliqueJudgement],
        pods_of: Mapping[str, Sequence[Pod]],
        now: datetime,
    ) -> None:
        self._cliques = cliques
        self._lacking = lacking
        self._pods_of = pods_of
        self._now = now

    def __len__(self) -> int:
        return len(self._cliques)

    def __iter__(self) -> Iterator[CliqueJudgement]:
        return map(self._judge, self._cliques)

    @overload
    def __getitem__(self, index: int) -> CliqueJudgement: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[CliqueJudgement, ...]: ...

    def __getitem__(self, index: int | slice) -> CliqueJudgement | tuple[CliqueJudgement, ...]:
        if isinstance(index, slice):
            return tuple(map(self._judge, self._cliques[index]))
        return self._judge(self._cliques[index])

    def _judge(self, clique: PodClique) -> CliqueJudgement:
        uid = clique.uid
        return self._lacking.get(uid) or judge_clique(clique, self._pods_of.get(uid, ()), self._now)


def judge_by_design(snapshot: Snapshot) -> Judgement:
    """Judge a set by the Gang Termination Design Doc. Linear in its pods, cliques and groups."""
    root, now = snapshot.root, snapshot.now
    unknown = not_collected(snapshot, Why.NOT_COLLECTED)
    if unknown:
        return Judgement(unknown=unknown)
    pods_of, guard = snapshot.pods_of, guard_of(snapshot)
    leaving: list[PodClique] = []
    lacking: dict[str, CliqueJudgement] = {}  # by uid: those with too few ready pods; the others cannot be breached
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
        cliques=JudgedCliques(standing, lacking, pods_of, now),
        leaving=tuple(leaving),
        groups=groups,
        replicas=judge_replicas(root, wanted, lacking.values(), groups, now, guard),
        guard=guard,
    )


def guard_of(snapshot: Snapshot) -> Why | None:
    """Why nothing of a set is ended whatever is breached; None where it may be (GT-037, GT-064)."""
    if snapshot.root.deleting:
        return Why.SET_BEING_DELETED
    return Why.SET_TOO_LARGE if is_too_large(snapshot) else None
