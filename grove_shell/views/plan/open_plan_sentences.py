"""What a plan leaves open because of a manifest, in words: sets of its name, kinds that were not collected."""

from collections.abc import Iterator, Sequence

from grove_core.plan.forecast import Forecast, SetsOfSameName
from grove_core.plan.update_forecast import UncollectedObjectCounts
from grove_shell.views.formatting import MAX_NAMES, count_with_noun, join_names_with_commas
from grove_shell.views.plan.manifest_notes import redacted_fields_text


def open_plan_sentences(forecast: Forecast) -> Iterator[str]:
    """Yield what is not known of the plan of a set because of its manifest (IN-086, ED-012, ED-015)."""
    if forecast.same_name is not None:
        yield same_name_sets_text(forecast.same_name)
    if forecast.edit is not None and forecast.edit.uncollected:
        yield f"the edit {uncollected_objects_text(forecast.edit.uncollected)}"
    if forecast.edit is not None and forecast.edit.hidden:
        yield redacted_fields_text(forecast.edit.hidden)


def same_name_sets_text(found: SetsOfSameName) -> str:
    """Return which sets a new set may have been meant for."""
    return f"planned as new; sets of that name in the input: {join_names_with_commas(list(found.sets), MAX_NAMES)}"


def uncollected_objects_text(touched: Sequence[UncollectedObjectCounts]) -> str:
    """Return what an edit does to objects of kinds that were not collected: ``changes 2 Services, ...``."""
    found = (
        f"{does} {count_with_noun(count, one.kind)}"
        for one in touched
        for does, count in (("creates", one.created), ("changes", one.changed), ("deletes", one.deleted))
        if count
    )
    return f"{', '.join(found)}, which the plan lacks"
