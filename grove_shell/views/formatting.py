"""Formats times, counts, names and reasons for pages; colours of a plan's page; and the page of an input's problems."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any, Final

from grove_core.document.step_writing import reason_as_json
from grove_core.forecast_explanation import EntryUrgency
from grove_core.kernel.admission import FieldRemark
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import DeletionImpact
from grove_core.kernel.time_formats import format_time, short_duration_text, truncated_to_seconds
from grove_shell.reading.input_faults import COMMAND_LINE, NO_SUCH_FILE, InputFault
from grove_shell.styled_text_page import Span, StyledTextPage


def admission_remark_as_json(found: FieldRemark) -> dict[str, Any]:
    """Return an objection or a warning as JSON."""
    return {"path": found.path, "got": found.got, **reason_as_json(found.reason)}


STYLES: Final[Mapping[EntryUrgency, str]] = MappingProxyType(
    {
        EntryUrgency.TERMINATES: "bold red",
        EntryUrgency.WAITS: "bold yellow",
        EntryUrgency.HELD: "bold magenta",
        EntryUrgency.UNKNOWN: "bold magenta",
        EntryUrgency.GATED: "yellow",
        EntryUrgency.KEEPS: "green",
    }
)
MAX_NAMES: Final = 8
_WIDTH: Final = max(len(urgency.value) for urgency in EntryUrgency)
INDENT: Final = " " * (_WIDTH + 4)


def padded_entry_label(word: str) -> str:
    """Return the first word of an entry, padded to the width of the longest."""
    return f"  {word:<{_WIDTH}}  "


def clock_time(moment: datetime, now: datetime) -> str:
    """Return ``09:41:00Z`` on the day of ``now``, else the whole time."""
    text = format_time(truncated_to_seconds(moment))
    return text.partition("T")[2] if moment.date() == now.date() else text


def relative_time(moment: datetime, now: datetime) -> str:
    """Return ``in 2h2m``, ``8s ago`` or ``now``: whole seconds, rounded up for a future time."""
    second = timedelta(seconds=1)
    if moment > now:
        return f"in {short_duration_text(-((now - moment) // second) * second)}"
    past = (now - moment) // second * second
    return f"{short_duration_text(past)} ago" if past else "now"


def termination_countdown_text(until: datetime, averted: datetime | None, now: datetime) -> str:
    """Return ``until 09:41:00Z (in 29s), then it is terminated``.

    Args:
        until: when the delay ends.
        averted: when it would end but for the steps of the plan, which postpone it (PL-025); None where they do not.
    """
    text = f"until {clock_time(until, now)} ({relative_time(until, now)}), then it is terminated"
    return f"{text}; without the steps below at {clock_time(averted, now)}" if averted is not None else text


def count_with_noun(count: int, noun: str) -> str:
    """Return a count with its noun: ``1 replica``, ``2 replicas``."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def unpredicted_sets_warning(done: str, sets: int) -> str:
    """Return the warning that the steps for some sets are not those of the operator that runs there.

    Args:
        done: where the steps are from: ``shown`` or ``played``.
        sets: the number of sets.
    """
    counted = count_with_noun(sets, "PodCliqueSet")
    return f"NOT PREDICTED: the steps {done} for {counted} are not those of the operator there"


def object_display_name(ref: Ref) -> str:
    """Return ``PodClique qwen-0-worker``, ``replica 0`` of a PodCliqueSet, or ``qwen-0-pool replica 0``."""
    if ref.replica is None:
        return f"{ref.kind} {ref.name}"
    return f"replica {ref.replica}" if ref.kind == "PodCliqueSet" else f"{ref.name} replica {ref.replica}"


def add_page_entry_with_reasons(
    page: StyledTextPage, label: Span, subject: Ref, because: Sequence[Reason], most: int | None = None
) -> None:
    """Add an entry about an object: its first reason on the line of the label, the others below.

    Args:
        label: the word and its style.
        most: the most other reasons; None for all.
    """
    (word, style), (first, *more) = label, because
    name = object_display_name(subject)
    page.add_line((padded_entry_label(word), style), (name, "bold"), f": {first.sentence}")
    for why in more[:most]:
        page.add_line(INDENT, f"  {why.sentence}")


def deletion_impact_text(impact: DeletionImpact | None) -> str:
    """Return the pods and GPUs that a deletion takes along, as ``12 pods (3 ready) and 96 GPUs``.

    It is empty where there are none, or where the pods were not collected.
    """
    if impact is None or not impact.pods:
        return ""
    ready = f" ({impact.ready:,} ready)" if impact.ready else ""
    return f"{count_with_noun(impact.pods, 'pod')}{ready}" + (
        f" and {count_with_noun(impact.gpus, 'GPU')}" if impact.gpus else ""
    )


def rule_citation(reason: Reason) -> Span:
    """Return the reason code and the rule number, to print behind the sentence of the reason."""
    return f"  {reason.rule.code} {reason.rule.requirement}", "dim"


def join_names_with_commas(names: list[str], limit: int | None) -> str:
    """Return names with commas; beyond ``limit`` they are counted. None for no limit."""
    if limit is None or len(names) <= limit:
        return ", ".join(names)
    return f"{', '.join(names[:limit])} and {len(names) - limit:,} more"


def failed_check_message(met: Collection[str]) -> str:
    """Return the message of a failed check, with the ``--fail-on`` classes that it met (CL-002)."""
    return f"failed by --fail-on: {', '.join(sorted(met))}"


NOTHING_DECIDED: Final = "Nothing was decided."
NOTHING_STARTED: Final = "Nothing was started."
NOTHING_RUN: Final = "Nothing was run."
NOTHING_PLAYED: Final = "Nothing was simulated."
NOTHING_PRINTED: Final = "Nothing was printed."
NOTHING_REPLAYED: Final = "Nothing was replayed."
KEEP_GOING: Final = f"{NOTHING_DECIDED} --keep-going decides what can be decided despite them."
"""For commands that have this option."""


def input_problems_closing_line(faults: Sequence[InputFault]) -> str:
    """Return the last line where nothing was decided; it advises ``--keep-going`` unless only files are missing."""
    return NOTHING_DECIDED if all(fault.got == NO_SUCH_FILE for fault in faults) else KEEP_GOING


REST_UNKNOWN: Final = "What depends on them is marked UNKNOWN; a PodCliqueSet that cannot be read is left out."
REST_JUDGED: Final = "The files that could be read were still checked:"
NOTHING_CHECKED: Final = "Nothing was checked."


def input_problems_page(faults: Sequence[InputFault], closing: str) -> StyledTextPage:
    """Return a page with one line for each problem: file, document, object and field path (IN-030).

    Args:
        closing: the last line: what the command did despite them.
    """
    page = StyledTextPage()
    where = "on the command line" if {fault.file for fault in faults} == {COMMAND_LINE} else "in the input"
    page.add_line((f"{count_with_noun(len(faults), 'problem')} {where}", "bold red"))
    for fault in faults:
        page.add_line("  ", str(fault))
    page.add_line((closing, "dim"))
    return page
