"""What fails a plan: classes of ``--fail-on``, limits of GPUs, and policies."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Protocol

from grove_core.document.termination_totals import termination_totals
from grove_core.plan.forecast import Forecast
from grove_shell.policies.fail_on_classes import (
    fail_on_class_if_undecided,
    fail_on_class_of_undecided_manifests,
    fail_on_classes_in_forecasts,
    fail_on_classes_of_incomplete_plans,
)
from grove_shell.policies.policy_results import PolicyResult, denied_policy_names
from grove_shell.views.formatting import failed_check_message


class PlanFailureLimits(Protocol):
    """The options of ``grove plan`` that may fail it."""

    @property
    def fail_on(self) -> tuple[str, ...]:
        """Classes that no round may contain."""
        ...

    @property
    def max_restarted_gpus(self) -> int | None:
        """The most GPUs of pods that edits restart; None for any number."""
        ...

    @property
    def max_terminated_gpus(self) -> int | None:
        """The most GPUs of pods that are terminated; None for any number."""
        ...


def plan_objections(
    limits: PlanFailureLimits,
    planned: Sequence[Forecast],
    until: datetime | None,
    results: Sequence[PolicyResult],
    *,
    is_incomplete: bool = False,
) -> Iterator[str]:
    """Yield what fails a plan: policies, classes of ``--fail-on``, and the GPUs that restart or are terminated.

    Args:
        until: the end of the forecast time; None without ``--until``.
        is_incomplete: whether objects are missing that others of the input show to be there (IN-083), or manifests of
            the input are not planned (IN-087).
    """
    if denied := denied_policy_names(results):
        yield f"failed by --policy: {', '.join(denied)}"
    most_restarted, most_terminated = limits.max_restarted_gpus, limits.max_terminated_gpus
    if not limits.fail_on and most_restarted is None and most_terminated is None:
        return
    classes = fail_on_classes_in_forecasts(planned, until)
    undecided = {"unknown"} if is_incomplete else fail_on_class_of_undecided_manifests(planned)
    unknown = fail_on_class_if_undecided(planned) | undecided
    found = classes | fail_on_classes_of_incomplete_plans(planned)
    if limits.fail_on and (met := set(limits.fail_on) & found | unknown):
        yield failed_check_message(met)
    if objection := restarted_gpus_objection(planned, most_restarted, is_unknown="unknown" in classes | undecided):
        yield f"failed by --max-restarted-gpus: {objection}"
    is_unknown = "unknown" in classes | unknown or not all(one.complete for one in planned)
    if objection := terminated_gpus_objection(planned, most_terminated, is_unknown=is_unknown):
        yield f"failed by --max-terminated-gpus: {objection}"


def restarted_gpus_objection(planned: Sequence[Forecast], most: int | None, *, is_unknown: bool) -> str:
    """Return why the edits of a plan restart too many GPUs; empty where they do not, or without a limit (ED-010).

    Args:
        is_unknown: whether what a round of the plan does is not decided.
    """
    if most is None:
        return ""
    edits = [one.edit for one in planned if one.edit is not None]
    updates = [one.update for one in edits if one.update is not None]
    if len(updates) < len(edits) or is_unknown:
        return "what the edit restarts is unknown"
    restarted = sum(update.restarted.gpus for update in updates)
    return f"pods with {restarted:,} GPUs restart, and {most:,} may" if restarted > most else ""


def terminated_gpus_objection(planned: Sequence[Forecast], most: int | None, *, is_unknown: bool) -> str:
    """Return why a plan terminates too many GPUs; empty where it does not, or without a limit (CL-088).

    Args:
        is_unknown: whether what a round of the plan does, or a termination, is not decided.
    """
    if most is None:
        return ""
    impact = termination_totals(planned).impact
    if impact is None or is_unknown:
        return "what is terminated is unknown"
    return f"pods with {impact.gpus:,} GPUs are terminated, and {most:,} may" if impact.gpus > most else ""
