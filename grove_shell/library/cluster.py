"""Reads files, streams, objects and live clusters into a value that plans are made of (LB-002)."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from os import PathLike
from typing import Final, NamedTuple

from grove_core.document.plan_document import RuleSetSource
from grove_core.operator_recognition import RecognisedOperator
from grove_core.rule_sets.rule_set import RuleSet
from grove_core.snapshot.snapshot import EVERY_KIND, Snapshot
from grove_shell.actions.command_input import (
    GIVEN_OBJECTS,
    CommandInput,
    InputSource,
    LiveClusterOptions,
    read_command_input,
)
from grove_shell.actions.installed_rule_sets import InstalledRuleSetFailed
from grove_shell.actions.rule_set_choice import AUTO, GivenRules, choose_rule_set
from grove_shell.actions.selected_sets import selected_sets, selected_sets_not_found
from grove_shell.exit_codes import CommandFailed
from grove_shell.library.arguments import (
    Source,
    decision_moment,
    flag,
    given_rules,
    one_of,
    optional_path,
    optional_text,
    set_names,
    sources_in,
)
from grove_shell.library.objects import SetState, qualified_name, set_states
from grove_shell.reading.input_faults import BadInput, InputFault
from grove_shell.reading.input_sources import STDIN

RAISE: Final = "raise"
RETURN: Final = "return"
_FAULTS: Final = (RAISE, RETURN)
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
        """Yield which objects of some sets a status counts and the input lacks (IN-040): they count as lost."""
        loaded = self.inputs.loaded
        lacking = {*loaded.sets_without_cliques, *loaded.cliques_without_pods}
        for snapshot in snapshots if lacking else ():
            for one in (snapshot.root, *snapshot.cliques):
                name = qualified_name(one.ref)
                if name in lacking:
                    what = "PodClique" if one is snapshot.root else "Pod"
                    yield f"{name}: its status counts {what}s, and the input has none of them; {_SELECTOR}"

    def choice(self) -> tuple[RuleSet, RuleSetSource, RecognisedOperator | None]:
        """Return the rule set, what chose it, and the operator that the cluster shows."""
        return choose_rule_set(self.option, self.inputs.rules, self.inputs.recognised_by, self.inputs.loaded.newer)

    def known_sets(self, sets: object) -> tuple[str, ...]:
        """Return names of sets; none for all of them. Raises TypeError or ValueError where one is not there."""
        wanted = set_names(sets)
        lacking = selected_sets_not_found(self.inputs.loaded.cluster, wanted, self.source.namespace)
        if wanted and lacking:
            raise ValueError(f"not in the input: {lacking}")
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
        return (*loaded.warnings, *loaded.foreign_objects)

    @property
    def sets(self) -> tuple[SetState, ...]:
        """The PodCliqueSets, sorted by namespace and name, with their replicas, PodCliques and pods."""
        snapshots = self.internals.inputs.snapshots_of_selected_sets(self.internals.source.namespace)
        return set_states(snapshots, self.internals.choice()[0])

    def __repr__(self) -> str:
        read = self.internals
        sets = sum(1 for _ in selected_sets(read.inputs.loaded.cluster, (), read.source.namespace))
        return f"<Cluster with {sets} PodCliqueSet{'' if sets == 1 else 's'}, rules {self.rules.name!r}>"


def read(
    *sources: Source | Iterable[Source],
    rules: str | RuleSet = AUTO,
    now: datetime | str | None = None,
    namespace: str | None = None,
    config: str | PathLike[str] | None = None,
    complete: bool = False,
    old: Source | Iterable[Source] = (),
    faults: str = RAISE,
) -> Cluster:
    """Read what ``kubectl get -o json`` or ``grove snapshot`` wrote, and manifests that are planned as applied.

    Args:
        sources: paths of files and folders, open files, and objects as dicts; their order does not matter.
        rules: the operator that acts: ``auto`` for the one that the objects show, a name of ``grove rules``, or a
            RuleSet, as :func:`grove_core.rule_set_that_spares` returns one.
        now: the time to plan at, with a time zone; ``dump`` for the newest time in the input, ``clock`` for the
            computer's. Without it, the time of the input where that is older than an hour.
        namespace: the one to read, also of manifests that name none.
        config: the configuration file of the operator.
        complete: whether the input has every object of its namespaces, so that what is not in it does not exist.
        old: paths of manifests that count as rolled out; ``sources`` are then the new manifests.
        faults: ``raise``, or ``return`` to go on with what could be read: the problems are in ``faults`` of the result,
            and what depends on them is unknown.

    Raises:
        BadInput: everything that is wrong with the input, each problem with its place.
        TypeError, ValueError: an argument is wrong.

    Example:
        >>> import grove_shell as grove
        >>> grove.read("examples/real-cluster.yaml")
        <Cluster with 3 PodCliqueSets, rules 'field@v0.1.0-alpha.12-rc1'>
    """
    one_of(faults, _FAULTS, "faults")
    paths, objects, stream = sources_in(sources)
    if not sources or not (paths or objects or stream or any(isinstance(one, Mapping) for one in sources)):
        raise TypeError("nothing to read: give a path, an open file or an object; read_live() reads a cluster")
    earlier, *unusable = sources_in([old])
    if any(unusable):
        raise TypeError("old takes paths of manifests")
    source = InputSource(
        filenames=(*paths, *((STDIN,) if stream is not None else ())),
        now=decision_moment(now),
        namespace=optional_text(namespace, "namespace"),
        config=optional_path(config, "config"),
        complete=tuple(sorted(EVERY_KIND)) if flag(complete, "complete") else (),
        old=earlier,
        objects=objects,
        stream=stream,
    )
    return _read(source, given_rules(rules), faults)


def read_live(
    *,
    namespace: str | None = None,
    all_namespaces: bool = False,
    kubeconfig: str | PathLike[str] | None = None,
    context: str | None = None,
    manifests: Source | Iterable[Source] = (),
    rules: str | RuleSet = AUTO,
    config: str | PathLike[str] | None = None,
    faults: str = RAISE,
) -> Cluster:
    """Read a cluster, and manifests that are planned as applied to it. Nothing is written.

    Args:
        namespace: the one to read; that of the context without it.
        all_namespaces: read all of them.
        kubeconfig, context: as for kubectl.
        manifests: paths of files and folders.
        rules, config, faults: as for :func:`read`.

    Raises:
        BadInput: the cluster cannot be read, or a manifest is wrong.
        TypeError, ValueError: an argument is wrong.

    Example:
        >>> import grove_shell as grove
        >>> grove.read_live(kubeconfig="missing")
        Traceback (most recent call last):
        grove_shell.reading.input_faults.BadInput: 1 problem in the input
          input: missing: No such file or directory; try --kubeconfig FILE
    """
    one_of(faults, _FAULTS, "faults")
    paths, *unusable = sources_in([manifests])
    if any(unusable):
        raise TypeError("manifests takes paths")
    where = optional_text(namespace, "namespace")
    live = LiveClusterOptions(
        kubeconfig=optional_path(kubeconfig, "kubeconfig"),
        context=optional_text(context, "context"),
        namespace=where,
        everywhere=flag(all_namespaces, "all_namespaces"),
    )
    source = InputSource(filenames=paths, live=live, namespace=where, config=optional_path(config, "config"))
    return _read(source, given_rules(rules), faults)


def _read(source: InputSource, rules: GivenRules, faults: str) -> Cluster:
    option = None if rules == AUTO and source.config is not None else rules
    try:
        inputs = read_command_input(source, option)
    except InstalledRuleSetFailed:
        raise
    except CommandFailed as fault:
        raise BadInput([InputFault(file="input", expected="", got=str(fault.args[0]))]) from None
    if faults == RAISE:
        if inputs.problems:
            raise BadInput(inputs.problems)
        if next(selected_sets(inputs.loaded.cluster, (), source.namespace), None) is None:
            raise BadInput([_without_sets(source)])
    return Cluster(ReadInput(source=source, inputs=inputs, option=option))


def _without_sets(source: InputSource) -> InputFault:
    """Return the fault of an input without a PodCliqueSet (LB-004)."""
    got = "none" if source.namespace is None else f"none in namespace {source.namespace}"
    where = ", ".join(source.filenames) or (GIVEN_OBJECTS if source.live is None else "the cluster")
    return InputFault(file=where, expected="a PodCliqueSet", got=got)
