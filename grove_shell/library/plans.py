"""Plans and forecasts as values: ``plan.terminations``, ``plan.waiting``, ``plan.steps``, ``plan.edits`` (LB-005)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

from grove_core.document.document_writing import plan_document_as_json
from grove_core.explain import explanation_of_forecast
from grove_core.forecast_explanation import EntryUrgency, ForecastExplanation
from grove_core.kernel.time_formats import format_time
from grove_core.kernel.wants import StepObstacle
from grove_core.plan.forecast import Forecast
from grove_shell.actions.findings_besides_plan import nothing_decided_message
from grove_shell.actions.planned_input import PlannedInput, PlanOptions, plan_input
from grove_shell.library.arguments import Sets, time_span_from_argument
from grove_shell.library.cluster import Cluster, require_cluster
from grove_shell.library.edits import Edit, NewSet, ServingDuringEdit, edits_of, new_sets_of
from grove_shell.library.html_tables import html_page_of_tables, html_table
from grove_shell.library.objects import cause_sentences_of_entry, qualified_name
from grove_shell.library.scheduling_gates import GatedPod, gated_pods_in
from grove_shell.library.steps import PlannedStep, WithheldStep, planned_steps_in, withheld_steps_in
from grove_shell.library.tables import Table, table_of
from grove_shell.library.terminations import Termination, Waiting, replicas_with_running_delay, terminations_in
from grove_shell.reading.input_faults import BadInput, InputFault
from grove_shell.styled_text_page import StyledTextPage
from grove_shell.views.plan.open_plan_sentences import open_plan_sentences
from grove_shell.views.plan.plan_headline import add_plan_headline
from grove_shell.views.renderers import format_json_document


@dataclass(frozen=True, repr=False, eq=False)
class Plan:
    """What the operator does now and later to the sets that were read.

    Attributes:
        internals: not part of the public names.
        lost_objects: what the input lacks although a status counts it, a sentence each.
    """

    internals: PlannedInput
    lost_objects: tuple[str, ...] = ()

    @property
    def until(self) -> datetime | None:
        """The end of the forecast; None for what follows from the present moment alone."""
        return self.internals.until

    @property
    def now(self) -> datetime:
        """The time of the plan."""
        return self.internals.document.as_of

    @property
    def rules(self) -> str:
        """The name of the rule set."""
        return self.internals.document.rules

    @property
    def verdict(self) -> str:
        """The first line of ``grove plan``."""
        page = StyledTextPage()
        add_plan_headline(page, self.internals.document, self._stories, is_incomplete=bool(self.lost_objects))
        return page.plain_text.partition("\n")[0]

    @property
    def terminations(self) -> Table[Termination]:
        """The terminations in the order of time: those of now, and for a forecast those until its end."""
        snapshots = {one.root_ref: one for one in self.internals.snapshots}
        found = [one for each in self._forecasts for one in terminations_in(each, snapshots.get(each.root))]
        return table_of(Termination, sorted(found, key=lambda one: (one.at, one.set, one.replica)))

    @property
    def waiting(self) -> Table[Waiting]:
        """The replicas whose delay runs now, the first to end first."""
        found = [one for story in self._stories for one in replicas_with_running_delay(story)]
        return table_of(Waiting, sorted(found, key=lambda one: (one.until is None, one.until, one.set, one.replica)))

    @property
    def edits(self) -> Table[Edit]:
        """What the manifests among the input do to stored sets."""
        return edits_of(self._forecasts)

    @property
    def new_sets(self) -> Table[NewSet]:
        """The manifests that are planned as new sets, because no stored set has their namespace and name."""
        return new_sets_of(self._forecasts)

    @property
    def steps(self) -> Table[PlannedStep]:
        """Every write, in the order of sets and rounds."""
        return table_of(PlannedStep, (step for forecast in self._forecasts for step in planned_steps_in(forecast)))

    @property
    def withheld(self) -> Table[WithheldStep]:
        """What waits now, and why."""
        return table_of(WithheldStep, (held for forecast in self._forecasts for held in withheld_steps_in(forecast)))

    @property
    def gated(self) -> Table[GatedPod]:
        """The pods with a scheduling gate, and why it is not removed, or that it is."""
        planned = zip(self.internals.snapshots, self._forecasts, strict=False)  # forecasts of topologies come last
        return table_of(GatedPod, (pod for one, forecast in planned for pod in gated_pods_in(one, forecast.findings)))

    @property
    def unknown(self) -> tuple[str, ...]:
        """What is not known of the sets, a sentence each. Check it before you trust that nothing is terminated.

        Objects that the input lacks although a status counts them are among it, since a plan takes them for lost. So
        are the problems of an input that was read with ``faults="return"``, objects that an edit touches and the input
        has none of, and sets that a new set may have been meant for.
        """
        found = []
        for story in self._stories:
            name = qualified_name(story.root)
            entries = (one for one in story.entries if one.urgency is EntryUrgency.UNKNOWN)
            found += [f"{name}: {sentence}" for one in entries for sentence in cause_sentences_of_entry(one)]
            found += [f"{name}: {sentence}" for sentence in story.unpredicted]
        for one in self._forecasts:
            found += [f"{qualified_name(one.root)}: {sentence}" for sentence in open_plan_sentences(one)]
        found += [f"{name}: its manifest is not planned" for name in self.internals.document.not_planned]
        return (*dict.fromkeys(found), *self.lost_objects)

    @property
    def unfinished(self) -> tuple[str, ...]:
        """Where the plan ends before the operator does, a sentence for each set; later terminations may be missing.

        A plan never makes pods ready: an update that waits for new pods goes on only in ``grove simulate``.
        """
        found = [(qualified_name(one.root), why) for one in self._forecasts if (why := _unfinished(one))]
        return tuple(f"{name}: {why}" for name, why in found)

    def to_dict(self) -> dict[str, Any]:
        """Return the plan document, as ``grove plan -o json`` prints it."""
        return dict(plan_document_as_json(self.internals.document, decisions=False))

    def to_json(self) -> str:
        """Return the plan document as text."""
        return format_json_document(self.to_dict())

    @property
    def _forecasts(self) -> Sequence[Forecast]:
        return self.internals.document.forecasts

    @cached_property
    def _stories(self) -> tuple[ForecastExplanation, ...]:
        return tuple(map(explanation_of_forecast, self._forecasts))

    def __repr__(self) -> str:
        return f"<Plan: {self.verdict}>"

    def _repr_html_(self) -> str:
        """Return tables for a notebook."""
        edits = [
            (one.set, [change.path for change in one.changes], one.restarts, one.removes, one.terminates, one.adds)
            for one in self.edits
        ]
        serving = [(one.set, *part) for one in self.edits for part in one.serving]
        top = f"{self.verdict}; as of {format_time(self.now)}, rules {self.rules}"
        return html_page_of_tables(
            top,
            html_table("not known", ("what",), ((one,) for one in self.unknown)),
            html_table("unfinished", ("what",), ((one,) for one in self.unfinished)),
            html_table("edits", ("set", "changes", "restarts", "removes", "terminates", "adds"), edits),
            html_table("how many serve during edits", ("set", *ServingDuringEdit._fields), serving),
            *(
                html_table(caption, rows.columns, rows)
                for caption, rows in (
                    ("new sets", self.new_sets),
                    ("terminations", self.terminations),
                    ("waiting", self.waiting),
                )
            ),
        )


def plan(cluster: Cluster, *, sets: Sets = None) -> Plan:
    """Return what the operator does now, and which terminations wait for a delay.

    Args:
        cluster: as :func:`grove_shell.read` returns it.
        sets: a PodCliqueSet of ``cluster.sets``, its name as ``llama`` or ``prod/llama``, or several; all by default.

    Raises:
        BadInput: nothing can be decided from what was read.
        TypeError, ValueError: an argument is wrong.

    Example:
        >>> import grove_shell as grove
        >>> plan = grove.plan(grove.read("examples/degraded.yaml", now="2026-11-20T09:00:00Z"))
        >>> for one in plan.terminations:
        ...     print(one.set, one.replica, one.gpus)
        inference/deepseek deepseek-0-decode replica 1 3
        inference/llama-70b llama-70b replica 0 8
    """
    return _planned(cluster, sets, None)


def forecast(cluster: Cluster, *, until: timedelta | datetime | str, sets: Sets = None) -> Plan:
    """Return what the operator does within a time, if every write succeeds and nothing else happens.

    Args:
        cluster, sets: as for :func:`plan`.
        until: a span as ``timedelta(hours=6)`` or ``"6h"``, or the time at which it ends.

    Raises:
        BadInput, TypeError, ValueError: as for :func:`plan`.

    Example:
        >>> import grove_shell as grove
        >>> for one in grove.forecast(grove.read("examples/real-cluster.yaml"), until="6h").terminations:
        ...     print(one.at.time(), one.replica, one.pods, one.gpus)
        09:40:29 qwen replica 1 5 4
        09:41:00 deepseek-0-prefill replica 0 4 16
    """
    return _planned(require_cluster(cluster), sets, time_span_from_argument(until, cluster.now, "until"))


def _unfinished(forecast: Forecast) -> str:
    """Return why a forecast ends before the operator does; empty where nothing is left to do."""
    if any(one.obstacle is StepObstacle.UPDATE for one in forecast.rounds[-1].withheld):
        return "its update waits for new pods to become ready, which a plan never makes"
    return "" if forecast.complete else "more rounds would follow, and their number is limited"


def _planned(cluster: Cluster, sets: Sets, until: timedelta | None) -> Plan:
    read = require_cluster(cluster).internals
    options = PlanOptions(sets=read.known_sets(sets), rules=read.option, until=until)
    found = plan_input(read.inputs, read.source, options)
    nothing = nothing_decided_message(read.inputs.loaded, found.document.forecasts)
    if nothing:
        raise BadInput([InputFault(file="input", expected="", got=nothing)])
    return Plan(found, (*read.lost_objects(found.snapshots), *map(str, read.inputs.problems)))
