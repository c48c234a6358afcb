"""The message for an input without anything to decide about, on which no check may succeed (CL-056)."""

from collections.abc import Sequence

from grove_core.plan.forecast import Forecast
from grove_core.resources.topology_usage import SET_KIND
from grove_shell.reading.loaded_input import LoadedInput
from grove_shell.views.formatting import plural


def nothing_judged_message(loaded: LoadedInput, forecasts: Sequence[Forecast]) -> str:
    """Return why nothing was decided, in one sentence; empty where something was."""
    if any(one.root.kind == SET_KIND or _does_something(one) for one in forecasts):
        return ""
    if loaded.server_errors:
        return f"nothing was decided: the input holds an error of an API server: {'; '.join(loaded.server_errors)}"
    held = [plural(count, kind) for kind, count in loaded.ignored.items()]
    if loaded.pods_without_clique:
        held.append(plural(loaded.pods_without_clique, "Pod"))
    if loaded.cluster.topologies:
        held.append(plural(len(loaded.cluster.topologies), "topology object"))
    what = f"only {', '.join(held)}" if held else "and no other object that a decision depends on"
    return f"nothing was decided: the input holds no PodCliqueSet, {what}"


def _does_something(forecast: Forecast) -> bool:
    """Whether a forecast has a step or a withheld one."""
    return any(round_.steps or round_.withheld for round_ in forecast.rounds)
