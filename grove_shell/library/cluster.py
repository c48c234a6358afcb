"""What was read: sets, time, rule set and problems, of which plans are made."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple

from grove_core.document.plan_document import RuleSetSource
from grove_core.kernel.time_formats import format_time
from grove_core.operator_recognition import RecognisedOperator
from grove_core.rule_sets.rule_set import RuleSet
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.actions.command_input import CommandInput, InputSource
from grove_shell.actions.rule_set_choice import GivenRules, choose_rule_set, operator_rule_set_note
from grove_shell.actions.selected_sets import selected_sets, selected_sets_not_found
from grove_shell.library.arguments import require_set_names
from grove_shell.library.html_tables import html_page_of_tables, html_table
from grove_shell.library.objects import SetState, qualified_name, set_states
from grove_shell.reading.input_faults import InputFault
from grove_shell.views.renderers import format_json_document

_SELECTOR: Final = "they count as lost. If the input was collected with a selector (-l), collect it again without"


class ChosenRules(NamedTuple):
    """A rule set, and what in the cluster chose it; empty where the program named it."""

    name: str
    because: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadInput:
    """What was read, as the commands have it.

    Attributes:
        option: the rule set as the program gave it; None for that of the configuration file.
    """

    source: InputSource
    inputs: CommandInput
    option: GivenRules | None

    def lost_objects(self, snapshots: Iterable[Snapshot]) -> Iterator[str]:
        """Yield which objects of some sets a status or a pod shows and the input lacks (IN-083): they count as lost."""
        loaded = self.inputs.loaded
        lacking = {*loaded.sets_without_cliques, *loaded.cliques_without_pods}
        for snapshot in snapshots if lacking else ():
            for one in (snapshot.root, *snapshot.cliques):
                name = qualified_name(one.ref)
                if name in lacking:
                    what = "PodClique" if one is snapshot.root else "Pod"
                    yield f"{name}: its status counts {what}s, and the input has none of them; {_SELECTOR}"
        for pod in loaded.pods_without_their_clique:
            yield f"{pod}: the input lacks its PodClique, which counts as deleted; collect it again with all PodCliques"

    def choice(self) -> tuple[RuleSet, RuleSetSource, RecognisedOperator | None]:
        """Return the rule set, what chose it, and the operator that the cluster shows."""
        return choose_rule_set(self.option, self.inputs.rules, self.inputs.recognised_by, self.inputs.loaded.newer)

    def known_sets(self, sets: object) -> tuple[str, ...]:
        """Return names of sets; none for all of them. Raises TypeError or ValueError where one is not there."""
        wanted = require_set_names(sets)
        lacking = selected_sets_not_found(self.inputs.loaded.cluster, wanted, self.source.namespace)
        if wanted and lacking:
            raise ValueError(f"sets: not in the input: {lacking}")
        return wanted


@dataclass(frozen=True, repr=False, eq=False)
class Cluster:
    """What was read: PodCliqueSets with everything they own, at one time, under one rule set.

    Attributes:
        internals: not part of the public names.
    """

    internals: ReadInput

    @property
    def now(self) -> datetime:
        """The time that plans are made at; aware UTC."""
        return self.internals.inputs.now

    @property
    def now_from(self) -> str:
        """Where ``now`` is from: ``given``, ``clock``, ``input`` or ``snapshot`` (LB-017).

        ``input`` is the newest time in the input, ``snapshot`` the time at which ``grove snapshot`` read the cluster.
        """
        read = self.internals
        taken_at = read.inputs.loaded.taken_at
        if isinstance(read.source.now, datetime):
            return "given"
        if read.inputs.time.source:
            return "input"
        is_snapshot = read.source.live is None and taken_at is not None and self.now == taken_at
        return "snapshot" if is_snapshot else "clock"

    @property
    def rules(self) -> ChosenRules:
        """The rule set that plans follow, and what in the cluster shows that operator."""
        chosen, source, _ = self.internals.choice()
        return ChosenRules(chosen.name, source.because)

    @property
    def faults(self) -> tuple[InputFault, ...]:
        """Every problem of the input; empty unless it was read with ``faults="return"``."""
        return self.internals.inputs.problems

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was read and may not be what was meant, a sentence each."""
        loaded = self.internals.inputs.loaded
        note = self.internals.inputs.note
        chosen, _, recognition = self.internals.choice()
        other = operator_rule_set_note(recognition, chosen.name)
        if recognition is not None:
            other = other.replace(f"--rules {recognition.rules}", f"rules={recognition.rules!r}")
        return (*loaded.warnings, *loaded.foreign_objects, *filter(None, (note, other)))

    @property
    def snapshots(self) -> tuple[Snapshot, ...]:
        """One for each PodCliqueSet, as ``grove_core.reconcile`` and ``grove_core.testing`` take them (LB-025)."""
        return tuple(self.internals.inputs.snapshots_of_selected_sets(self.internals.source.namespace))

    @property
    def sets(self) -> tuple[SetState, ...]:
        """The PodCliqueSets, sorted by namespace and name, with their replicas, PodCliques and pods."""
        return set_states(self.snapshots, self.internals.choice()[0])

    def to_dict(self) -> dict[str, Any]:
        """Return what was read and chosen, and the sets with their parts, as JSON with the names of the attributes."""
        return {
            "now": format_time(self.now),
            "now_from": self.now_from,
            "rules": self.rules._asdict(),
            "warnings": list(self.warnings),
            "faults": [str(one) for one in self.faults],
            "sets": [one.to_dict() for one in self.sets],
        }

    def to_json(self) -> str:
        """Return it as text."""
        return format_json_document(self.to_dict())

    def _repr_html_(self) -> str:
        """Return tables for a notebook."""
        sets = ((one.full_name, one.available, one.wanted, len(one.pods)) for one in self.sets)
        notes = ((one,) for one in (*map(str, self.faults), *self.warnings))
        top = f"{repr(self)[1:-1]}, as of {format_time(self.now)} ({self.now_from})"
        return html_page_of_tables(
            top, html_table("notes", ("what",), notes), html_table("sets", ("set", "available", "wanted", "pods"), sets)
        )

    def __repr__(self) -> str:
        read = self.internals
        sets = sum(1 for _ in selected_sets(read.inputs.loaded.cluster, (), read.source.namespace))
        return f"<Cluster with {sets} PodCliqueSet{'' if sets == 1 else 's'}, rules {self.rules.name!r}>"


def require_cluster(given: object) -> Cluster:
    """Return what was read. Raises TypeError for anything else."""
    if isinstance(given, Cluster):
        return given
    raise TypeError(f"cluster is what grove_shell.read() returns; got {type(given).__name__}: say read(...) first")
