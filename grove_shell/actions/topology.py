"""``grove topology``: the users of topologies, what a change would affect, and whether gangs fit on the nodes."""

from dataclasses import dataclass
from datetime import datetime
from functools import partial

from grove_core.admit_cluster_topology import admit_topology, admit_topology_deletion
from grove_core.areas.topology.cluster_topology_snapshot import incomplete_topology_user_kinds
from grove_core.areas.topology.pod_placement import NodeLabels
from grove_core.areas.topology.usage_report import count_sets_without_topology, topology_usage_report
from grove_core.areas.topology.wants import is_misplacement_undecidable, misplaced_gang_findings
from grove_core.gang_fit import check_gang_fit
from grove_core.kernel.admission import AdmissionVerdict
from grove_core.kernel.decisions import Decision
from grove_core.kernel.errors import MalformedObject
from grove_core.kernel.structs import replace
from grove_core.reconcile_topology import topology_impacts_on_sets
from grove_core.resources.api_names import TOPOLOGY_KIND
from grove_core.resources.cluster_topology import DEFAULT_TOPOLOGY, ClusterTopology, cluster_topology_from_json
from grove_core.resources.configuration import Configuration, TopologyAwareSettings
from grove_core.resources.naming_rules import did_you_mean, name_list_text
from grove_core.snapshot.cluster import IndexedCluster
from grove_shell.actions.command_input import InputSource
from grove_shell.actions.configuration_files import read_operator_configuration
from grove_shell.actions.decision_time import decision_time
from grove_shell.actions.edited_topologies import known_topologies_for_edit, topology_as_raw_json
from grove_shell.actions.html_files import save_report
from grove_shell.actions.selected_sets import selected_sets, selected_sets_not_found
from grove_shell.exit_codes import DONE, ERROR, FAIL_ON, USAGE, CommandFailed
from grove_shell.reading.cluster_reading import load_input_files
from grove_shell.reading.input_completeness import LoadedInput
from grove_shell.reading.input_faults import InputFault
from grove_shell.reading.input_items import InputItem, item_display_name, item_problem_as_fault
from grove_shell.reading.input_sources import input_items_in_path, standard_input_bytes
from grove_shell.reading.input_topologies import NodeCollector, is_topology_object
from grove_shell.reading.manifest_admission import ManifestAdmissionOptions
from grove_shell.reading.pod_batch_decoding import object_count_of_input_part
from grove_shell.styled_text_page import print_error, print_warnings
from grove_shell.views.formatting import (
    NOTHING_DECIDED,
    REST_UNKNOWN,
    count_with_noun,
    input_problems_closing_line,
    input_problems_page,
)
from grove_shell.views.progress_bars import progress_counter
from grove_shell.views.renderers import RENDERERS
from grove_shell.views.topology.topology_check_page import topology_check_page
from grove_shell.views.topology.topology_document import (
    topology_check_as_json,
    topology_impact_as_json,
    topology_list_as_json,
)
from grove_shell.views.topology.topology_page import (
    PlacementsOfSets,
    TopologyChangeImpact,
    topology_impact_page,
    topology_list_page,
)


def check_gangs_fit_on_nodes(
    sets: tuple[str, ...],
    filenames: tuple[str, ...],
    config: str | None,
    output: str,
    *,
    verbose: bool,
    html: str | None = None,
) -> int:
    """Check and print. Returns the exit code (CL-001, TP-111).

    Args:
        sets: ``set`` or ``namespace/set``; empty for all of the input.
        filenames: of the input.
        config: the configuration file of the operator; without one, topology-aware scheduling counts as on.
        output: a key of ``RENDERERS``.
        verbose: whether the page shows the placement, node by node.
        html: the file to save the page to; None for none.

    Raises:
        CommandFailed: The input has problems, no PodCliqueSet or no node.
    """
    found = read_topology_command_input(InputSource(filenames=filenames, config=config), NOTHING_DECIDED)
    lacking = [
        what for what, there in (("PodCliqueSet", found.cluster.sets), ("Node", found.capacity.nodes)) if not there
    ]
    if lacking:
        raise CommandFailed(f"nothing to check: no {' and no '.join(lacking)} in the input")
    if unknown := selected_sets_not_found(found.cluster, sets):
        print_error(f"not in the input: {unknown}")
        return USAGE
    snapshots = (found.cluster.snapshot_of(root, found.now) for root in selected_sets(found.cluster, sets))
    checks = [
        check_gang_fit(snapshot, found.capacity.nodes.values(), found.capacity.pods_on_nodes) for snapshot in snapshots
    ]
    page = partial(topology_check_page, checks, found.capacity, verbose=verbose)
    RENDERERS[output].print_result(page=page, document=lambda: topology_check_as_json(checks, found.capacity))
    fit = sum(check.all_gangs_fit for check in checks)
    title = f"{fit:,} of {count_with_noun(len(checks), 'PodCliqueSet')} fit under their own topology"
    save_report(html, "topology check", page, title, "green" if fit == len(checks) else "red")
    return DONE if fit == len(checks) else FAIL_ON


@dataclass(frozen=True, slots=True, kw_only=True)
class TopologyCommandInput:
    """The input of commands about topologies.

    Attributes:
        cluster: the objects; topology-aware scheduling is on unless ``--config`` switches it off.
        capacity: the nodes and the pods on them.
        problems: everything that is wrong with the input; it is printed already.
        now: the time to decide at.
        node_labels: of each node in the input, by its name.
    """

    cluster: IndexedCluster
    capacity: NodeCollector
    problems: tuple[InputFault, ...]
    now: datetime
    node_labels: NodeLabels


def read_topology_command_input(source: InputSource, unused: str | None = None) -> TopologyCommandInput:
    """Read the input and print its problems.

    Manifests are not refused for their topology constraints, which are the subject of these commands.

    Args:
        unused: the last line of the report where nothing is decided; None to advise ``--keep-going``.

    Raises:
        CommandFailed: nothing can be decided.
    """
    configured = read_operator_configuration(source.config)
    configuration = configured.configuration
    if configured.note:
        print_error(configured.note)
    if source.config is None:
        configuration = Configuration(topology=TopologyAwareSettings(enabled=True))
    collected = None
    if source.live is not None:
        from grove_shell.actions.live_cluster_lists import list_objects_of_all_kinds  # noqa: PLC0415 - the client, which a file does not need

        collected = list_objects_of_all_kinds(source.live)
    with progress_counter("reading", "object", size=object_count_of_input_part) as count:
        capacity = NodeCollector(count)
        loaded = load_input_files(
            source.filenames,
            standard_input_bytes(),
            capacity.collect,
            collected,
            configuration,
            admission=ManifestAdmissionOptions(by_topologies=False),
            raising=False,
        )
    problems = (*configured.problems, *sorted((*loaded.faults, *capacity.faults), key=lambda fault: fault.sort_key))
    usable = not problems or source.keep_going
    page = input_problems_page(problems, REST_UNKNOWN if usable else unused or input_problems_closing_line(problems))
    if problems and usable:
        print_error(page)
    print_warnings((*loaded.foreign_objects, *loaded.not_listed.values()))
    if not usable:
        raise CommandFailed(page)
    cluster = loaded.cluster if source.config is not None else _as_configured(loaded)
    now = decision_time(source.now, loaded.taken_at if source.live is None else None, None).now
    return TopologyCommandInput(
        cluster=cluster, capacity=capacity, problems=problems, now=now, node_labels=loaded.nodes.labels
    )


def print_topologies_with_users(source: InputSource, output: str) -> int:
    """List topologies with their users and print. Returns the exit code (CL-001)."""
    found = read_topology_command_input(source)
    usages, without = topology_usage_report(found.cluster, found.now), count_sets_without_topology(found.cluster)
    unknown = incomplete_topology_user_kinds(found.cluster)
    sets = found.cluster.sets
    is_unapplied = bool(sets) and not any(root.uid for root in sets) and not found.cluster.gaps
    snapshots = [found.cluster.snapshot_of(root, found.now) for root in sets]
    placements = PlacementsOfSets(
        {
            one.root.ref: tuple(why for gang in misplaced_gang_findings(one, found.node_labels) for why in gang.because)
            for one in snapshots
        },
        frozenset(one.root.ref for one in snapshots if is_misplacement_undecidable(one, found.node_labels)),
    )
    RENDERERS[output].print_result(
        page=lambda: topology_list_page(usages, without, unknown, placements, is_unapplied=is_unapplied),
        document=lambda: topology_list_as_json(usages, without, unknown, placements),
    )
    return ERROR if found.problems else DONE


def print_topology_change_impact(source: InputSource, name: str, changed: str | None, output: str) -> int:
    """Decide on a change or a deletion and print the affected sets. Returns the exit code (CL-001, TP-123).

    Args:
        changed: file with the changed topology; None for its deletion.
    """
    found = read_topology_command_input(source)
    usages = topology_usage_report(found.cluster, found.now)
    one = next((one for one in usages if one.name == name), None)
    if one is None or (changed is None and name not in found.cluster.topologies):
        known = found.cluster.topologies
        meant = did_you_mean(name, known)
        print_error(f"not in the input: topology {name}; known: {name_list_text(known) or 'none'}{meant}")
        return USAGE
    old = found.cluster.topologies.get(name)
    again = name == DEFAULT_TOPOLOGY and found.cluster.configuration.topology.enabled
    decision: Decision[AdmissionVerdict] | None = None
    if changed is None:
        if one.not_validated is None:
            decision = admit_topology_deletion(
                topology_as_raw_json(name, old), known_topologies_for_edit(one, found.cluster)
            )
        what = TopologyChangeImpact(one, old, None, decision, (), again)
    else:
        new = _changed(changed, name, old.ref.kind if old is not None else TOPOLOGY_KIND)
        raw = topology_as_raw_json(name, old) if old is not None else None
        if one.not_validated is None:
            around = known_topologies_for_edit(one, found.cluster, by_placed=True)
            decision = admit_topology(new.value, raw, around, found.cluster.configuration)
        topology = _projected(new)
        sets = topology_impacts_on_sets(found.cluster, topology, found.now) if topology is not None else ()
        what = TopologyChangeImpact(one, old, topology, decision, sets, again)
    RENDERERS[output].print_result(
        page=lambda: topology_impact_page(what), document=lambda: topology_impact_as_json(what)
    )
    if found.problems or what.is_refused:
        return ERROR
    return FAIL_ON if what.is_unknown else DONE


def _as_configured(loaded: LoadedInput) -> IndexedCluster:
    found = loaded.cluster.topologies.get(DEFAULT_TOPOLOGY)
    configured = TopologyAwareSettings(enabled=True, levels=found.levels if found is not None else ())
    return replace(loaded.cluster, configuration=Configuration(topology=configured))


def _changed(path: str, name: str, kind: str) -> InputItem:
    """Return the topology in the file of ``--changed``. Raises CommandFailed if the file has none, or several."""
    problems: list[InputFault] = []
    found = [
        item for item in input_items_in_path(path, problems, standard_input_bytes()) if is_topology_object(item.value)
    ]
    chosen = [item for item in found if item_display_name(item) == f"{kind} {name}"]
    if len(chosen) != 1 and not problems:
        others = ", ".join(item_display_name(item) for item in found) or "none"
        problems.append(InputFault(file=path, expected=f"{kind} {name}, once", got=others))
    problems += [
        item_problem_as_fault(
            item, item_display_name(item), ("metadata.name", "one topology of this name", "another one before"), None
        )
        for item in chosen[1:]
    ]
    if problems:
        raise CommandFailed(input_problems_page(problems, NOTHING_DECIDED))
    return chosen[0]


def _projected(item: InputItem) -> ClusterTopology | None:
    """Return the parsed topology; None where it is malformed, which admission refuses with every problem (TP-087)."""
    try:
        return cluster_topology_from_json(item.value)
    except MalformedObject:
        return None
