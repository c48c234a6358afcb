"""What edits do: the manifests among an input, compared with the sets that are stored."""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, NamedTuple

from grove_core.document.edit_format import edit_as_json
from grove_core.plan.forecast import Forecast
from grove_core.plan.update_forecast import DeletedPodFate, PodsAndGpus, UpdateForecast
from grove_core.resources.edited_manifest_fields import ManifestChange
from grove_shell.library.objects import qualified_name
from grove_shell.library.tables import Table, table_of


class ServingDuringEdit(NamedTuple):
    """How many pods of a PodClique, or replicas of a scaling group, serve while an edit is carried out.

    A part that the edit removes is among them, with 0 wanted and none at its end (LB-018).

    Attributes:
        name: of the PodClique or scaling group.
        wanted: how many it is to have after the edit.
        needed: its minimum after the edit.
        before, lowest, after: how many serve before, at worst, and at the end.
    """

    name: str
    wanted: int
    needed: int
    before: int
    lowest: int
    after: int


class Edit(NamedTuple):
    """What an edit does to one set, if every new pod is placed and is ready before the next stage.

    Attributes:
        set: ``namespace/name``.
        changes: the fields that change.
        restarts, removes, terminates, adds: pods and GPUs; None where the update cannot be forecast, as without the
            pods of the set.
        pods: names of the pods that go, restarted or not, in the order of their deletion.
        serving: of each part, the lowest number that serves on the way.
        waits: what it waits for at its end; empty where it ends.
        document: the edit as in the JSON of ``grove plan``.
        stages: the same pods, stage by stage: those of one go together, those of the next once their successors are
            ready. Empty where no pod goes.
    """

    set: str
    changes: tuple[ManifestChange, ...]
    restarts: PodsAndGpus | None
    removes: PodsAndGpus | None
    terminates: PodsAndGpus | None
    adds: PodsAndGpus | None
    pods: tuple[str, ...]
    serving: tuple[ServingDuringEdit, ...]
    waits: tuple[str, ...]
    document: dict[str, Any]
    stages: tuple[tuple[str, ...], ...]


class NewSet(NamedTuple):
    """A manifest of a set that is not among the stored ones: it is planned as new.

    Attributes:
        pods, gpus: of the whole set.
    """

    set: str
    pods: int
    gpus: int


def new_sets_of(forecasts: Iterable[Forecast]) -> Table[NewSet]:
    """Return the new sets in some forecasts."""
    created = ((qualified_name(one.root), one.creates) for one in forecasts)
    return table_of(NewSet, (NewSet(name, one.pods, one.gpus) for name, one in created if one is not None))


def edits_of(forecasts: Iterable[Forecast]) -> Table[Edit]:
    """Return the edits in some forecasts."""
    return table_of(Edit, _edits(forecasts))


def _edits(forecasts: Iterable[Forecast]) -> Iterator[Edit]:
    for forecast in forecasts:
        if forecast.edit is not None:
            update = forecast.edit.update
            yield Edit(
                set=qualified_name(forecast.root),
                changes=forecast.edit.changes,
                restarts=None if update is None else update.restarted,
                removes=None if update is None else update.removed,
                terminates=None if update is None else _terminated(update),
                adds=None if update is None else update.added,
                pods=tuple(chain.from_iterable(_deleted_pod_names(update))),
                serving=_serving(update),
                waits=tuple(held.because[0].sentence for held in update.waits) if update is not None else (),
                document=dict(edit_as_json(forecast.edit)),
                stages=tuple(filter(None, _deleted_pod_names(update))),
            )


def _terminated(update: UpdateForecast) -> PodsAndGpus:
    return PodsAndGpus.of_pods(update.deleted(DeletedPodFate.TERMINATED))


def _deleted_pod_names(update: UpdateForecast | None) -> Iterator[tuple[str, ...]]:
    for stage in () if update is None else update.stages:
        yield tuple(pod.pod.name for pod in stage.deleted)


def _serving(update: UpdateForecast | None) -> tuple[ServingDuringEdit, ...]:
    if update is None:
        return ()
    kept = [
        ServingDuringEdit(one.part.name, one.wanted, one.needed, one.before, one.lowest, one.after)
        for one in update.parts
    ]
    after = {one.part for one in update.after}
    removed = [
        ServingDuringEdit(one.part.name, 0, 0, one.serving, 0, 0) for one in update.before if one.part not in after
    ]
    return (*kept, *removed)
