"""The input of a command: files or a live cluster, earlier attempts, configuration, clock, sets, rule set (CL-055)."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from grove_core.document.plan_document import RuleSetSource
from grove_core.kernel.errors import MalformedObject
from grove_core.kernel.steps import Attempt
from grove_core.operator_recognition import RecognisedOperator, recognised
from grove_core.resources.naming_rules import most_similar_name
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PodCliqueSet, podcliqueset_from_json
from grove_core.rule_sets.named import rule_set
from grove_core.rule_sets.rule_set import RuleSet
from grove_core.snapshot.cluster import EVERYWHERE, IndexedCluster
from grove_core.snapshot.cluster_index import index_cluster
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.actions.configuration_files import (
    FIELD,
    OperatorConfigurationFile,
    read_operator_configuration,
)
from grove_shell.actions.decision_time import DecisionTime, Now, decision_time, times_to_collect
from grove_shell.exit_codes import CommandFailed
from grove_shell.reading.collected_objects import CollectedObjects, LoadedInput
from grove_shell.reading.input_faults import InputFault
from grove_shell.reading.input_items import item_problem_as_fault
from grove_shell.reading.input_sources import input_items_in_path, standard_input_stream
from grove_shell.reading.manifest_admission import AdmissionOptions
from grove_shell.reading.objects import load
from grove_shell.styled_text_page import print_error
from grove_shell.views.formatting import REST_UNKNOWN, input_problems_closing_line, input_problems_page
from grove_shell.views.progress_bars import progress_counter


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveClusterOptions:
    """The live cluster to read.

    Attributes:
        everywhere: all namespaces, not only one.
        namespace: None for that of the context.
    """

    kubeconfig: str | None = None
    context: str | None = None
    namespace: str | None = None
    everywhere: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class InputSource:
    """The input options of a command.

    Attributes:
        now: the value of ``--now``.
        complete: kinds of which the files have every object, as the user says (IN-054).
    """

    filenames: tuple[str, ...] = ()
    live: LiveClusterOptions | None = None
    namespace: str | None = None
    now: Now = None
    attempts: str | None = None
    config: str | None = None
    keep_going: bool = False
    complete: tuple[str, ...] = ()


def selected_sets(
    cluster: IndexedCluster, names: Collection[str], namespace: str | None = None
) -> Iterator[PodCliqueSet]:
    """Yield the selected sets, sorted by namespace and name.

    Args:
        names: ``set`` or ``namespace/set``; empty for all.
        namespace: only sets of this namespace; None for all.
    """
    wanted = set(names)
    for root in cluster.sets:
        if namespace in {None, root.ref.namespace} and (not wanted or wanted & {root.ref.name, _full(root)}):
            yield root


def selected_sets_not_found(cluster: IndexedCluster, names: Collection[str], namespace: str | None = None) -> str:
    """Return the selected names that are not there, with similar names (CL-009); empty where nothing is missing."""
    present = [*selected_sets(cluster, (), namespace)]
    if namespace is not None and not present and not names:
        meant = most_similar_name(namespace, {root.ref.namespace for root in cluster.sets})
        return f"a PodCliqueSet in namespace {namespace}" + (f"; did you mean {meant}?" if meant else "")
    known = {name: _full(root) for root in present for name in (root.ref.name, _full(root))}
    lacking = sorted(name for name in names if name not in known)
    guesses = (known.get(most_similar_name(name, known)) or known.get(name.rpartition("/")[2]) for name in lacking)
    meant = ", ".join(dict.fromkeys(filter(None, guesses)))
    return ", ".join(f"PodCliqueSet {name}" for name in lacking) + (f"; did you mean {meant}?" if meant else "")


def _full(root: PodCliqueSet) -> str:
    return f"{root.ref.namespace}/{root.ref.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandInput:
    """Everything a command decides from.

    Attributes:
        problems: everything that is wrong with the input.
        newest: the newest time in the input; None where it was not needed, or there is none.
        usable: whether to decide: there are no problems, or ``--keep-going`` was given.
        rules: the rule set that the configuration names; None where it names none.
        note: on the configuration file; empty without one (IN-072).
    """

    loaded: LoadedInput
    problems: tuple[InputFault, ...]
    time: DecisionTime
    newest: datetime | None
    attempts: tuple[Attempt, ...]
    usable: bool
    rules: str | None
    note: str = ""

    @property
    def now(self) -> datetime:
        """The time to decide at."""
        return self.time.now

    def snapshots_of_selected_sets(self, namespace: str | None, names: tuple[str, ...] = ()) -> Iterator[Snapshot]:
        """Yield a snapshot of each selected PodCliqueSet, sorted by namespace and name."""
        for root in selected_sets(self.loaded.cluster, names, namespace):
            yield self.loaded.cluster.snapshot_of(root, self.now, self.attempts)


def read_command_input(source: InputSource, rules: str | None = None) -> CommandInput:
    """Read everything a command needs. What is wrong with it is in ``problems`` of the result.

    Args:
        source: the input options.
        rules: the value of ``--rules``; that operator admits manifests too.

    Raises:
        CommandFailed: the cluster of ``--live`` cannot be read, or ``--now dump`` finds no time.
    """
    configured = read_operator_configuration(source.config)
    collected = None
    if source.complete:
        collected = CollectedObjects(origin="", complete=frozenset((kind, EVERYWHERE) for kind in source.complete))
    if source.live is not None:
        from grove_shell.actions.live_cluster_lists import list_objects_of_all_kinds  # noqa: PLC0415 - the client, which a file does not need

        collected = list_objects_of_all_kinds(source.live, with_events=True)
    with progress_counter("reading", "objects") as count:
        times, on_item = times_to_collect(source.now, count, is_live=source.live is not None)
        loaded = load(
            source.filenames,
            standard_input_stream(),
            on_item,
            collected,
            configured.configuration,
            namespace=source.namespace,
            raising=False,
            admission=AdmissionOptions(
                choose_rules=lambda cluster, newer: choose_rule_set(rules, configured.rules, cluster, newer)[0]
            ),
        )
    attempts, problems = _attempts(source.attempts) if source.attempts else ((), ())
    time = decision_time(source.now, loaded.taken_at if source.live is None else None, times)
    if loaded.topology_edits:
        from grove_shell.actions.topology_edits import topology_edit_faults  # noqa: PLC0415 - few inputs have one (P11)

        chosen, _, _ = choose_rule_set(rules, configured.rules, loaded.cluster, loaded.newer)
        problems = (*problems, *topology_edit_faults(loaded, chosen, time.now))
    every = (*configured.problems, *_preflight_problems(source, loaded, configured), *loaded.faults, *problems)
    return CommandInput(
        loaded=loaded,
        problems=every,
        time=time,
        newest=times.newest if times is not None else None,
        attempts=attempts,
        usable=not every or source.keep_going,
        rules=configured.rules,
        note=configured.note,
    )


def read_input_and_print_problems(source: InputSource, rules: str | None = None) -> CommandInput:
    """Read the input and print its problems on standard error.

    Raises:
        CommandFailed: nothing can be decided (CL-001).
    """
    inputs = read_command_input(source, rules)
    if inputs.problems:
        closing = REST_UNKNOWN if inputs.usable else input_problems_closing_line(inputs.problems)
        page = input_problems_page(inputs.problems, closing)
        if not inputs.usable:
            raise CommandFailed(page)
        print_error(page)
    if inputs.note:
        print_error(inputs.note)
    return inputs


def _preflight_problems(
    source: InputSource, loaded: LoadedInput, configured: OperatorConfigurationFile
) -> Iterator[InputFault]:
    """Yield why an operator with that configuration would not start on the cluster (MN-061, SC-005)."""
    if source.config is None:
        return
    from grove_core.preflight import preflight_objections  # noqa: PLC0415 - few commands come with one (P11)

    for objection in preflight_objections(loaded.cluster.configuration, loaded.cluster.served):
        yield InputFault(
            file=source.config,
            document=1,
            object="OperatorConfiguration",
            path="network.autoMNNVLEnabled" if configured.note else objection.setting,
            expected=objection.expected,
            got=f"{objection.got} ({objection.because.sentence})",
        )


def _attempts(path: str) -> tuple[tuple[Attempt, ...], tuple[InputFault, ...]]:
    """Read the file of ``--attempts``: results of earlier writes, and everything wrong with it."""
    from grove_core.document.document_reading import attempts_from_json  # noqa: PLC0415 - few plans come with attempts (P11)

    faults: list[InputFault] = []
    found: list[Attempt] = []
    for item in input_items_in_path(path, faults, standard_input_stream()):
        try:
            found.extend(attempts_from_json(item.value.get("attempts")))
        except MalformedObject as fault:
            problems = ((one.path or "attempts", one.expected, one.got) for one in fault.problems)
            faults.extend(item_problem_as_fault(item, "", problem, None) for problem in problems)
    return tuple(found), tuple(faults)


AUTO: Final = "auto"
_OF_FILE: Final = "the configuration file is the Go operator's"


def choose_rule_set(
    option: str | None, configured: str | None, cluster: IndexedCluster | None, newer: Iterable[str] = ()
) -> tuple[RuleSet, RuleSetSource, RecognisedOperator | None]:
    """Return the rule set, what chose it, and the operator that the cluster shows.

    Args:
        option: the value of ``--rules``; None or ``auto`` where none is named.
        configured: the rule set that the file of ``--config`` names; None where it names none. A file of the Go
            operator stands for the release that the cluster shows, else for the newest (IN-073).
        newer: marks of a newer release that are in the input and not in the cluster.
    """
    shown = recognised(cluster, newer) if cluster is not None else None
    named, source = (
        configured if option is None else option,
        RuleSetSource("configuration" if option is None else "option"),
    )
    if option is None and configured == FIELD:
        shows_release = shown is not None and shown.go_operator is not None
        named, source = AUTO if shows_release else FIELD, RuleSetSource("configuration", _OF_FILE)
    if named not in {None, AUTO}:
        shown = replace(shown, doubtful=frozenset()) if shown is not None else None  # the user named it
        return rule_set(str(named)), source, shown
    if shown is None:
        return rule_set("design"), RuleSetSource("default"), shown
    return rule_set(shown.rules), RuleSetSource("cluster" if shown.is_shown else "default", shown.because), shown


def cluster_for_operator_recognition(sets: Iterable[Mapping[str, Any]], cliques: Iterable[PodClique]) -> IndexedCluster:
    """Return a cluster of the objects that an operator is recognised by; malformed PodCliqueSets are left out."""
    found = []
    for raw in sets:
        with suppress(MalformedObject):
            found.append(podcliqueset_from_json(raw))
    return index_cluster(sets=found, cliques=cliques)
