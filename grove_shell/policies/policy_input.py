"""What policies are evaluated on: a plan as JSON, with the manifest and the classes of each PodCliqueSet.

A value that is not known is left out, so that reading it is an error and never a default (PO-003).
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from grove_core.document.document_writing import plan_document_as_json
from grove_core.document.plan_document import PlanDocument
from grove_core.forecast_explanation import NOTICES
from grove_core.kernel.questions import PREDICTION
from grove_core.kernel.time_formats import format_go_duration, format_time
from grove_core.plan.forecast import Forecast
from grove_core.resources.api_names import SET_KIND
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_shell.policies.fail_on_classes import (
    fail_on_class_if_undecided,
    fail_on_class_of_undecided_manifests,
    fail_on_classes_in_forecasts,
    fail_on_classes_of_incomplete_plans,
)

COUNTS: Final = ("restarted", "removed", "added")
_KNOWN: Final = ("namespace", "name", "labels", "annotations", "spec", "isNew", "unknown")
"""Fields of a set that need nothing but its manifest."""
_PLANNED: Final = (
    *("rounds", "complete", "wakeAt", "averted", "creates", "again", "hints", "sameName", "ifDeleted"),
    *(field for question, field in NOTICES.items() if question != PREDICTION),
)
"""Fields of the plan document; a set with ``notPredicted`` is not decided."""
SET_FIELDS: Final = (*_KNOWN, "edit", "classes", *COUNTS, *_PLANNED)
PLAN_FIELDS: Final = ("rules", "asOf", "notCollected", "sets", "unknown", "classes", *COUNTS)


def policy_input(
    document: PlanDocument, roots: Iterable[PodCliqueSet], until: datetime | None = None
) -> Mapping[str, Any]:
    """Return a plan as policies see it: the fields of ``plan``, with a ``set`` for each PodCliqueSet.

    Args:
        roots: the sets as they are planned.
        until: the end of the forecast time; None without one.
    """
    by_address = {(root.ref.namespace, root.ref.name): root for root in roots}
    written = plan_document_as_json(document, decisions=False)
    sets = [
        _set_for_policies(raw, forecast, by_address.get((forecast.root.namespace, forecast.root.name)), until)
        for raw, forecast in zip(written["plans"], document.forecasts, strict=True)
        if forecast.root.kind == SET_KIND
    ]
    is_unknown = any(one["unknown"] for one in sets) or bool(document.not_planned)
    whole = {
        "rules": document.rules,
        "asOf": format_time(document.as_of),
        "notCollected": list(document.not_collected),
        "sets": sets,
        "unknown": is_unknown,
    }
    if not is_unknown:
        whole["classes"] = sorted({name for one in sets for name in one["classes"]})
        whole |= {count: _sum(one[count] for one in sets) for count in COUNTS}
    return whole


def _set_for_policies(
    raw: Mapping[str, Any], forecast: Forecast, root: PodCliqueSet | None, until: datetime | None
) -> dict[str, Any]:
    """Return one set; where it is not decided, without everything that would depend on what is not known."""
    classes = fail_on_classes_in_forecasts([forecast], until) | fail_on_class_if_undecided([forecast])
    classes |= fail_on_class_of_undecided_manifests([forecast])
    update = forecast.edit.update if forecast.edit is not None else None
    is_unknown = "unknown" in classes or (forecast.edit is not None and update is None)
    found: dict[str, Any] = {
        "namespace": forecast.root.namespace,
        "name": forecast.root.name,
        "isNew": forecast.creates is not None,
        "unknown": is_unknown,
    }
    if root is not None:
        found |= {
            "labels": _plain(root.labels),
            "annotations": _plain(root.annotations),
            "spec": _plain(root.spec.model_dump(by_alias=True, exclude_none=True)),
        }
    if "edit" in raw:
        found["edit"] = {"changes": raw["edit"]["changes"]} if is_unknown else raw["edit"]
    if is_unknown:
        return found
    open_classes = fail_on_classes_of_incomplete_plans([forecast]) - {"unknown"}  # which leave the set decided
    planned = {name: raw[name] for name in _PLANNED if name in raw}
    counts = {count: getattr(update, count)._asdict() if update is not None else _sum(()) for count in COUNTS}
    if forecast.creates is not None:  # PO-007
        counts["added"] = forecast.creates._asdict()
    return {**found, "classes": sorted(classes | open_classes), **counts, **planned}


def _sum(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    found = tuple(counts)
    return {name: sum(one[name] for one in found) for name in ("pods", "gpus")}


def _plain(value: Any) -> Any:  # noqa: ANN401 - parts of a manifest
    """Return a part of a manifest as it is written in JSON."""
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return format_go_duration(value) if isinstance(value, timedelta) else value
