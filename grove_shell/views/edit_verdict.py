"""The verdict on the edits of a plan: how many pods restart, go and are created, and what serves meanwhile (ED)."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from grove_core.plan.forecast import Forecast
from grove_core.plan.update_forecast import EditForecast, PartDuringUpdate, PodsAndGpus, UpdateForecast
from grove_core.resources.podclique import GROUP_KIND
from grove_shell.styled_text_page import Span
from grove_shell.views.formatting import count_with_noun

_PARTS: Final = 3
_WARNING: Final = "bold yellow"
_ALARM: Final = "bold red"


def edit_verdicts(forecasts: Sequence[Forecast]) -> Iterator[Span]:
    """Yield what all edits and new sets together do: pods that restart, go and are created, and what serves."""
    edits = [one.edit for one in forecasts if one.edit is not None]
    updates = [one.update for one in edits if one.update is not None]
    if unknown := [one for one in edits if one.update is None]:
        yield f"what {count_with_noun(len(unknown), 'edit')} restarts is unknown: {lacks_text(unknown)}", "bold magenta"
    if updates:
        yield from _restarts(updates)
    removed = PodsAndGpus.sum_of(one.removed for one in updates)
    new_sets = [one.creates for one in forecasts if one.creates is not None]
    added = PodsAndGpus.sum_of((*(one.added for one in updates if one.added.pods), *new_sets))
    if removed.pods:
        yield f"removes {pods_with_gpus(removed)}", _WARNING
    if added.pods:
        yield f"creates {pods_with_gpus(added)}", "bold"
    if grown := sum(one.added.gpus for one in updates if not one.added.pods):
        yield f"adds {count_with_noun(grown, 'GPU')} to pods that restart", _WARNING
    if stopped := sum(bool(update.waits) for update in updates):
        yield f"{count_with_noun(stopped, 'update')} will not end", "bold magenta"


def lacks_text(edits: Iterable[EditForecast]) -> str:
    """Return why the updates of edits are not known: ``PodCliques, Pods were not collected``."""
    kinds = sorted({kind for one in edits for kind in one.lacks})
    return f"{', '.join(f'{kind}s' for kind in kinds) or 'objects of the set'} were not collected"


def _restarts(updates: Sequence[UpdateForecast]) -> Iterator[Span]:
    """Yield how many pods restart, and the lowest number that serves of each clique and scaling group."""
    restarted = PodsAndGpus.sum_of(one.restarted for one in updates)
    parts = _lowest_parts(updates)
    if restarted.pods:
        yield (
            f"restarts {pods_with_gpus(restarted)}, {_pace(updates)}",
            (_ALARM if any(map(_is_short, parts)) else _WARNING),
        )
    else:
        yield "restarts no pod", "bold green"
    for part in parts[:_PARTS]:
        yield _lowest_text(part), _ALARM if _is_short(part) else ""
    if len(parts) > _PARTS:
        yield f"{len(parts) - _PARTS:,} more with fewer than before", ""


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


def pods_with_gpus(pods: PodsAndGpus) -> str:
    """Return ``12 pods with 48 GPUs``."""
    gpus = f" with {count_with_noun(pods.gpus, 'GPU')}" if pods.gpus else ""
    return f"{count_with_noun(pods.pods, 'pod')}{gpus}"


def _lowest_parts(updates: Sequence[UpdateForecast]) -> list[PartDuringUpdate]:
    """Return the part with the lowest number of each clique or scaling group that falls, the shortest first."""
    lowest: list[PartDuringUpdate] = []
    for update in updates:
        by_template: dict[str, list[PartDuringUpdate]] = {}
        for part in update.parts:
            if part.before:
                by_template.setdefault(part.template, []).append(part)
        lowest += [min(alike, key=_margin) for alike in by_template.values() if any(map(_falls, alike))]
    return sorted(lowest, key=lambda part: (_margin(part), part.part.sort_key))


def _falls(part: PartDuringUpdate) -> bool:
    return part.lowest < part.before


def _is_short(part: PartDuringUpdate) -> bool:
    """Return whether a part that had what it needs falls below that."""
    return part.lowest < part.needed <= part.before


def _margin(part: PartDuringUpdate) -> int:
    return part.lowest - part.needed


def _lowest_text(part: PartDuringUpdate) -> str:
    unit = "replicas available" if part.part.kind == GROUP_KIND else "ready"
    if _is_short(part) or not part.lowest:
        return f"{part.template} falls to {part.lowest:,} of {part.wanted:,} {unit} and needs {part.needed:,}"
    return f"{part.template}: never fewer than {part.lowest:,} of {part.wanted:,} {unit}"
