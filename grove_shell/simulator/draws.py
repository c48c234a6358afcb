"""Faults and deeds drawn for a scenario: a list of events, made up front, the same for the same seed."""

from collections.abc import Callable, Mapping
from random import Random
from typing import Final, TypeAlias

from grove_core.snapshot.cluster import Cluster
from grove_shell.settings.mnnvl import MnnvlSettings
from grove_shell.simulator.cast import Cast, cast_of
from grove_shell.simulator.events import Event
from grove_shell.simulator.fault_events import (
    ChangeHashes,
    CrashOperator,
    EditStatus,
    ForeignDomain,
    GateForeign,
    HoldForeign,
    JumpClock,
    LagCache,
    LimitDomains,
    LoseAnswers,
    PermuteLists,
    Reconfigure,
    RefuseWrites,
    Relist,
    RemoveLabels,
    SecondLeader,
    SlowAnswers,
    Touch,
)
from grove_shell.simulator.fields import Kind
from grove_shell.simulator.scenario import Scenario
from grove_shell.simulator.spans import MINUTE, SECOND
from grove_shell.simulator.topology_draws import TOPOLOGY_DRAWS
from grove_shell.simulator.user_events import (
    ApplySet,
    Autoscale,
    ClaimAt,
    CrashPod,
    DomainAt,
    Named,
    NodeAt,
    PodAt,
    Scale,
)

_MOST: Final = 6
_OUTAGES: Final = 0.3
_TROUBLED: Final = 0.4
_LATE: Final = 0.3
_REARRANGED: Final = 3
_HORIZON: Final = 90 * SECOND


Drawn: TypeAlias = Callable[[Random, Cast, int], list[Event]]


def with_drawn_events(
    scenario: Scenario, seed: int, *, without: frozenset[str] = frozenset(), dump: Cluster | None = None
) -> Scenario:
    """The scenario, and what else happens in it for this seed.

    Few kinds of things happen in one world, so that each kind is alone in some worlds (swarm testing).

    Args:
        scenario: what happens in it happens all the same.
        seed: which world.
        without: kinds of events, as the fields of an event are called, that are not drawn.
        dump: what the scenario starts from, where it names one.
    """
    dice = Random(seed)  # noqa: S311 - a world is no secret
    cast = cast_of(scenario, dump)
    absent = (frozenset() if cast.cliques else _OF_CLIQUES) | (frozenset() if cast.sets else _OF_SETS)
    absent |= frozenset() if cast.domains else _OF_DOMAINS
    absent |= frozenset() if cast.claims else _OF_CLAIMS
    absent |= frozenset() if cast.topologies else frozenset(TOPOLOGY_DRAWS)
    absent |= frozenset() if cast.topologies and cast.sets else {"name_topology"}
    kinds = [name for name in _DRAWS if name not in without | absent]
    chosen = dice.sample(kinds, min(dice.randint(1, 4), len(kinds)))
    horizon = max((event.at for event in scenario.spec.events), default=0) + _HORIZON
    events = list(scenario.spec.events)
    for _ in range(dice.randint(1, _MOST)):
        name = dice.choice(chosen)
        early = dice.random() < 0.4  # noqa: PLR2004 - most is written while a set comes into being
        events += _DRAWS[name](dice, cast, dice.randrange(0, 3 * SECOND if early else horizon, 100))
    if "crash_pod" in kinds and dice.random() < _OUTAGES:
        events += _outage(dice, cast, horizon)
    troubles = [name for name in kinds if name in _OF_DOMAINS]
    if troubles and dice.random() < _TROUBLED:
        events += _DRAWS[dice.choice(troubles)](dice, cast, dice.randrange(0, horizon, 100))
    if "limit_domains" in troubles and dice.random() < _LATE:
        events += _late_domains(dice, cast, horizon, kinds)
    rearranged = [name for name in kinds if name in TOPOLOGY_DRAWS]
    for _ in range(dice.randint(0, _REARRANGED) if rearranged else 0):
        early = dice.random() < 0.5  # noqa: PLR2004 - while pods are placed
        events += _DRAWS[dice.choice(rearranged)](dice, cast, dice.randrange(0, 4 * SECOND if early else horizon, 100))
    return scenario.with_events(tuple(events))


def _span(dice: Random, most: int) -> int:
    return dice.randrange(SECOND, most, 500)


def _pod(dice: Random, cast: Cast) -> PodAt:
    return PodAt(clique=dice.choice(cast.cliques), index=dice.randrange(3))


def _outage(dice: Random, cast: Cast, horizon: int) -> list[Event]:
    """Pods of a clique that was up stay away for long: what gangs are terminated for."""
    at, clique = dice.randrange(15 * SECOND, 15 * SECOND + horizon, 100), dice.choice(cast.cliques)
    pods = (CrashPod(clique=clique, index=index, recovers=10 * MINUTE) for index in range(dice.randint(1, 3)))
    return [Event(at=at, crash_pod=pod) for pod in pods]


def _delete_pod(dice: Random, cast: Cast, at: int) -> list[Event]:
    return [Event(at=at, delete_pod=_pod(dice, cast))]


def _fail_pod(dice: Random, cast: Cast, at: int) -> list[Event]:
    return [Event(at=at, fail_pod=_pod(dice, cast))]


def _crash_pod(dice: Random, cast: Cast, at: int) -> list[Event]:
    pod = _pod(dice, cast)
    recovers = dice.choice((10 * SECOND, 2 * MINUTE, 10 * MINUTE))
    return [Event(at=at, crash_pod=CrashPod(clique=pod.clique, index=pod.index, recovers=recovers))]


def _lose_node(dice: Random, cast: Cast, at: int) -> list[Event]:
    if not cast.nodes:
        return []
    node = NodeAt(node=dice.choice(cast.nodes))
    back = at + dice.choice((20 * SECOND, 2 * MINUTE, 8 * MINUTE))
    end = Event(at=back, restore_node=node) if dice.random() < 0.8 else Event(at=back, remove_node=node)  # noqa: PLR2004 - how often a node comes back is a taste, not a quantity
    return [Event(at=at, lose_node=node), end]


def _cordon(dice: Random, cast: Cast, at: int) -> list[Event]:
    if not cast.nodes:
        return []
    node = NodeAt(node=dice.choice(cast.nodes))
    return [Event(at=at, cordon=node), Event(at=at + _span(dice, 3 * MINUTE), uncordon=node)]


def _scale(dice: Random, cast: Cast, at: int) -> list[Event]:
    if cast.groups and dice.random() < 0.5:  # noqa: PLR2004 - a coin
        name, least = dice.choice(cast.groups)  # fewer than the minimum is a breach that the user asks for
        scale = Scale(kind="PodCliqueScalingGroup", name=name, replicas=dice.randint(least, max(least, 3)))
    else:
        name = dice.choice(cast.sets)["metadata"]["name"]
        scale = Scale(kind="PodCliqueSet", name=name, replicas=dice.randint(0, 2))
    return [Event(at=at, scale=scale)]


def _autoscale(dice: Random, cast: Cast, at: int) -> list[Event]:
    if not cast.scalers:
        return []
    return [Event(at=at, autoscale=Autoscale(name=dice.choice(cast.scalers), replicas=dice.randint(0, 5)))]


def _update(dice: Random, cast: Cast, at: int) -> list[Event]:
    """Another image for one clique."""
    manifest = dict(dice.choice(cast.sets))
    template = dict(manifest["spec"]["template"])
    cliques = [dict(clique) for clique in template["cliques"]]
    place = dice.randrange(len(cliques))
    spec = dict(cliques[place]["spec"])
    pod_spec = dict(spec["podSpec"])
    image = f"example.com/engine:{dice.randint(2, 4)}"
    pod_spec["containers"] = [{**container, "image": image} for container in pod_spec["containers"]]
    cliques[place]["spec"] = {**spec, "podSpec": pod_spec}
    template["cliques"] = cliques
    changed = {**manifest, "spec": {**manifest["spec"], "template": template}}
    return [Event(at=at, apply_set=ApplySet(manifest=changed))]


def _delete_set(dice: Random, cast: Cast, at: int) -> list[Event]:
    manifest = dice.choice(cast.sets)
    gone = Event(at=at, delete_set=Named(name=manifest["metadata"]["name"]))
    if dice.random() < 0.5:  # noqa: PLR2004 - a coin
        return [gone]
    return [gone, Event(at=at + _span(dice, MINUTE), apply_set=ApplySet(manifest=dict(manifest)))]


def _crash_operator(dice: Random, cast: Cast, at: int) -> list[Event]:
    del cast
    fault = CrashOperator(
        write=dice.randrange(20),
        committed=dice.random() < 0.5,  # noqa: PLR2004 - a coin
        down=dice.choice((100, 5 * SECOND, 90 * SECOND)),
        times=dice.choice((1, 1, 2)),
    )
    return [Event(at=at, crash_operator=fault)]


def _lag_cache(dice: Random, cast: Cast, at: int) -> list[Event]:
    kinds: tuple[Kind, ...] = tuple(dice.sample(cast.kinds, dice.randint(1, 3)))
    return [Event(at=at, lag_cache=LagCache(kinds=kinds, span=_span(dice, MINUTE)))]


def _relist(dice: Random, cast: Cast, at: int) -> list[Event]:
    """Never from the past: an operator that lists does not accept less than it has seen (RS9)."""
    del cast, dice
    return [Event(at=at, relist=Relist())]


def _touch(dice: Random, cast: Cast, at: int) -> list[Event]:
    return [Event(at=at, touch=Touch(kind=dice.choice(cast.kinds), writes=dice.randint(1, 5)))]


def _lose_answers(dice: Random, cast: Cast, at: int) -> list[Event]:
    del cast
    return [Event(at=at, lose_answers=LoseAnswers(writes=dice.randint(1, 10)))]


def _refuse_writes(dice: Random, cast: Cast, at: int) -> list[Event]:
    fault = RefuseWrites(
        code=dice.choice((403, 422, 429, 503)), kind=dice.choice((None, *cast.kinds)), writes=dice.randint(1, 8)
    )
    return [Event(at=at, refuse_writes=fault)]


def _slow_answers(dice: Random, cast: Cast, at: int) -> list[Event]:
    del cast
    delay = dice.choice((200, 2 * SECOND, 10 * SECOND))
    return [Event(at=at, slow_answers=SlowAnswers(delay=delay, span=_span(dice, MINUTE)))]


def _change_hashes(dice: Random, cast: Cast, at: int) -> list[Event]:
    del cast
    return [Event(at=at, change_hashes=ChangeHashes(down=dice.choice((100, 5 * SECOND, 90 * SECOND))))]


def _second_leader(dice: Random, cast: Cast, at: int) -> list[Event]:
    del cast
    return [Event(at=at, second_leader=SecondLeader(span=_span(dice, 30 * SECOND), every=dice.choice((1000, 3000))))]


def _jump_clock(dice: Random, cast: Cast, at: int) -> list[Event]:
    del cast
    jump = dice.choice((2 * SECOND, 30 * SECOND, 5 * MINUTE))
    ahead, back = (jump, 0) if dice.random() < 0.5 else (0, jump)  # noqa: PLR2004 - a coin
    return [Event(at=at, jump_clock=JumpClock(ahead=ahead, back=back, span=_span(dice, 2 * MINUTE)))]


def _hold_foreign(dice: Random, cast: Cast, at: int) -> list[Event]:
    return [
        Event(
            at=at, hold_foreign=HoldForeign(kind="PodClique", name=dice.choice(cast.cliques), span=_span(dice, MINUTE))
        )
    ]


def _gate_foreign(dice: Random, cast: Cast, at: int) -> list[Event]:
    pod = _pod(dice, cast)
    gate = GateForeign(clique=pod.clique, index=pod.index, span=_span(dice, MINUTE))
    return [Event(at=at % (5 * SECOND), gate_foreign=gate)]


def _remove_labels(dice: Random, cast: Cast, at: int) -> list[Event]:
    return [Event(at=at, remove_labels=RemoveLabels(clique=dice.choice(cast.cliques)))]


def _edit_status(dice: Random, cast: Cast, at: int) -> list[Event]:
    return [Event(at=at, edit_status=EditStatus(clique=dice.choice(cast.cliques)))]


def _permute_lists(dice: Random, cast: Cast, at: int) -> list[Event]:
    del cast
    return [Event(at=at, permute_lists=PermuteLists(span=_span(dice, MINUTE), seed=dice.randrange(1000)))]


def _delete_domain(dice: Random, cast: Cast, at: int) -> list[Event]:
    return [Event(at=at, delete_domain=DomainAt(name=dice.choice(cast.domains)))]


def _delete_claim(dice: Random, cast: Cast, at: int) -> list[Event]:
    return [Event(at=at, delete_claim=ClaimAt(name=dice.choice(cast.claims)))]


def _foreign_domain(dice: Random, cast: Cast, at: int) -> list[Event]:
    """Often of an earlier set of the name, as it may outlive its set."""
    earlier = f"PodCliqueSet/{cast.sets[0]['metadata']['name']}" if cast.sets else None
    owner = dice.choice((None, "Deployment/other", earlier))
    fault = ForeignDomain(name=dice.choice(cast.domains), owner=owner, span=_span(dice, 3 * MINUTE))
    return [Event(at=at, foreign_domain=fault)]


def _limit_domains(dice: Random, cast: Cast, at: int) -> list[Event]:
    most = dice.randrange(len(cast.domains) + 1)
    return [Event(at=at, limit_domains=LimitDomains(most=most, span=_span(dice, 3 * MINUTE)))]


def _late_domains(dice: Random, cast: Cast, horizon: int, kinds: list[str]) -> list[Event]:
    """Replicas that run without, domains that come late, and then parts that are made anew."""
    most = dice.randrange(len(cast.domains))
    late = Event(at=0, limit_domains=LimitDomains(most=most, span=dice.choice((SECOND, 5 * SECOND, 30 * SECOND))))
    then = dice.randrange(15 * SECOND, 15 * SECOND + horizon, 100)
    if "scale" in kinds and dice.random() < 0.5:  # noqa: PLR2004 - a coin
        return [late, *_scale(dice, cast, then)]
    return [late, *(_outage(dice, cast, horizon) if "crash_pod" in kinds else ())]


def _reconfigure(dice: Random, cast: Cast, at: int) -> list[Event]:
    told = MnnvlSettings(enabled=dice.random() < 0.5, mode="annotations" if cast.claims else "operator")  # noqa: PLR2004 - a coin
    return [Event(at=at, reconfigure=Reconfigure(mnnvl=told, down=dice.choice((100, 5 * SECOND, 90 * SECOND))))]


_DRAWS: Final[Mapping[str, Drawn]] = {
    "delete_pod": _delete_pod,
    "fail_pod": _fail_pod,
    "crash_pod": _crash_pod,
    "lose_node": _lose_node,
    "cordon": _cordon,
    "scale": _scale,
    "autoscale": _autoscale,
    "apply_set": _update,
    "delete_set": _delete_set,
    "crash_operator": _crash_operator,
    "lag_cache": _lag_cache,
    "relist": _relist,
    "touch": _touch,
    "lose_answers": _lose_answers,
    "refuse_writes": _refuse_writes,
    "slow_answers": _slow_answers,
    "change_hashes": _change_hashes,
    "second_leader": _second_leader,
    "jump_clock": _jump_clock,
    "hold_foreign": _hold_foreign,
    "gate_foreign": _gate_foreign,
    "edit_status": _edit_status,
    "remove_labels": _remove_labels,
    "permute_lists": _permute_lists,
    "delete_domain": _delete_domain,
    "delete_claim": _delete_claim,
    "foreign_domain": _foreign_domain,
    "limit_domains": _limit_domains,
    "reconfigure": _reconfigure,
    **TOPOLOGY_DRAWS,
}
_OF_CLIQUES: Final = frozenset(
    {"delete_pod", "fail_pod", "crash_pod", "hold_foreign", "gate_foreign", "edit_status", "remove_labels"}
)
_OF_CLAIMS: Final = frozenset({"delete_claim"})
_OF_DOMAINS: Final = frozenset({"delete_domain", "foreign_domain", "limit_domains", "reconfigure"})
_OF_SETS: Final = frozenset({"scale", "apply_set", "delete_set"})
DRAWN: Final = tuple(_DRAWS)
"""Every kind of event that is drawn."""
