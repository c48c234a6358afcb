"""What the manifests of an input leave open: sets of the same name, sets without a manifest, kinds not collected."""

from collections.abc import Iterable, Sequence
from typing import assert_never

from grove_core.in_memory.edit_of_uncollected_kinds import edit_effects_on_uncollected_objects
from grove_core.kernel.structs import replace
from grove_core.kernel.wants import StepObstacle
from grove_core.plan.forecast import Forecast, RemovedManifest
from grove_core.plan.update_forecast import PodsAndGpus
from grove_core.resources.edited_manifest_fields import FieldDependence, ManifestChange
from grove_core.rule_sets.rule_set import RuleSet
from grove_core.snapshot.cluster import EVERYWHERE, Gap
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.reading.input_completeness import LoadedInput


def with_manifest_findings(
    forecast: Forecast, snapshot: Snapshot, rules: RuleSet, loaded: LoadedInput, *, has_old: bool
) -> Forecast:
    """Return the forecast of a set with what its manifest leaves open (IN-086, ED-011, ED-012, ED-015).

    Args:
        has_old: whether the stored sets are those of ``--old``.
    """
    root = snapshot.root
    name = f"{root.ref.namespace}/{root.ref.name}"
    if alike := loaded.same_names.get(name):
        return replace(forecast, same_name=alike)
    before, edit = loaded.before.get(name), forecast.edit
    if before is None:
        is_removed = has_old and name not in loaded.new_sets
        return replace(forecast, removed=_removed_manifest(snapshot)) if is_removed else forecast
    if edit is not None and (hidden := loaded.hidden.get(name)):
        edit = replace(edit, hidden=hidden)
        forecast = replace(forecast, edit=edit)
    if edit is None or edit.update is None or not any(_touches_other_kinds(one.dependence) for one in edit.changes):
        return forecast
    found = edit_effects_on_uncollected_objects(snapshot, before, rules)
    return replace(forecast, edit=replace(edit, uncollected=found)) if found else forecast


def _touches_other_kinds(dependence: FieldDependence) -> bool:
    """Return whether a field touches objects of other kinds than PodCliques and pods."""
    match dependence:
        case FieldDependence.NEW_PARTS | FieldDependence.REPLICAS | FieldDependence.OBJECTS:
            return True
        case FieldDependence.PODS | FieldDependence.TERMINATION | FieldDependence.METADATA:
            return False
        case _:
            assert_never(dependence)


def unselected_sets_with_manifests(loaded: LoadedInput, snapshots: Iterable[Snapshot]) -> tuple[str, ...]:
    """Return the sets that a manifest of the input changes or creates and that are not among those planned (IN-087).

    Returns:
        ``namespace/name`` of each, sorted.
    """
    changed = {name for name, changes in loaded.changes.items() if changes}
    return tuple(sorted((changed | loaded.hidden.keys() | loaded.new_sets.keys()) - _names_of(snapshots)))


def edited_objects(loaded: LoadedInput, snapshots: Iterable[Snapshot]) -> tuple[str, ...]:
    """Return the topologies and the sets of some snapshots that are planned with a manifest of the input, by name."""
    return loaded.edited_objects(_names_of(snapshots))


def redacted_manifest_fields(
    loaded: LoadedInput, snapshots: Iterable[Snapshot]
) -> dict[str, tuple[ManifestChange, ...]]:
    """Return the fields that are not compared (ED-015), by ``namespace/name`` of the sets of some snapshots."""
    return {name: loaded.hidden[name] for name in sorted(_names_of(snapshots) & loaded.hidden.keys())}


def _names_of(snapshots: Iterable[Snapshot]) -> frozenset[str]:
    return frozenset(f"{one.root.ref.namespace}/{one.root.ref.name}" for one in snapshots)


def _removed_manifest(snapshot: Snapshot) -> RemovedManifest:
    return RemovedManifest(len(snapshot.cliques), PodsAndGpus.of_pods(pod for _, pod in snapshot.pods()))


def uncollected_kind_names(gaps: frozenset[Gap], forecasts: Sequence[Forecast] = ()) -> tuple[str, ...]:
    """Return the kinds that were not collected, sorted: ``Pod``, or ``Pod in ml`` where one namespace lacks them.

    Args:
        gaps: of the input.
        forecasts: of which the edits may touch objects of more kinds (ED-012), and of which pods may wait for PodGangs
            that were not collected (WL-235).
    """
    touched = {
        (one.kind, forecast.root.namespace)
        for forecast in forecasts
        if forecast.edit is not None
        for one in forecast.edit.uncollected
    }
    touched |= {("PodGang", forecast.root.namespace) for forecast in forecasts if _lacks_gangs(forecast)}
    everywhere = {kind for kind, namespace in gaps if namespace == EVERYWHERE}
    return tuple(
        kind if namespace == EVERYWHERE else f"{kind} in {namespace}"
        for kind, namespace in sorted(gaps | touched)
        if namespace == EVERYWHERE or kind not in everywhere
    )


def _lacks_gangs(forecast: Forecast) -> bool:
    held = (one.obstacle for round_ in forecast.rounds for one in round_.withheld)
    return StepObstacle.GANGS_NOT_COLLECTED in held
