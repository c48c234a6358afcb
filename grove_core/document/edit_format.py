"""What an edit does, in the JSON plan: the changed fields and the update to its end (ED, CL-011)."""

from collections.abc import Callable
from typing import Any, TypeVar

from grove_core.document.plan_document import (
    Json,
    require_boolean,
    require_integer,
    require_list,
    require_text,
)
from grove_core.document.step_reading import integers_at_keys, reason_from_json, ref_from_json, withheld_from_json
from grove_core.document.step_writing import reason_as_json, ref_as_json, withheld_step_as_json
from grove_core.kernel.frozen import frozen, thaw_json
from grove_core.plan.serving_parts import ServingPart
from grove_core.plan.update_forecast import (
    NO_PODS,
    DeletedPod,
    DeletedPodFate,
    EditForecast,
    PodsAndGpus,
    UncollectedObjectCounts,
    UpdateForecast,
    UpdateStage,
)
from grove_core.resources.edited_manifest_fields import FieldDependence, ManifestChange

T = TypeVar("T")


def edit_as_json(edit: EditForecast) -> Json:
    """Return what an edit does as JSON; ``update`` only where it is known."""
    shown: Json = {"changes": [_change_as_json(change) for change in edit.changes]}
    if edit.uncollected:
        shown["notCollected"] = [one._asdict() for one in edit.uncollected]
    if edit.hidden:
        shown["notCompared"] = [_change_as_json(change) for change in edit.hidden]
    if edit.lacks:
        shown["lacks"] = list(edit.lacks)
    return shown if edit.update is None else {**shown, "update": _update_as_json(edit.update)}


def edit_forecast_from_json(raw: Json) -> EditForecast:
    """Read what an edit does; numbers that follow from the stages are not read."""
    update = _update_from_json(raw["update"]) if "update" in raw else None
    uncollected = _list_from_json(raw.get("notCollected", []), _uncollected_from_json)
    lacks = _list_from_json(raw.get("lacks", []), require_text)
    changes = _list_from_json(raw["changes"], _change_from_json)
    hidden = _list_from_json(raw.get("notCompared", []), _change_from_json)
    return EditForecast(changes, update, uncollected, lacks, hidden)


def _change_as_json(change: ManifestChange) -> Json:
    return {
        "path": change.path,
        **thaw_json(change.values),
        "dependence": change.dependence.value,
        **({"cliques": list(change.cliques)} if change.cliques else {}),
    }


def _change_from_json(raw: Json) -> ManifestChange:
    return ManifestChange(
        require_text(raw["path"]),
        frozen({key: raw[key] for key in ("before", "after") if key in raw}),
        FieldDependence(raw["dependence"]),
        tuple(map(require_text, require_list(raw.get("cliques", [])))),
    )


def _uncollected_from_json(raw: Json) -> UncollectedObjectCounts:
    return UncollectedObjectCounts(require_text(raw["kind"]), *integers_at_keys(raw, "created", "changed", "deleted"))


def _update_as_json(update: UpdateForecast) -> Json:
    return {
        "restarted": update.restarted._asdict(),
        **({"restartedWithoutEdit": update.anyway._asdict()} if update.anyway.pods else {}),
        "removed": update.removed._asdict(),
        "added": update.added._asdict(),
        "mostAtOnce": update.most_at_once,
        "available": update.available,
        "lowestAvailable": update.lowest_available,
        "parts": [{**one._asdict(), "part": ref_as_json(one.part)} for one in update.parts],
        "before": [_serving_as_json(one) for one in update.before],
        "stages": [_stage_as_json(stage) for stage in update.stages],
        "after": [_serving_as_json(one) for one in update.after],
        "waits": [withheld_step_as_json(held) for held in update.waits],
        "unreached": update.unreached._asdict(),
    }


def _update_from_json(raw: Json) -> UpdateForecast:
    return UpdateForecast(
        before=_list_from_json(raw["before"], _serving_from_json),
        after=_list_from_json(raw["after"], _serving_from_json),
        available=require_integer(raw["available"]),
        stages=_list_from_json(raw["stages"], _stage_from_json),
        added=pods_and_gpus_from_json(raw["added"]),
        waits=_list_from_json(raw["waits"], withheld_from_json),
        unreached=pods_and_gpus_from_json(raw["unreached"]),
        anyway=pods_and_gpus_from_json(raw["restartedWithoutEdit"]) if "restartedWithoutEdit" in raw else NO_PODS,
    )


def _stage_as_json(stage: UpdateStage) -> Json:
    return {
        "deleted": [deleted_pod_as_json(pod) for pod in stage.deleted],
        "created": stage.created._asdict(),
        "serving": [_serving_as_json(one) for one in stage.serving],
        "available": stage.available,
        "waits": [withheld_step_as_json(held) for held in stage.waits],
    }


def _stage_from_json(raw: Json) -> UpdateStage:
    return UpdateStage(
        deleted=_list_from_json(raw["deleted"], _deleted_from_json),
        created=pods_and_gpus_from_json(raw["created"]),
        serving=_list_from_json(raw["serving"], _serving_from_json),
        available=require_integer(raw["available"]),
        waits=_list_from_json(raw["waits"], withheld_from_json),
    )


def deleted_pod_as_json(pod: DeletedPod) -> Json:
    """Return one pod that an update deletes as JSON."""
    return {
        "pod": ref_as_json(pod.pod),
        "podClique": ref_as_json(pod.clique),
        "index": pod.pod_index,
        "node": pod.node,
        "gpus": pod.gpus,
        "ready": pod.ready,
        "fate": pod.fate.value,
        "because": None if pod.because is None else reason_as_json(pod.because),
    }


def _deleted_from_json(raw: Json) -> DeletedPod:
    return DeletedPod(
        ref_from_json(raw["pod"]),
        ref_from_json(raw["podClique"]),
        require_integer(raw["index"]),
        require_text(raw["node"]),
        require_integer(raw["gpus"]),
        require_boolean(raw["ready"]),
        DeletedPodFate(raw["fate"]),
        None if raw["because"] is None else reason_from_json(raw["because"]),
    )


def _serving_as_json(one: ServingPart) -> Json:
    return {**one._asdict(), "part": ref_as_json(one.part)}


def _serving_from_json(raw: Json) -> ServingPart:
    return ServingPart(
        ref_from_json(raw["part"]), require_text(raw["template"]), *integers_at_keys(raw, "serving", "needed", "wanted")
    )


def pods_and_gpus_from_json(raw: Json) -> PodsAndGpus:
    """Read a number of pods and their GPUs."""
    return PodsAndGpus(*integers_at_keys(raw, "pods", "gpus"))


def _list_from_json(raw: Any, read: Callable[[Any], T]) -> tuple[T, ...]:  # noqa: ANN401 - any JSON
    return tuple(map(read, require_list(raw)))
