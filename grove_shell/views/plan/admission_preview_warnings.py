"""The warnings that preview an update at admission, each short enough for ``kubectl`` (WH-040)."""

from collections.abc import Iterable, Iterator
from typing import Final

from grove_core.explain import explanation_of_forecast
from grove_core.kernel.questions import DEFECT
from grove_core.kernel.refs import Ref
from grove_core.plan.forecast import Forecast
from grove_core.plan.update_forecast import DeletedPodFate, PodsAndGpus, UpdateForecast
from grove_shell.views.plan.edits_summary import edits_summary, pods_and_gpus_text

LONGEST: Final = 256
"""Characters of a warning; an API server may cut longer ones."""
_PREFIX: Final = "update preview: "
_FEW: Final = 3  # waits, and defects
_BETWEEN: Final = "; "


def preview_warnings(forecast: Forecast, rules: str) -> list[str]:
    """Return what an edit does: the verdict of its plan, then what the update waits for and what is wrong with it.

    Args:
        forecast: of the edit.
        rules: name of the rules that the forecast follows.
    """
    update = forecast.edit.update if forecast.edit is not None else None
    parts = [text for text, _ in edits_summary([forecast])]
    if update is not None:
        parts += _further_verdicts(update)
    found = _packed([*parts, f"rules {rules}"])
    waits = update.waits if update is not None else ()
    found += _some((f"it waits: {_named(held.target)}: {held.because[0].sentence}" for held in waits), len(waits))
    if update is not None and update.is_cut:
        found.append(truncated_warning(_end_of_forecast(update)))
    defects = explanation_of_forecast(forecast).notices_of(DEFECT)
    texts = (f"defect: {_named(one.subject)}: {_BETWEEN.join(why.sentence for why in one.because)}" for one in defects)
    return found + _some(texts, len(defects))


def truncated_warning(text: str) -> str:
    """Return a text as one warning, cut to its longest length."""
    return _cut(f"{_PREFIX}{' '.join(text.split())}")


def _further_verdicts(update: UpdateForecast) -> Iterator[str]:
    terminated = PodsAndGpus.of_pods(update.deleted(DeletedPodFate.TERMINATED))
    if terminated.pods:
        yield f"terminates {pods_and_gpus_text(terminated)}"


def _end_of_forecast(update: UpdateForecast) -> str:
    rest = f": {pods_and_gpus_text(update.unreached)} restart after it" if update.unreached.pods else ""
    return f"followed to stage {len(update.stages)} only{rest}; grove plan --live -f FILE shows every stage"


def _packed(parts: Iterable[str]) -> list[str]:
    """Return the parts of a verdict in as few warnings as they fit into."""
    found: list[str] = []
    for part in parts:
        together = f"{found[-1]}{_BETWEEN}{part}" if found else ""
        if together and len(together) <= LONGEST:
            found[-1] = together
        else:
            found.append(truncated_warning(part))
    return found


def _some(texts: Iterable[str], count: int) -> list[str]:
    """Return the first few texts as warnings, and how many there are besides."""
    found = [truncated_warning(text) for text, _ in zip(texts, range(_FEW), strict=False)]
    return [*found, truncated_warning(f"and {count - _FEW:,} more")] if count > _FEW else found


def _named(ref: Ref) -> str:
    return f"{ref.kind} {ref.name}"


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
