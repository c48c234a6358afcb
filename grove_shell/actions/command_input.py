"""The input of a command: files or a live cluster, earlier attempts, configuration, clock, sets, rule set (CL-055)."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, BinaryIO, Final

from grove_core.kernel.errors import MalformedObject
from grove_core.kernel.steps import Attempt
from grove_core.kernel.structs import Struct
from grove_core.rule_sets.rule_set import RuleSet
from grove_core.snapshot.cluster import EVERYWHERE, Gap, IndexedCluster
from grove_core.snapshot.cluster_index import index_cluster
from grove_core.snapshot.snapshot import EVERY_KIND, Snapshot
from grove_shell.actions.configuration_files import (
    OperatorConfigurationFile,
    read_operator_configuration,
)
from grove_shell.actions.decision_time import DecisionTime, Now, decision_time, input_time_collector
from grove_shell.actions.rule_set_choice import GivenRules, choose_rule_set
from grove_shell.actions.selected_sets import selected_sets
from grove_shell.exit_codes import CommandFailed
from grove_shell.reading.cluster_reading import load_input_files
from grove_shell.reading.input_completeness import CollectedObjects, LoadedInput
from grove_shell.reading.input_faults import InputFault
from grove_shell.reading.input_items import InputItem, item_problem_as_fault
from grove_shell.reading.input_sources import input_items_in_path, standard_input_bytes
from grove_shell.reading.manifest_admission import (
    ChooseRules,
    ManifestAdmissionOptions,
    SetAssumedStored,
    manifest_with_namespace,
)
from grove_shell.reading.pod_batch_decoding import object_count_of_input_part
from grove_shell.styled_text_page import print_error
from grove_shell.views.formatting import (
    NOTHING_DECIDED,
    REST_UNKNOWN,
    input_problems_closing_line,
    input_problems_page,
)
from grove_shell.views.progress_bars import progress_counter

GIVEN_OBJECTS: Final = "objects"
"""As the file of objects that a program gives."""


class LiveClusterOptions(Struct, frozen=True, kw_only=True):
    """The live cluster to read.

    Attributes:
        everywhere: all namespaces, not only one.
        namespace: None for that of the context.
    """

    kubeconfig: str | None = None
    context: str | None = None
    namespace: str | None = None
    everywhere: bool = False


class InputSource(Struct, frozen=True, kw_only=True):
    """The input options of a command.

    Attributes:
        now: the value of ``--now``.
        complete: kinds of which the files have every object, as the user says (IN-054).
        old: files with the manifests of sets that count as rolled out (ED-008).
        objects: objects as JSON, read besides the files (LB-002); they must not change afterwards.
        stream: what ``-`` reads; None for standard input.
        collected: the objects of the cluster of ``live``, where a program follows it; None to list them.
    """

    filenames: tuple[str, ...] = ()
    live: LiveClusterOptions | None = None
    namespace: str | None = None
    now: Now = None
    attempts: str | None = None
    config: str | None = None
    keep_going: bool = False
    complete: tuple[str, ...] = ()
    old: tuple[str, ...] = ()
    objects: tuple[dict[str, Any], ...] = ()
    stream: BinaryIO | None = None
    collected: CollectedObjects | None = None


class CommandInput(Struct, frozen=True, kw_only=True):
    """Everything a command decides from.

    Attributes:
        problems: everything that is wrong with the input.
        newest: the newest time in the input; None where it was not needed, or there is none.
        usable: whether to decide: there are no problems, or ``--keep-going`` was given.
        rules: the rule set that the configuration names; None where it names none.
        recognised_by: the objects that show which operator runs; none where they are those of ``--old``.
        note: on the configuration file; empty without one (IN-072).
    """

    loaded: LoadedInput
    problems: tuple[InputFault, ...]
    time: DecisionTime
    newest: datetime | None
    attempts: tuple[Attempt, ...]
    usable: bool
    rules: str | None
    recognised_by: IndexedCluster
    note: str = ""

    @property
    def now(self) -> datetime:
        """The time to decide at."""
        return self.time.now

    def snapshots_of_selected_sets(self, namespace: str | None, names: tuple[str, ...] = ()) -> Iterator[Snapshot]:
        """Yield a snapshot of each selected PodCliqueSet, sorted by namespace and name."""
        for root in selected_sets(self.loaded.cluster, names, namespace):
            yield self.loaded.cluster.snapshot_of(root, self.now, self.attempts)


def read_command_input(
    source: InputSource, rules: GivenRules | None = None, of_policies: Sequence[InputFault] = ()
) -> CommandInput:
    """Read everything a command needs. What is wrong with it is in ``problems`` of the result.

    Args:
        source: the input options.
        rules: the value of ``--rules``; that operator admits manifests too.
        of_policies: problems of policy files; ``--keep-going`` does not go on without a policy (PO-001).

    Raises:
        CommandFailed: the cluster of ``--live`` cannot be read, or ``--now dump`` finds no time.
    """
    configured = read_operator_configuration(source.config)
    collected = _collected_objects(source)

    def choose(cluster: IndexedCluster, newer: tuple[str, ...]) -> RuleSet:
        return choose_rule_set(rules, configured.rules, _recognised_by(source, cluster), newer)[0]

    earlier, faults = _earlier_sets(source, configured, choose)
    with progress_counter("reading", "object", size=object_count_of_input_part) as count:
        times, on_item = input_time_collector(source.now, count, is_live=source.live is not None)
        loaded = load_input_files(
            source.filenames,
            source.stream or standard_input_bytes(),
            on_item,
            collected,
            configured.configuration,
            namespace=source.namespace,
            raising=False,
            admission=ManifestAdmissionOptions(choose_rules=choose, running=earlier),
        )
    if times is not None:
        for index, raw in enumerate(source.objects):
            times.add(InputItem(GIVEN_OBJECTS, 1, index, raw))
    attempts, problems = _attempts(source.attempts) if source.attempts else ((), ())
    time = decision_time(source.now, loaded.taken_at if source.live is None else None, times)
    faults += (*_preflight_problems(source, loaded, configured), *loaded.faults, *problems)
    if source.old:
        from grove_shell.actions.earlier_manifests import faults_of_unexpected_stored_sets  # noqa: PLC0415 - few commands have one (P11)

        expected = "manifests alone, as --old stands for the cluster"
        faults += tuple(faults_of_unexpected_stored_sets(loaded, "-f", expected, earlier))
    if loaded.topology_edits:
        from grove_shell.actions.edited_topologies import topology_edit_faults  # noqa: PLC0415 - few inputs have one (P11)

        faults += tuple(topology_edit_faults(loaded, choose(loaded.cluster, loaded.newer), time.now))
    every = (*of_policies, *configured.problems, *faults)
    return CommandInput(
        loaded=loaded,
        problems=every,
        time=time,
        newest=times.newest if times is not None else None,
        attempts=attempts,
        usable=not every or (source.keep_going and not of_policies),
        rules=configured.rules,
        recognised_by=_recognised_by(source, loaded.cluster),
        note=configured.note,
    )


def _collected_objects(source: InputSource) -> CollectedObjects | None:
    """Return the objects of the live cluster, or the kinds of which the input has every object; None without either."""
    if source.collected is not None:
        return source.collected
    if source.live is not None:
        from grove_shell.actions.live_cluster_lists import list_objects_of_all_kinds  # noqa: PLC0415 - the client, which a file does not need

        return list_objects_of_all_kinds(source.live, with_events=True)
    complete = EVERY_KIND if source.old else source.complete
    if not complete and not source.objects:
        return None
    kinds: frozenset[Gap] = frozenset((kind, EVERYWHERE) for kind in complete)
    given = (InputItem(GIVEN_OBJECTS, 1, index, raw) for index, raw in enumerate(source.objects))
    items = tuple(manifest_with_namespace(one, source.namespace).value for one in given)
    return CollectedObjects(origin=GIVEN_OBJECTS, items=items, complete=kinds)


def _recognised_by(source: InputSource, cluster: IndexedCluster) -> IndexedCluster:
    """Return the objects that show which operator runs; sets of ``--old`` were made by the rules, and show none."""
    return index_cluster(sets=()) if source.old else cluster


def _earlier_sets(
    source: InputSource, configured: OperatorConfigurationFile, choose: ChooseRules
) -> tuple[tuple[SetAssumedStored, ...], tuple[InputFault, ...]]:
    """Return the sets of ``--old`` as they run, and everything that is wrong with its files (ED-008)."""
    if not source.old:
        return (), ()
    from grove_shell.actions.earlier_manifests import read_sets_as_running  # noqa: PLC0415 - few commands have one (P11)

    now = source.now if isinstance(source.now, datetime) else datetime.now(UTC)
    return read_sets_as_running(source.old, source.namespace, configured.configuration, choose, now)


def read_input_and_print_problems(
    source: InputSource, rules: GivenRules | None = None, of_policies: Sequence[InputFault] = ()
) -> CommandInput:
    """Read the input and print its problems, and those of policy files, on standard error.

    Raises:
        CommandFailed: nothing can be decided (CL-001).
    """
    inputs = read_command_input(source, rules, of_policies)
    if inputs.problems:
        closing = REST_UNKNOWN if inputs.usable else input_problems_closing_line(inputs.problems)
        if of_policies:
            closing = NOTHING_DECIDED
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
    for item in input_items_in_path(path, faults, standard_input_bytes()):
        try:
            found.extend(attempts_from_json(item.value.get("attempts")))
        except MalformedObject as fault:
            faults.extend(
                item_problem_as_fault(item, "", (one.path or "attempts", one.expected, one.got), None, kind=one.kind)
                for one in fault.problems
            )
    return tuple(found), tuple(faults)
