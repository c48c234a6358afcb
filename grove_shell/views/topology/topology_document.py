"""The JSON documents of ``grove topology list``, ``impact`` and ``check``."""

from collections.abc import Iterable
from typing import Any

from grove_core.areas.topology.fit_check import GangFit, GangTreeFit, PodColocation
from grove_core.areas.topology.usage_report import TopologyUsage
from grove_core.document.step_writing import reason_as_json
from grove_core.gang_fit import GangFitReport, TopologyFit
from grove_core.resources.cluster_topology import Levels
from grove_shell.reading.input_topologies import NodeCollector
from grove_shell.views.formatting import admission_remark_as_json
from grove_shell.views.topology.topology_page import NO_PLACEMENTS, PlacementsOfSets, TopologyChangeImpact

Json = dict[str, Any]
_THOUSAND = 1000


def topology_list_as_json(
    usages: Iterable[TopologyUsage],
    without: int,
    unknown: Iterable[str] = (),
    placements: PlacementsOfSets = NO_PLACEMENTS,
) -> Json:
    """Return the document of ``grove topology list``.

    Args:
        without: number of sets without a topology.
        unknown: kinds that show users of topologies and are incomplete in the input.
        placements: whether the pods of the sets are where the topologies want them.
    """
    return {
        "topologies": [_usage_with_placements(one, placements) for one in usages],
        "setsWithoutTopology": without,
        "notCollected": list(unknown),
    }


def topology_impact_as_json(impact: TopologyChangeImpact) -> Json:
    """Return the document of ``grove topology impact``."""
    return {
        "topology": _usage(impact.one),
        "change": {"levels": _levels(impact.after.levels)} if impact.after is not None else None,
        "verdict": type(impact.decision.verdict).__name__ if impact.decision is not None else None,
        "objections": [admission_remark_as_json(one) for one in impact.objections],
        "warnings": [admission_remark_as_json(one) for one in impact.warnings],
        "sets": [
            {
                "namespace": one.root.namespace,
                "name": one.root.name,
                "byDefault": one.by_default,
                "standing": one.after.resolution.value,
                "podGangs": [
                    {"name": gang.name, "fate": gang.change.value, "because": [*map(reason_as_json, gang.because)]}
                    for gang in one.gangs
                ],
            }
            for one in impact.sets
        ],
    }


def topology_check_as_json(checks: Iterable[GangFitReport], collected: NodeCollector) -> Json:
    """Return the document of ``grove topology check``."""
    return {
        "nodes": len(collected.nodes),
        "podsOnNodes": collected.pods_on_listed_nodes if collected.with_pods else None,
        "sets": [
            {
                "namespace": check.root.namespace,
                "name": check.root.name,
                "objections": [admission_remark_as_json(one) for one in check.objections],
                "own": _topology(check.own),
                "others": [_topology(other) for other in check.others],
            }
            for check in checks
        ],
    }


def _usage_with_placements(one: TopologyUsage, placements: PlacementsOfSets) -> Json:
    found = _usage(one)
    for shown, user in zip(found["users"], one.users, strict=True):
        shown["misplaced"] = [reason_as_json(why) for why in placements.reasons_for_user(user)]
        shown["placementKnown"] = not placements.is_unknown_for_user(user)
    return found


def _usage(one: TopologyUsage) -> Json:
    return {
        "name": one.name,
        "kind": one.kind or None,
        "levels": _levels(one.levels),
        "state": one.state.value,
        "finalizer": one.has_finalizer,
        "locked": one.locked,
        "notCollected": list(one.not_collected),
        "users": [
            {"namespace": user.namespace, "name": user.name, "byDefault": user.by_default, "boundPods": user.bound}
            for user in one.users
        ],
        "because": [reason_as_json(reason) for reason in (*one.because, *one.lock)],
    }


def _topology(one: TopologyFit) -> Json:
    return {
        "topology": one.name or None,
        "verdict": one.worst_verdict.value,
        "levels": _levels(one.levels),
        "because": [reason_as_json(reason) for reason in one.because],
        "against": [reason_as_json(reason) for reason in one.switch_refusals],
        "nodesWithoutLabels": {"labels": dict(one.unlabelled.lacking), "names": list(one.unlabelled.names)},
        "gangs": [_gang(gang) for gang in one.fit.gangs] if one.fit is not None else [],
        "together": _fitting(one.fit.result) if one.fit is not None else None,
    }


def _gang(gang: GangFit) -> Json:
    return {
        "names": list(gang.names),
        "pods": gang.pods,
        "minimum": gang.minimum,
        "asks": {resource: _amount(amount) for resource, amount in gang.requested},
        "guaranteed": [_promise(one) for one in gang.guaranteed],
        **_fitting(gang.result),
        "started": _fitting(gang.minimum_result) if gang.minimum_result is not None else None,
        "preferred": [{**_promise(promise), **_fitting(fitting)} for promise, fitting in gang.preferred],
    }


def _fitting(fitting: GangTreeFit) -> Json:
    return {
        "verdict": fitting.verdict.value,
        "domain": fitting.domain or None,
        "because": [reason_as_json(reason) for reason in fitting.because],
        "places": [place._asdict() for place in fitting.assignments],
    }


def _promise(one: PodColocation) -> Json:
    return {"pods": one.pods, "of": one.of, "inOne": one.level}


def _amount(thousandths: int) -> int | float:
    whole, rest = divmod(thousandths, _THOUSAND)
    return thousandths / _THOUSAND if rest else whole


def _levels(levels: Levels) -> list[Json]:
    return [level._asdict() for level in levels]
