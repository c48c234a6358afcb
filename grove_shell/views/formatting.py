"""Times, spans and numbers as people read them, seen from one moment."""

from collections.abc import Collection
from datetime import datetime, timedelta

from grove_core.kernel.durations import short_duration
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Toll
from grove_core.kernel.times import format_time, whole_seconds
from grove_shell.page import Span


def clock_time(moment: datetime, now: datetime) -> str:
    """``09:41:00Z`` on the day of ``now``, else the whole time."""
    text = format_time(whole_seconds(moment))
    return text.partition("T")[2] if moment.date() == now.date() else text


def relative_time(moment: datetime, now: datetime) -> str:
    """``in 2h2m``, ``8s ago`` or ``now``; whole seconds, a wait rounded up so that it is never told too short."""
    second = timedelta(seconds=1)
    if moment > now:
        return f"in {short_duration(-((now - moment) // second) * second)}"
    past = (now - moment) // second * second
    return f"{short_duration(past)} ago" if past else "now"


def plural(count: int, noun: str) -> str:
    """``1 replica``, ``2 replicas``."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def not_predicted_text(done: str, sets: int) -> str:
    """Of how many sets the steps are not those of the operator that runs there; ``done`` says where they are from."""
    return f"NOT PREDICTED: the steps {done} for {plural(sets, 'PodCliqueSet')} are not those of the operator there"


def object_label(ref: Ref) -> str:
    """``PodClique qwen-0-worker``, or ``replica 0`` of something."""
    if ref.replica is None:
        return f"{ref.kind} {ref.name}"
    return f"replica {ref.replica}" if ref.kind == "PodCliqueSet" else f"{ref.name} replica {ref.replica}"


def impact_text(toll: Toll | None) -> str:
    """``12 pods (3 ready) and 96 GPUs``: what goes along; empty where nothing does, or nobody knows."""
    if toll is None or not toll.pods:
        return ""
    ready = f" ({toll.ready:,} ready)" if toll.ready else ""
    return f"{plural(toll.pods, 'pod')}{ready}" + (f" and {plural(toll.gpus, 'GPU')}" if toll.gpus else "")


def rule_citation(reason: Reason) -> Span:
    """The rule behind a sentence, which it follows."""
    return f"  {reason.rule.code} {reason.rule.requirement}", "dim"


def joined_names(names: list[str], limit: int | None) -> str:
    """Names with commas; the rest counted where there are more than ``limit``."""
    if limit is None or len(names) <= limit:
        return ", ".join(names)
    return f"{', '.join(names[:limit])} and {len(names) - limit:,} more"


def fail_on_message(met: Collection[str]) -> str:
    """What a check tells that failed (CL-047)."""
    return f"failed by --fail-on: {', '.join(sorted(met))}"
