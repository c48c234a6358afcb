"""Own writes that a list does not show yet: accepted ones count as observed, others may have been carried out."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final, TypeVar

from grove_core.kernel.frozen import FrozenDict, FrozenMap, frozen_dict_of_tuples, thaw_json
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import FAILURES, Action, Attempt, AttemptOutcome, Create, Delete, Make
from grove_core.kernel.structs import replace
from grove_core.resources.api_names import CLAIM_KIND, CLIQUE_KIND, DOMAIN_KIND, GROUP_KIND, POD_KIND
from grove_core.resources.compute_domain import ComputeDomain, compute_domain_from_json
from grove_core.resources.object_after_write import K, object_after_write
from grove_core.resources.owned_object import OwnedObject, owned_object_from_json
from grove_core.resources.pod import Pod, pod_from_json
from grove_core.resources.podclique import PodClique, podclique_from_json
from grove_core.resources.scaling_group import ScalingGroup, scaling_group_from_json
from grove_core.snapshot.snapshot import Snapshot

Named = TypeVar("Named", ComputeDomain, OwnedObject)
_MAY_EXIST: Final = frozenset({AttemptOutcome.DONE, AttemptOutcome.UNREACHABLE})


def standing_refusals_after_round(before: tuple[Attempt, ...], now: tuple[Attempt, ...]) -> tuple[Attempt, ...]:
    """Return the refusals that stand after a round, the newest of each write.

    A loop passes them to its next round; otherwise it would repeat the refused writes for ever. Fresh reads that failed
    are kept, too.
    """
    not_confirmed = tuple(attempt for attempt in before if attempt.outcome is AttemptOutcome.NOT_CONFIRMED)
    found = {
        attempt.step.write_key: attempt for attempt in before if attempt.outcome is not AttemptOutcome.NOT_CONFIRMED
    }
    for attempt in now:
        if attempt.is_withheld:
            found[attempt.step.write_key] = attempt
        else:
            found.pop(attempt.step.write_key, None)
    return (*found.values(), *not_confirmed)


def with_own_writes(snapshot: Snapshot) -> Snapshot:
    """Return the snapshot with the accepted writes that the list does not show yet (PL-018).

    A deletion counts until the object with that uid is gone. Any other write counts until the listed resource version
    changes. A created pod counts as existing; it has no uid yet, so no step can target it.
    """
    done: dict[Ref, list[Action]] = {}
    for attempt in snapshot.attempts:
        if attempt.outcome is AttemptOutcome.DONE:
            done.setdefault(attempt.step.target, []).append(attempt.step.action)
    if not done:
        return snapshot

    def seen(item: K) -> K:
        return _written(item, done[item.ref]) if item.ref in done else item

    pods = {ref: actions for ref, actions in done.items() if ref.kind == POD_KIND}
    domains = _with_own(snapshot.named_domains, DOMAIN_KIND, compute_domain_from_json, done)
    claims = _with_own(snapshot.named_claims, CLAIM_KIND, owned_object_from_json, done)
    return replace(
        snapshot,
        root=seen(snapshot.root),
        groups=tuple(map(seen, snapshot.groups)),
        cliques=tuple(map(seen, snapshot.cliques)),
        gangs=tuple(map(seen, snapshot.gangs)),
        others=tuple(
            (claims.get((one.ref.namespace, one.ref.name)) if one.ref.kind == CLAIM_KIND else None) or seen(one)
            for one in snapshot.others
        ),
        domains=tuple(domains.get((one.ref.namespace, one.ref.name)) or seen(one) for one in snapshot.domains),
        named_domains=domains,
        named_claims=claims,
        pods_of=_with_own_pods(snapshot, pods) if pods else snapshot.pods_of,
    )


def _with_own(
    named: FrozenDict[tuple[str, str], Named],
    kind: str,
    project: Callable[[dict[str, object]], Named],
    done: Mapping[Ref, Sequence[Action]],
) -> FrozenDict[tuple[str, str], Named]:
    """The objects of a kind by name, with own writes; one that was just created has no uid yet."""
    found = dict[tuple[str, str], Named]()
    for ref, actions in done.items():
        if ref.kind != kind:
            continue
        key = (ref.namespace, ref.name)
        item = named.get(key)
        last = actions[-1]
        if item is not None:
            found[key] = _written(item, actions)
        elif isinstance(last, Make):
            found[key] = project(thaw_json(last.manifest))
    return FrozenDict({**named, **found}) if found else named


def _written(item: K, actions: Iterable[Action]) -> K:
    """A listed object with own writes; a deletion applies to its uid, any other write to its resource version."""
    version = item.guard
    for action in actions:
        if isinstance(action, Delete):
            item = object_after_write(item, action) if action.guard.uid == item.uid else item
        elif not isinstance(action, Make):
            item = object_after_write(item, action) if action.guard == version else item
    return item


def _with_own_pods(snapshot: Snapshot, done: Mapping[Ref, Sequence[Action]]) -> FrozenDict[str, tuple[Pod, ...]]:
    """All pods, with own writes to the pods of the root. Linear in the latter.

    A pod that was created for a PodClique that is gone by now is included, since it may outlive it (MN-051).
    """
    pods_of = {clique.uid: list(snapshot.pods_of.get(clique.uid, ())) for clique in snapshot.cliques}
    listed = set[Ref]()
    for pods in pods_of.values():
        for place, pod in enumerate(pods):
            ref = pod.ref
            listed.add(ref)
            if ref in done:
                pods[place] = _written(pod, done[ref])
    for ref, actions in done.items():
        last = actions[-1]
        if isinstance(last, Make) and ref not in listed:
            created = pod_from_json(thaw_json(last.manifest), {})
            if created.owner_uid not in pods_of:
                outliving = pods_of[created.owner_uid] = list(snapshot.pods_of.get(created.owner_uid, ()))
                listed.update(pod.ref for pod in outliving)
            if ref not in listed:
                pods_of[created.owner_uid].append(created)
    return FrozenDict({**snapshot.pods_of, **frozen_dict_of_tuples(pods_of)})


def possibly_created_cliques(snapshot: Snapshot) -> Iterator[PodClique]:
    """Yield PodCliques whose creation was accepted or got no response, and that the snapshot lacks (PL-018).

    They have no uid yet, so no step can target them. Linear in the attempts.
    """
    there = {clique.ref for clique in (*snapshot.cliques, *snapshot.orphans)}
    for ref, manifest in attempted_creations_of_kinds(snapshot, {CLIQUE_KIND}, _MAY_EXIST):
        if ref not in there:
            yield podclique_from_json(thaw_json(manifest))


def created_parts_not_listed(snapshot: Snapshot) -> Iterator[PodClique | ScalingGroup]:
    """Yield PodCliques and scaling groups whose creation was accepted and that the snapshot lacks (PL-018). Linear."""
    there = {part.ref for part in (*snapshot.cliques, *snapshot.groups)}
    for ref, manifest in attempted_creations_of_kinds(snapshot, {CLIQUE_KIND, GROUP_KIND}, {AttemptOutcome.DONE}):
        if ref not in there:
            yield (
                podclique_from_json(thaw_json(manifest))
                if ref.kind == CLIQUE_KIND
                else scaling_group_from_json(thaw_json(manifest))
            )


def possibly_created_pods(snapshot: Snapshot) -> Iterator[Pod]:
    """Yield pods whose creation got no response and that the snapshot lacks. Linear in the attempts.

    Pods whose creation was accepted are in the snapshot already (:func:`with_own_writes`).
    """
    perhaps = tuple(attempted_creations_of_kinds(snapshot, {POD_KIND}, {AttemptOutcome.UNREACHABLE}))
    there = {pod.ref for _, pod in snapshot.pods()} if perhaps else set()
    for ref, manifest in perhaps:
        if ref not in there:
            yield pod_from_json(thaw_json(manifest), {})


def attempted_creations_of_kinds(
    snapshot: Snapshot, kinds: AbstractSet[str], outcomes: AbstractSet[AttemptOutcome]
) -> Iterator[tuple[Ref, FrozenMap]]:
    """Yield the address and manifest of each attempted creation with one of these kinds and outcomes."""
    for attempt in snapshot.attempts:
        action, ref = attempt.step.action, attempt.step.target
        if isinstance(action, Create) and ref.kind in kinds and attempt.outcome in outcomes:
            yield ref, action.manifest


def failed_deletion_targets(snapshot: Snapshot) -> AbstractSet[tuple[Ref, str]]:
    """Return address and uid of each object whose deletion failed, whatever its resource version is by now."""
    return {
        (attempt.step.target, attempt.step.action.guard.uid)
        for attempt in snapshot.attempts
        if attempt.outcome in FAILURES and isinstance(attempt.step.action, Delete)
    }


def refused_creations(snapshot: Snapshot, action: type[Make]) -> Mapping[tuple[str, str], str]:
    """Return the details of refused creations by kind and name; the last refusal counts."""
    return {
        (attempt.step.target.kind, attempt.step.target.name): attempt.detail or "no detail given"
        for attempt in snapshot.attempts
        if attempt.outcome is AttemptOutcome.REFUSED and isinstance(attempt.step.action, action)
    }
