"""Plans and forecasts as values: ``plan.terminations``, ``plan.waiting``, ``plan.steps``, ``plan.edits`` (LB-005)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from grove_core.areas.gang_termination.termination_deletions import termination_deletions_by_replica
from grove_core.document.document_writing import plan_document_as_json
from grove_core.document.plan_document import step_action_name
from grove_core.explain import ForecastExplanation, ReplicaUrgency, explanation_of_forecast
from grove_core.kernel.steps import gangs_terminated_by, total_deletion_impact
from grove_core.kernel.time_formats import format_time
from grove_core.plan.forecast import Forecast
from grove_core.plan.termination_hints import Room
from grove_shell.actions.input_findings import nothing_decided_message
from grove_shell.actions.plan import PlannedInput, PlanOptions, plan_input
from grove_shell.library.arguments import Sets, time_span
from grove_shell.library.cluster import Cluster
from grove_shell.library.edits import Edit, NewSet, edits_of, new_sets_of
from grove_shell.library.html import html_escaped, html_table
from grove_shell.library.objects import replica_name, sentences_of
from grove_shell.reading.input_faults import BadInput, InputFault
from grove_shell.styled_text_page import StyledTextPage
from grove_shell.views.plan_headline import add_plan_headline
from grove_shell.views.renderers import format_json_document


class Termination(NamedTuple):
    """One termination of a gang: the PodCliques of a replica are deleted together.

    Attributes:
        at: when, if nothing changes before.
        set: ``namespace/name`` of the PodCliqueSet.
        replica: of the set or of a scaling group, as ``llama-0-decode replica 1``.
        because: which delay ended, a sentence.
        cliques: the PodCliques that are deleted.
        pods, ready, gpus: of these PodCliques, each time; None where their pods are not known.
        times: how often it happens within the forecast; ``at`` is the first time.
        rule: id of the rule.
        finds_room: whether its gangs fit on the nodes again; None where it comes later, or that is not known, as
            without the Nodes of the cluster in the input.
    """

    at: datetime
    set: str
    replica: str
    because: str
    cliques: tuple[str, ...]
    pods: int | None
    ready: int | None
    gpus: int | None
    times: int
    rule: str
    finds_room: bool | None


class Waiting(NamedTuple):
    """A replica that will be terminated unless it recovers.

    Attributes:
        until: when its delay ends.
        set, replica, because: as of a termination.
        pods_needed: PodClique -> ready pods it needs more, if that alone averts the termination; empty otherwise.
        finds_room: whether its gangs fit on the nodes again; None where that is not known.
    """

    until: datetime | None
    set: str
    replica: str
    because: str
    pods_needed: Mapping[str, int]
    finds_room: bool | None


class PlannedStep(NamedTuple):
    """One write of the operator.

    Attributes:
        round: from 1; those of round 1 come now.
        action: ``create``, ``ensure``, ``apply``, ``setStatus``, ``delete`` or ``dropFinalizer``.
        object: as ``PodClique/llama-0-decode``.
    """

    round: int
    at: datetime
    set: str
    action: str
    object: str
    because: str
    rule: str


class WithheldStep(NamedTuple):
    """A write that waits, and why."""

    set: str
    object: str
    because: str


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
        add_plan_headline(page, self.internals.document, self._stories)
        return "".join(span if isinstance(span, str) else span[0] for span in page.lines[0])

    @property
    def terminations(self) -> tuple[Termination, ...]:
        """The terminations in the order of time: those of now, and for a forecast those until its end."""
        found = [one for forecast in self._forecasts for one in _terminations(forecast)]
        return tuple(sorted(found, key=lambda one: (one.at, one.set, one.replica)))

    @property
    def waiting(self) -> tuple[Waiting, ...]:
        """The replicas whose delay runs now, the first to end first."""
        found = [one for story in self._stories for one in _waiting(story)]
        return tuple(sorted(found, key=lambda one: (one.until is None, one.until, one.set, one.replica)))

    @property
    def edits(self) -> tuple[Edit, ...]:
        """What the manifests among the input do to stored sets."""
        return edits_of(self._forecasts)

    @property
    def new_sets(self) -> tuple[NewSet, ...]:
        """The manifests that are planned as new sets, because no stored set has their namespace and name."""
        return new_sets_of(self._forecasts)

    @property
    def steps(self) -> tuple[PlannedStep, ...]:
        """Every write, in the order of sets and rounds."""
        return tuple(
            PlannedStep(
                round_.number,
                round_.at,
                _set_name(forecast),
                step_action_name(step.action),
                step.target.short,
                "; ".join(why.sentence for why in step.because),
                step.because[0].rule.requirement,
            )
            for forecast in self._forecasts
            for round_ in forecast.rounds
            for step in round_.steps
        )

    @property
    def withheld(self) -> tuple[WithheldStep, ...]:
        """What waits now, and why."""
        return tuple(
            WithheldStep(_set_name(forecast), held.target.short, "; ".join(why.sentence for why in held.because))
            for forecast in self._forecasts
            for held in forecast.rounds[0].withheld
        )

    @property
    def unknown(self) -> tuple[str, ...]:
        """What is not known of the sets, a sentence each. Check it before you trust that nothing is terminated.

        Objects that the input lacks although a status counts them are among it, since a plan takes them for lost. So
        are the problems of an input that was read with ``faults="return"``.
        """
        found = []
        for story in self._stories:
            name = f"{story.root.namespace}/{story.root.name}"
            entries = (one for one in story.entries if one.urgency is ReplicaUrgency.UNKNOWN)
            found += [f"{name}: {sentence}" for one in entries for sentence in sentences_of(one)]
            found += [f"{name}: {sentence}" for sentence in story.unpredicted]
        return (*dict.fromkeys(found), *self.lost_objects)

    def to_dict(self) -> dict[str, Any]:
        """Return the plan document, as ``grove plan -o json`` prints it."""
        return dict(plan_document_as_json(self.internals.document, decisions=False))

    def to_json(self) -> str:
        """Return the plan document as text."""
        return format_json_document(self.to_dict())

    @property
    def _forecasts(self) -> Sequence[Forecast]:
        return self.internals.document.forecasts

    @property
    def _stories(self) -> tuple[ForecastExplanation, ...]:
        return tuple(map(explanation_of_forecast, self._forecasts))

    def __repr__(self) -> str:
        return f"<Plan: {self.verdict}>"

    def _repr_html_(self) -> str:
        """Return tables for a notebook."""
        edits = (
            (one.set, [change.path for change in one.changes], one.restarts, one.removes, one.adds, one.serving)
            for one in self.edits
        )
        parts: tuple[tuple[str, Sequence[str], Iterable[Sequence[Any]]], ...] = (
            ("not known", ("what",), ((one,) for one in self.unknown)),
            ("edits", ("set", "changes", "restarts", "removes", "adds", "serving"), edits),
            ("new sets", NewSet._fields, self.new_sets),
            ("terminations", Termination._fields, self.terminations),
            ("waiting", Waiting._fields, self.waiting),
        )
        top = f"{self.verdict}; as of {format_time(self.now)}, rules {self.rules}"
        return f"<p><b>{html_escaped(top)}</b></p>" + "".join(html_table(*part) for part in parts)


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
    return _planned(checked_cluster(cluster), sets, time_span(until, cluster.now, "until"))


def _planned(cluster: Cluster, sets: Sets, until: timedelta | None) -> Plan:
    read = checked_cluster(cluster).internals
    options = PlanOptions(sets=read.known_sets(sets), rules=read.option, until=until)
    found = plan_input(read.inputs, read.source, options)
    nothing = nothing_decided_message(read.inputs.loaded, found.document.forecasts)
    if nothing:
        raise BadInput([InputFault(file="input", expected="", got=nothing)])
    return Plan(found, (*read.lost_objects(found.snapshots), *map(str, read.inputs.problems)))


def checked_cluster(given: object) -> Cluster:
    """Return what was read. Raises TypeError for anything else."""
    if isinstance(given, Cluster):
        return given
    raise TypeError(f"cluster is what grove_shell.read() returns; got {type(given).__name__}: say read(...) first")


def _set_name(forecast: Forecast) -> str:
    return f"{forecast.root.namespace}/{forecast.root.name}"


def _terminations(forecast: Forecast) -> Iterator[Termination]:
    rooms = {one.replica: one.room for one in forecast.hints}
    for round_ in forecast.rounds:
        for replica, steps in termination_deletions_by_replica(round_.steps).items():
            gang = next(one for one in gangs_terminated_by(steps[0]) if one.replica == replica)
            reason = gang.delay or steps[0].because[0]
            impact = total_deletion_impact(steps)
            yield Termination(
                at=round_.at,
                set=_set_name(forecast),
                replica=replica_name(replica),
                because=f"{gang.trigger.name}: {reason.sentence}",
                cliques=tuple(step.target.name for step in steps if step.target.kind == "PodClique"),
                pods=None if impact is None else impact.pods,
                ready=None if impact is None else impact.ready,
                gpus=None if impact is None else impact.gpus,
                times=forecast.round_occurrence_count(round_),
                rule=reason.rule.requirement,
                finds_room=_finds_room(rooms.get(replica)) if round_.number == 1 else None,
            )


def _waiting(story: ForecastExplanation) -> Iterator[Waiting]:
    name = f"{story.root.namespace}/{story.root.name}"
    for entry in story.entries:
        if entry.urgency is ReplicaUrgency.WAITS:
            needed = {one.clique.name: one.pods for one in entry.hints.ready_pods} if entry.hints is not None else {}
            because = "; ".join(sentences_of(entry))
            room = _finds_room(entry.hints.room if entry.hints is not None else None)
            yield Waiting(entry.until, name, replica_name(entry.subject), because, needed, room)


def _finds_room(room: Room | None) -> bool | None:
    return None if room in {None, Room.UNKNOWN} else room is Room.FITS
