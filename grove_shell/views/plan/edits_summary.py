"""The verdict on the edits of a plan: how many pods restart, go and are created, and what serves meanwhile (ED)."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from grove_core.plan.forecast import Forecast
from grove_core.plan.update_forecast import EditForecast, PartDuringUpdate, PodsAndGpus, UpdateForecast
from grove_core.resources.api_names import GROUP_KIND
from grove_shell.styled_text_page import Span
from grove_shell.views.formatting import count_with_noun

_PARTS: Final = 3
_WARNING: Final = "bold yellow"
_ALARM: Final = "bold red"


def edits_summary(forecasts: Sequence[Forecast]) -> Iterator[Span]:
    """Yield what all edits and new sets together do: pods that restart, go and are created, and what serves."""
    edits = [one.edit for one in forecasts if one.edit is not None]
    updates = [one.update for one in edits if one.update is not None]
    if unknown := [one for one in edits if one.update is None]:
        yield (
            f"what {count_with_noun(len(unknown), 'edit')} restarts is unknown: {unknown_update_reason_text(unknown)}",
            "bold magenta",
        )
    hidden = sum(one.update is not None and one.may_change_more for one in edits)
    yield from redacted_edits_summary(hidden)
    if updates:
        yield from _restarts(updates, is_least=bool(hidden))
        yield from _lowest_verdicts(forecasts, has_many=len(updates) > 1)
    removed = PodsAndGpus.sum_of(one.removed for one in updates)
    new_sets = [one.creates for one in forecasts if one.creates is not None]
    added = PodsAndGpus.sum_of((*(one.added for one in updates if one.added.pods), *new_sets))
    if removed.pods:
        yield f"removes {pods_and_gpus_text(removed)}", _WARNING
    if added.pods:
        yield f"creates {pods_and_gpus_text(added)}", "bold"
    if grown := sum(one.added.gpus for one in updates if not one.added.pods):
        yield f"adds {count_with_noun(grown, 'GPU')} to pods that restart", _WARNING
    if stopped := sum(bool(update.waits) for update in updates):
        stop = "stops" if stopped == 1 else "stop"
        yield f"{count_with_noun(stopped, 'update')} {stop} before the end", "bold magenta"


def unknown_update_reason_text(edits: Iterable[EditForecast]) -> str:
    """Return why the updates of edits are not known: ``PodCliques, Pods were not collected``."""
    kinds = sorted({kind for one in edits for kind in one.lacks})
    return f"{', '.join(f'{kind}s' for kind in kinds) or 'objects of the set'} were not collected"


def redacted_edits_summary(count: int) -> Iterator[Span]:
    """Yield how many edits have values that a capture redacted (ED-015); nothing for none."""
    if count:
        yield f"{count_with_noun(count, 'edit')} not compared in full: values are redacted", "bold magenta"


def _restarts(updates: Sequence[UpdateForecast], *, is_least: bool) -> Iterator[Span]:
    """Yield how many pods restart.

    Args:
        is_least: whether more may restart (ED-015).
    """
    restarted = PodsAndGpus.sum_of(one.restarted for one in updates)
    if restarted.pods:
        yield (
            f"restarts {'at least ' if is_least else ''}{pods_and_gpus_text(restarted)}, {_pace(updates)}",
            _ALARM if any(_is_short(part) for update in updates for part in _lowest_parts(update)) else _WARNING,
        )
    elif not is_least:
        yield "restarts no pod", "bold green"


def _lowest_verdicts(forecasts: Sequence[Forecast], *, has_many: bool) -> Iterator[Span]:
    """Yield the lowest number that serves of each clique and scaling group that falls, the shortest first.

    Args:
        has_many: whether several sets are edited, so that each part is named with its set.
    """
    found = [
        (part, f" of {one.root.namespace}/{one.root.name}" if has_many else "")
        for one in forecasts
        if one.edit is not None and one.edit.update is not None
        for part in _lowest_parts(one.edit.update)
    ]
    found.sort(key=lambda pair: (_margin(pair[0]), pair[0].part.sort_key))
    for part, of_set in found[:_PARTS]:
        yield _lowest_text(part, of_set), _ALARM if _is_short(part) else ""
    if len(found) > _PARTS:
        yield f"{len(found) - _PARTS:,} more with fewer than before", ""


def _pace(updates: Sequence[UpdateForecast]) -> str:
    """Return how many pods restart at once, how many only after a wait (ED-013), and how many anyway (ED-014)."""
    most = max(update.most_at_once for update in updates)
    later = sum(update.unreached.pods for update in updates if update.waits)
    anyway = sum(update.anyway.pods for update in updates)
    found = ["once the update goes on" if not most else "one at a time" if most == 1 else f"at most {most:,} at once"]
    if most and later:
        found.append(f"{later:,} of them once the update goes on")
    if anyway:
        are_all = anyway == sum(update.restarted.pods for update in updates)
        found.append(f"{'all' if are_all else f'{anyway:,}'} of them without the edit too")
    return ", ".join(found)


def pods_and_gpus_text(pods: PodsAndGpus) -> str:
    """Return ``12 pods with 48 GPUs``."""
    gpus = f" with {count_with_noun(pods.gpus, 'GPU')}" if pods.gpus else ""
    return f"{count_with_noun(pods.pods, 'pod')}{gpus}"


def _lowest_parts(update: UpdateForecast) -> Iterator[PartDuringUpdate]:
    """Yield the part with the lowest number of each clique or scaling group that falls."""
    by_template: dict[str, list[PartDuringUpdate]] = {}
    for part in update.parts:
        if part.before:
            by_template.setdefault(part.template, []).append(part)
    yield from (min(alike, key=_margin) for alike in by_template.values() if any(map(_falls, alike)))


def _falls(part: PartDuringUpdate) -> bool:
    return part.lowest < part.before


def _is_short(part: PartDuringUpdate) -> bool:
    """Return whether a part that had what it needs falls below that."""
    return part.lowest < part.needed <= part.before


def _margin(part: PartDuringUpdate) -> int:
    return part.lowest - part.needed


def _lowest_text(part: PartDuringUpdate, of_set: str) -> str:
    unit = "replicas available" if part.part.kind == GROUP_KIND else "ready"
    if _is_short(part) or not part.lowest:
        return f"{part.template}{of_set} falls to {part.lowest:,} of {part.wanted:,} {unit} and needs {part.needed:,}"
    return f"{part.template}{of_set}: never fewer than {part.lowest:,} of {part.wanted:,} {unit}"
