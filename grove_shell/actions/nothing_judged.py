"""Why an input gave a command nothing to judge: no check may be green for it (CL-056)."""

from collections.abc import Sequence

from grove_core.plan.forecast import Forecast
from grove_shell.reading.loaded import Loaded
from grove_shell.views.words import plural


def nothing_judged(loaded: Loaded, forecasts: Sequence[Forecast]) -> str:
    """The reason in one sentence; empty where something was judged."""
    if forecasts or loaded.cluster.topologies:
        return ""
    if loaded.refusals:
        return f"nothing was judged: the input holds an error of an API server: {'; '.join(loaded.refusals)}"
    held = [plural(count, kind) for kind, count in loaded.ignored.items()]
    if loaded.strays:
        held.append(plural(loaded.strays, "Pod"))
    what = f"only {', '.join(held)}" if held else "no object that a decision reads"
    return f"nothing was judged: the input holds no PodCliqueSet, {what}"
