"""What averts a termination, and what is behind it, in the JSON plan (PL-040, CL-072)."""

from grove_core.document.plan_document import (
    Json,
    require_boolean,
    require_integer,
    require_list,
    require_text,
    require_time,
)
from grove_core.document.step_reading import ref_from_json
from grove_core.document.step_writing import ref_as_json
from grove_core.kernel.time_formats import format_go_duration, format_time, parse_duration
from grove_core.plan.termination_hints import (
    LongerDelay,
    LostNodeOfPods,
    ReadyPodsToEndBreach,
    RoomForReplacement,
    SchedulerMessage,
    TerminationHints,
)
from grove_core.resources.json_field_reader import short_json


def hints_as_json(hints: TerminationHints) -> Json:
    """Return hints as JSON, without their empty optional fields."""
    shown: Json = {"replica": ref_as_json(hints.replica)}
    averted_by: Json = {}
    if hints.ready_pods:
        averted_by["readyPods"] = [_ready_pods_as_json(one) for one in hints.ready_pods]
    if hints.spares_not:
        averted_by["sparesNot"] = [ref_as_json(ref) for ref in hints.spares_not]
    if hints.longer_delay is not None:
        above = format_go_duration(hints.longer_delay.above)
        averted_by["longerDelay"] = {"fields": list(hints.longer_delay.fields), "above": above}
    shown["avertedBy"] = averted_by
    shown["unreadyPods"] = hints.unready
    if hints.nodes:
        shown["lostNodes"] = [_node_as_json(one) for one in hints.nodes]
    if hints.messages:
        shown["schedulerMessages"] = [one._asdict() for one in hints.messages]
    if hints.room is not RoomForReplacement.NODES_MISSING:
        shown["room"] = hints.room.value
    return shown


def _ready_pods_as_json(one: ReadyPodsToEndBreach) -> Json:
    shown: Json = {"podClique": ref_as_json(one.clique), "count": one.pods}
    if one.before is not None:
        shown["before"] = format_time(one.before)
    if one.replicas is not None:
        shown["replicas"] = one.replicas
    if one.starting_pods_count_already:
        shown["startingPodsCountAlready"] = True
    if one.gated:
        shown["gated"] = True
    return shown


def _node_as_json(one: LostNodeOfPods) -> Json:
    since = {} if one.since is None else {"since": format_time(one.since)}
    return {"name": one.node, "taint": one.taint, **since, "pods": one.pods}


def termination_hints_from_json(raw: Json) -> TerminationHints:
    """Return the hints of a termination that the JSON plan has. Raises MalformedPlanValue for values of other types."""
    averted_by = raw["avertedBy"]
    return TerminationHints(
        replica=ref_from_json(raw["replica"]),
        ready_pods=tuple(map(_ready_pods_from_json, require_list(averted_by.get("readyPods", [])))),
        spares_not=tuple(map(ref_from_json, require_list(averted_by.get("sparesNot", [])))),
        longer_delay=_delay_from_json(averted_by["longerDelay"]) if "longerDelay" in averted_by else None,
        unready=require_integer(raw["unreadyPods"]),
        nodes=tuple(map(_node_from_json, require_list(raw.get("lostNodes", [])))),
        messages=tuple(
            SchedulerMessage(require_text(one["message"]), require_integer(one["pods"]))
            for one in require_list(raw.get("schedulerMessages", []))
        ),
        room=RoomForReplacement(raw.get("room", RoomForReplacement.NODES_MISSING.value)),
    )


def _ready_pods_from_json(raw: Json) -> ReadyPodsToEndBreach:
    return ReadyPodsToEndBreach(
        ref_from_json(raw["podClique"]),
        require_integer(raw["count"]),
        require_time(raw["before"]) if "before" in raw else None,
        require_integer(raw["replicas"]) if "replicas" in raw else None,
        require_boolean(raw.get("startingPodsCountAlready", False)),
        require_boolean(raw.get("gated", False)),
    )


def _delay_from_json(raw: Json) -> LongerDelay:
    above = parse_duration(require_text(raw["above"]))
    if above is None:
        raise ValueError(f"{short_json(raw['above'])} instead of a duration")
    return LongerDelay(tuple(map(require_text, require_list(raw["fields"]))), above)


def _node_from_json(raw: Json) -> LostNodeOfPods:
    return LostNodeOfPods(
        require_text(raw["name"]),
        require_text(raw["taint"]),
        require_time(raw["since"]) if "since" in raw else None,
        require_integer(raw["pods"]),
    )
