"""``grove apply``: executes a saved plan if a plan made now is the same, and nothing otherwise."""

import asyncio
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import TypeAlias

from grove_core.document.document_reading import plan_document_from_json
from grove_core.document.plan_document import PlanDocument, step_action_name
from grove_core.kernel.errors import MalformedObject, ObjectProblem
from grove_core.kernel.refs import Ref, is_placeholder_uid
from grove_core.kernel.steps import Attempt, AttemptOutcome, Step
from grove_core.kernel.structs import replace
from grove_core.plan.forecast import Forecast
from grove_core.plan.plan import Plan
from grove_core.plan.plan_laws import broken_laws_in_plan
from grove_core.plan.plan_staleness import changes_since_reviewed_plan
from grove_core.resources.json_field_reader import short_json
from grove_core.rule_sets.rule_set import RuleSet
from grove_core.rule_sets.rule_set_by_name import rule_set, rule_sets
from grove_core.snapshot.cluster import EVERYWHERE
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.actions.command_input import LiveClusterOptions
from grove_shell.actions.live_cluster_lists import list_objects_of_all_kinds
from grove_shell.apply.execute_concurrently import execute_steps_concurrently
from grove_shell.apply.fresh_reader import FreshReader
from grove_shell.apply.planned_round import plan_for_root
from grove_shell.apply.step_executor import StepExecutor
from grove_shell.cache.cache_view import Observation
from grove_shell.cache.cluster_cache import ClusterCache
from grove_shell.client.api_session import ApiSession
from grove_shell.client.connection_settings import read_connection_settings
from grove_shell.exit_codes import DONE, ERROR, STALE, CommandFailed
from grove_shell.reading.cluster_reading import load_input_files
from grove_shell.reading.input_completeness import CollectedObjects
from grove_shell.reading.input_faults import file_problems_as_faults
from grove_shell.styled_text_page import StyledTextPage, escape_unprintable, print_error, print_page, write_stdout
from grove_shell.views.formatting import count_with_noun

Deciding: TypeAlias = Callable[[Observation, RuleSet], Plan]


def apply_saved_plan(
    path: str,
    kubeconfig: str | None = None,
    context: str | None = None,
    *,
    dry_run: bool = False,
    decide: Deciding = plan_for_root,
) -> int:
    """Compare a saved plan with one made now, and execute its first round; return the exit code (CL-001).

    Args:
        decide: makes a plan; it is checked against the laws of planning before anything is written (OP-052).
    """
    document = _read(path)
    spaces = {forecast.root.namespace for forecast in document.forecasts}
    everywhere = len(spaces) > 1 or EVERYWHERE in spaces  # the users of a topology may be in any namespace
    namespace = None if everywhere else next(iter(spaces), None)
    live = LiveClusterOptions(kubeconfig=kubeconfig, context=context, namespace=namespace, everywhere=everywhere)
    found = list_objects_of_all_kinds(live)
    steps, stale = _compared(document, found, decide)
    if stale:
        page = StyledTextPage()
        page.add_line(("stale: ", "bold red"), "the cluster is not as it was when this plan was made; nothing was done")
        for line in stale:
            page.add_line(f"  {line}")
        print_error(page)
        return STALE
    if dry_run:
        write_stdout(f"still the plan: {count_with_noun(len(steps), 'write')}\n")
        return DONE
    return _print_attempts(asyncio.run(_act(live, found, steps)), steps)


def _read(path: str) -> PlanDocument:
    try:
        raw = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as fault:
        raise CommandFailed(escape_unprintable(f"{path}: {fault.strerror or fault}")) from fault
    except (ValueError, RecursionError) as fault:
        problem = ObjectProblem(path="", expected="a plan that `grove plan --out` wrote", got=f"no JSON ({fault})")
        raise _unread(path, (problem,)) from fault
    try:
        document = plan_document_from_json(raw if isinstance(raw, dict) else {})
    except MalformedObject as fault:
        raise _unread(path, fault.problems) from fault
    if problems := tuple(_problems(document)):
        raise _unread(path, problems)
    return document


def _unread(path: str, problems: Iterable[ObjectProblem]) -> CommandFailed:
    """Return the error with a line for each problem, short and printable (IN-030)."""
    return CommandFailed("\n".join(map(str, file_problems_as_faults(path, problems))))


def _problems(document: PlanDocument) -> Iterator[ObjectProblem]:
    """Yield why a readable document cannot be executed: it is ambiguous to a reviewer (CL-005)."""
    if document.rules not in rule_sets():
        yield ObjectProblem(
            path="rules", expected=f"one of {', '.join(sorted(rule_sets()))}", got=short_json(document.rules)
        )
    seen: set[Ref] = set()
    for number, forecast in enumerate(document.forecasts):
        if forecast.root in seen:
            yield ObjectProblem(path=f"plans[{number}].root", expected="each root once", got=forecast.root.short)
        seen.add(forecast.root)


def _compared(document: PlanDocument, found: CollectedObjects, decide: Deciding) -> tuple[list[Step], list[str]]:
    """Return the steps of plans made now, and their differences from the reviewed ones.

    Raises:
        CommandFailed: one of these plans breaks laws of planning.
    """
    cache, now = _cached(found), datetime.now(UTC)
    cache.configuration, cache.served = document.configuration, found.served or cache.served
    foreign_owners = load_input_files((), BytesIO(), live=found).cluster.foreign_owners
    steps: list[Step] = []
    stale: list[str] = []
    broken: list[str] = []
    for forecast in document.forecasts:
        seen = cache.snapshot_of_root((forecast.root.namespace, forecast.root.name), now)
        if seen is None or seen.root_uid != forecast.root_uid:
            stale.append(_missing(forecast, there=seen is not None))
            continue
        if isinstance(seen, Snapshot):
            seen = replace(seen, foreign_owners=foreign_owners)
        fresh = decide(seen, rule_set(document.rules))
        broken += [f"  {problem}" for problem in broken_laws_in_plan(fresh, seen)]
        stale += [str(change) for change in changes_since_reviewed_plan(forecast.rounds[0].steps, fresh.steps)]
        steps += fresh.steps
    if broken:
        raise CommandFailed(
            "\n".join(("a plan made now breaks laws of planning, a fault of Grove; nothing was done", *broken))
        )
    return steps, stale


def _missing(forecast: Forecast, *, there: bool) -> str:
    root = forecast.root.short
    if is_placeholder_uid(forecast.root_uid):
        return f"{root}: it was planned from a manifest; apply that (kubectl apply), and plan again with --live"
    return f"{root}: it was created again since" if there else f"{root}: it does not exist any more"


def _cached(found: CollectedObjects) -> ClusterCache:
    cache = ClusterCache()
    for kind in sorted({kind for kind, _ in found.complete}):
        cache.replace_all_of_kind(kind, [item for item in found.items if item.get("kind") == kind], "0")
    for (kind, _), why in found.not_listed.items():
        cache.mark_kind_unlisted(kind, why)
    return cache


async def _act(live: LiveClusterOptions, found: CollectedObjects, steps: Sequence[Step]) -> tuple[Attempt, ...]:
    connection = await read_connection_settings(live.kubeconfig, live.context)
    async with ApiSession(connection) as api:
        return await execute_steps_concurrently(
            StepExecutor(FreshReader(api, _cached(found))).attempt_step, sorted(steps, key=lambda step: step.sort_key)
        )


def _print_attempts(attempts: Sequence[Attempt], steps: Sequence[Step]) -> int:
    """Print the executed steps by kind and the failed ones singly; return the exit code."""
    page, counts = StyledTextPage(), dict[tuple[str, str], int]()
    failed = [attempt for attempt in attempts if attempt.outcome is not AttemptOutcome.DONE]
    for attempt in attempts:
        if attempt.outcome is AttemptOutcome.DONE:
            key = (step_action_name(attempt.step.action), attempt.step.target.kind)
            counts[key] = counts.get(key, 0) + 1
    _add_counts(page, counts)
    for attempt in failed:
        page.add_line(
            ("not done: ", "bold red"),
            f"{step_action_name(attempt.step.action)} {attempt.step.target.short}: ",
            attempt.detail,
        )
    left = len(steps) - len(attempts)
    if left:
        page.add_line(f"{count_with_noun(left, 'write')} not tried, because of those")
    print_page(page)
    return ERROR if failed or left else DONE


def _add_counts(page: StyledTextPage, counts: Mapping[tuple[str, str], int]) -> None:
    if not counts:
        page.add_line("nothing was done")
    for (action, kind), count in sorted(counts.items()):
        page.add_line(("done: ", "green"), f"{action} {count_with_noun(count, kind)}")
