"""Lines of a plan's page on an edit: the fields that change, and the pods that go, stage by stage (ED)."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

from grove_core.kernel.frozen import FrozenMap, Json, canonical_json
from grove_core.kernel.wants import Withheld
from grove_core.plan.update_forecast import (
    DeletedPod,
    DeletedPodFate,
    EditForecast,
    PodsAndGpus,
    UpdateForecast,
    UpdateStage,
)
from grove_core.resources.api_names import GROUP_KIND
from grove_core.resources.edited_manifest_fields import FieldDependence, ManifestChange
from grove_shell.styled_text_page import StyledTextPage
from grove_shell.views.formatting import (
    INDENT,
    MAX_NAMES,
    add_page_entry_with_reasons,
    count_with_noun,
    join_names_with_commas,
    object_display_name,
    padded_entry_label,
)
from grove_shell.views.plan.edits_summary import pods_and_gpus_text

_LINES: Final = 20
_NAMED_PODS: Final = 3  # of one stage; more are counted by PodClique
_LONGEST_VALUES: Final = 64
_LABELS: Final[Mapping[DeletedPodFate, tuple[str, str]]] = MappingProxyType(
    {
        DeletedPodFate.RESTARTED: ("RESTART", "bold yellow"),
        DeletedPodFate.REMOVED: ("REMOVE", "bold yellow"),
        DeletedPodFate.TERMINATED: ("TERMINATE", "bold red"),
    }
)
_DEPENDENCES: Final[Mapping[FieldDependence, str]] = MappingProxyType(
    {
        FieldDependence.NEW_PARTS: "only for parts that are created later",
        FieldDependence.REPLICAS: "number of replicas",
        FieldDependence.TERMINATION: "when gangs are terminated",
        FieldDependence.METADATA: "metadata only",
        FieldDependence.OBJECTS: "other objects of the set",
    }
)
_OBJECTS: Final = (
    (re.compile(r"spec\.updateStrategy\b"), "how updates replace pods"),
    (re.compile(r".*\.(?:scaleConfig|autoScalingConfig)\b"), "HorizontalPodAutoscalers"),
    (re.compile(r".*\.headlessServiceConfig\b"), "headless Services"),
)
ASSUMED: Final = "assumed: every new pod is placed, and is ready before the next stage"
_CLIQUE_IN_PATH: Final = re.compile(r"(?<=cliques\[)[^]]+(?=\])")


class EditEntryLine(NamedTuple):
    """A line of an entry: its label, the style of the label, and its text."""

    label: str
    style: str
    text: str


def add_edit_lines(page: StyledTextPage, edit: EditForecast, shown_waits: Sequence[Withheld], *, full: bool) -> None:
    """Add the changed fields, and every stage of the update that deletes a pod.

    Args:
        shown_waits: withheld steps that the page shows anyway.
        full: whether to add every line, with every pod; else at most twenty of a kind.
    """
    changes = merge_equal_clique_changes(edit.changes)
    shown = changes if full else changes[:_LINES]
    for change in shown:
        _add_change(page, change, edit.update)
    if len(changes) > len(shown):
        page.add_line(INDENT, f"and {count_with_noun(len(changes) - len(shown), 'more field')} (-v)")
    if edit.update is not None:
        _add_update(page, edit.update, full=full)
        _add_what_stops_it(page, edit.update.waits, shown_waits)


def _add_what_stops_it(page: StyledTextPage, waits: Sequence[Withheld], shown_waits: Sequence[Withheld]) -> None:
    """Add what an update waits for although every created pod is ready (ED-005); what is shown anyway by name."""
    shown = [object_display_name(held.target) for held in waits if held in shown_waits]
    if shown:
        names = join_names_with_commas(shown, MAX_NAMES)
        page.add_line((padded_entry_label("STOPS"), "bold magenta"), (names, "bold"), ": the reason is at HELD BACK")
    for held in waits:
        if held not in shown_waits:
            add_page_entry_with_reasons(page, ("STOPS", "bold magenta"), held.target, held.because, MAX_NAMES)


def merge_equal_clique_changes(changes: Iterable[ManifestChange]) -> list[ManifestChange]:
    """Return the changes; those that differ only in the clique are one, with the names of all."""
    found: dict[tuple[str, FrozenMap], ManifestChange] = {}
    for change in changes:
        key = (_CLIQUE_IN_PATH.sub("", change.path), change.values)
        known = found.get(key)
        if known is None or change.dependence is not FieldDependence.PODS:
            found[key if known is None else (change.path, change.values)] = change
        else:
            found[key] = known._replace(cliques=(*known.cliques, *change.cliques))
    return [one._replace(path=_path_of_cliques(one)) if one.cliques else one for one in found.values()]


def _path_of_cliques(change: ManifestChange) -> str:
    return _CLIQUE_IN_PATH.sub(lambda _: ",".join(change.cliques), change.path)


def _add_change(page: StyledTextPage, change: ManifestChange, update: UpdateForecast | None) -> None:
    before, after = value_text(change.before), value_text(change.after)
    page.add_line(
        (padded_entry_label("EDIT"), "bold"), change.path, (f"  ({field_dependents_text(change, update)})", "dim")
    )
    if len(before) + len(after) <= _LONGEST_VALUES:
        page.add_line(INDENT, "  ", (before, "red"), " -> ", (after, "green"))
    else:
        page.add_line(INDENT, "     ", (before, "red"))
        page.add_line(INDENT, "  -> ", (after, "green"))


def field_dependents_text(change: ManifestChange, update: UpdateForecast | None) -> str:
    """Return what depends on a changed field, such as ``restarts pods of worker``."""
    if change.dependence is FieldDependence.OBJECTS:
        known = (text for pattern, text in _OBJECTS if pattern.match(change.path))
        return next(known, _DEPENDENCES[change.dependence])
    if change.dependence is not FieldDependence.PODS:
        return _DEPENDENCES[change.dependence]
    names = join_names_with_commas(list(change.cliques), MAX_NAMES)
    if update is None:
        return f"pods of {names}"
    if update.restarted.pods:
        return f"restarts pods of {names}"
    return f"only for pods of {names} that are created later"


def value_text(value: Json) -> str:
    """Return a value of a changed field as text."""
    if value is None:
        return "(absent)"
    return value if isinstance(value, str) and value else canonical_json(value)


def _add_update(page: StyledTextPage, update: UpdateForecast, *, full: bool) -> None:
    lines = [
        line for number, stage in enumerate(update.stages, 1) for line in edit_stage_lines(number, stage, full=full)
    ]
    shown, before = lines if full else lines[:_LINES], ""
    for line in shown:
        page.add_line((padded_entry_label("" if line.label == before else line.label), line.style), line.text)
        before = line.label
    if len(lines) > len(shown):
        page.add_line(INDENT, f"and {count_with_noun(len(lines) - len(shown), 'more line')} (-v)")
    if update.unreached.pods:
        page.add_line(INDENT, f"and {pods_and_gpus_text(update.unreached)} more{reason_stages_end(update)}")
    if lines:
        page.add_line(INDENT, (ASSUMED, "dim"))


def reason_stages_end(update: UpdateForecast) -> str:
    """Return why no further stage is listed, of an update that restarts more pods (ED-006, ED-013)."""
    return ", once the update goes on" if update.waits else ": the forecast ends here"


def edit_stage_lines(number: int, stage: UpdateStage, *, full: bool) -> Iterator[EditEntryLine]:
    """Yield a line for the deleted pods of each fate, and below it one for each PodClique, or for each pod in full."""
    for fate, (label, style) in _LABELS.items():
        pods = [pod for pod in stage.deleted if pod.fate is fate]
        if not pods:
            continue
        if len(pods) <= _NAMED_PODS and not full:
            yield EditEntryLine(label, style, f"stage {number}: {_named_pods(pods)}{what_serves_after(stage)}")
            continue
        yield EditEntryLine(
            label, style, f"stage {number}: {pods_and_gpus_text(PodsAndGpus.of_pods(pods))}{what_serves_after(stage)}"
        )
        for text in map(_one_pod, pods) if full else _pods_by_clique(pods):
            yield EditEntryLine(label, style, f"  {text}")


def _named_pods(pods: Sequence[DeletedPod]) -> str:
    names = ", ".join(f"{pod.pod.name}{f' on {pod.node}' if pod.node else ''}" for pod in pods)
    gpus = sum(pod.gpus for pod in pods)
    return f"{names} ({count_with_noun(gpus, 'GPU')})" if gpus else names


def _one_pod(pod: DeletedPod) -> str:
    because = f": {pod.because.sentence}" if pod.because is not None else ""
    return f"{_named_pods([pod])}{'' if pod.ready else ', not ready'}{because}"


def _pods_by_clique(pods: Sequence[DeletedPod]) -> Iterator[str]:
    found: dict[str, list[DeletedPod]] = {}
    for pod in pods:
        found.setdefault(pod.clique.name, []).append(pod)
    for name, alike in found.items():
        nodes = sorted({pod.node for pod in alike} - {""})
        where = f" on {join_names_with_commas(nodes, MAX_NAMES)}" if nodes else ""
        yield f"{name}: {pods_and_gpus_text(PodsAndGpus.of_pods(alike))}{where}"


def what_serves_after(stage: UpdateStage) -> str:
    """Return what serves after a stage of the parts that lack something."""
    texts = [
        f"{one.part.name} {one.serving:,} of {one.wanted:,}"
        f"{' replicas available' if one.part.kind == GROUP_KIND else ' ready'}"
        for one in stage.serving
        if one.serving < one.wanted
    ]
    return f"; then {join_names_with_commas(texts, MAX_NAMES)}" if texts else ""
