"""What edits do: the manifests among an input, compared with the sets that are stored."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from grove_core.document.edit_format import edit_as_json
from grove_core.plan.forecast import Forecast
from grove_core.plan.update_forecast import NO_PODS, DeletedPodFate, PodsAndGpus, UpdateForecast
from grove_core.resources.manifest_changes import ManifestChange


class ServingDuringEdit(NamedTuple):
    """How many pods of a PodClique, or replicas of a scaling group, serve while an edit is carried out.

    Attributes:
        needed: its minimum.
        before, lowest, after: how many serve before, at worst, and at the end.
    """

    name: str
    needed: int
    before: int
    lowest: int
    after: int


class Edit(NamedTuple):
    """What an edit does to one set.

    Attributes:
        set: ``namespace/name``.
        changes: the fields that change.
        is_known: whether its update could be forecast; without the pods of the set it cannot, and every count is 0.
        restarts, removes, terminates, adds: pods and GPUs.
        pods: names of the pods that go, in the order of their deletion.
        serving: of each part, the lowest number that serves on the way.
        waits: what it waits for at its end; empty where it ends.
    """

    set: str
    changes: tuple[ManifestChange, ...]
    is_known: bool
    restarts: PodsAndGpus
    removes: PodsAndGpus
    terminates: PodsAndGpus
    adds: PodsAndGpus
    pods: tuple[str, ...]
    serving: tuple[ServingDuringEdit, ...]
    waits: tuple[str, ...]
    document: dict[str, Any]


def edits_of(forecasts: Iterable[Forecast]) -> tuple[Edit, ...]:
    """Return the edits in some forecasts."""
    return tuple(_edits(forecasts))


def _edits(forecasts: Iterable[Forecast]) -> Iterator[Edit]:
    for forecast in forecasts:
        if forecast.edit is not None:
            update = forecast.edit.update
            yield Edit(
                set=f"{forecast.root.namespace}/{forecast.root.name}",
                changes=forecast.edit.changes,
                is_known=update is not None,
                restarts=update.restarted if update is not None else NO_PODS,
                removes=update.removed if update is not None else NO_PODS,
                terminates=_terminated(update),
                adds=update.added if update is not None else NO_PODS,
                pods=_deleted_pod_names(update),
                serving=_serving(update),
                waits=tuple(held.because[0].sentence for held in update.waits) if update is not None else (),
                document=dict(edit_as_json(forecast.edit)),
            )


def _terminated(update: UpdateForecast | None) -> PodsAndGpus:
    return NO_PODS if update is None else PodsAndGpus.of_pods(update.deleted(DeletedPodFate.TERMINATED))


def _deleted_pod_names(update: UpdateForecast | None) -> tuple[str, ...]:
    stages = () if update is None else update.stages
    return tuple(pod.pod.name for stage in stages for pod in stage.deleted)


def _serving(update: UpdateForecast | None) -> tuple[ServingDuringEdit, ...]:
    parts = () if update is None else update.parts
    return tuple(ServingDuringEdit(one.part.name, one.needed, one.before, one.lowest, one.after) for one in parts)
