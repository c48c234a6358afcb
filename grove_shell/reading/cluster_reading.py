"""Reads files, standard input and live objects into a cluster (IN-033, IN-034, IN-040).

An object that cannot be read must not look absent. It makes its kind count as not collected in its namespace, and a
file that cannot be read to its end makes every kind count so everywhere. Decisions that need the kind are then
"unknown" (IN-034).
"""

from collections.abc import Callable, Iterable
from functools import partial
from os import PathLike, fspath
from typing import BinaryIO

from grove_core.kernel.frozen import FrozenDict
from grove_core.kernel.structs import replace
from grove_core.resources.api_names import POD_GROUP_KIND
from grove_core.resources.configuration import DEFAULT_CONFIGURATION, Configuration
from grove_core.snapshot.cluster import EVERYWHERE, IndexedCluster
from grove_core.snapshot.cluster_index import index_cluster, index_with_compute_domains
from grove_shell.python_gc import python_gc_paused
from grove_shell.reading.input_completeness import CollectedObjects, LoadedInput
from grove_shell.reading.input_faults import BadInput, InputFault
from grove_shell.reading.input_sources import InputItem, input_items_in_path, standard_input_bytes
from grove_shell.reading.input_topologies import InputTopologies
from grove_shell.reading.manifest_admission import (
    ManifestAdmissionOptions,
    manifest_with_namespace,
)
from grove_shell.reading.missing_objects import (
    cliques_with_uncollected_pods,
    completely_listed_kinds,
    missing_referenced_kinds,
    pods_with_missing_clique,
    sets_with_missing_cliques,
)
from grove_shell.reading.object_collector import JUDGED, ObjectCollector
from grove_shell.reading.owner_reference_check import OwnerReferenceCheck
from grove_shell.reading.pod_batch_decoding import ConsecutivePods


def load_input_files(
    paths: Iterable[str | PathLike[str]],
    stdin: BinaryIO | None = None,
    progress: Callable[[InputItem | ConsecutivePods], None] | None = None,
    live: CollectedObjects | None = None,
    configuration: Configuration = DEFAULT_CONFIGURATION,
    *,
    admission: ManifestAdmissionOptions = ManifestAdmissionOptions(),  # noqa: B008 - it is immutable
    namespace: str | None = None,
    raising: bool = True,
) -> LoadedInput:
    """Read files, directories or standard input (``-``) into a cluster.

    Args:
        paths: their order does not change the result.
        stdin: where ``-`` reads from; standard input by default.
        progress: called for every item and every run of pods, for a progress bar.
        live: objects listed from a cluster (IN-040).
        configuration: of the operator; manifests are admitted under it.
        admission: how manifests are admitted, besides.
        namespace: of manifests that name none; None for the default one (IN-039).
        raising: whether faults raise. If not, they are in ``faults`` of the result, and kinds that they leave unknown
            count as not collected (IN-034).

    Raises:
        BadInput: the input has faults and ``raising`` is set; it holds all of them (IN-030).
        TypeError: ``paths`` is one path instead of a list.

    Example:
        >>> load("cluster.yaml")
        Traceback (most recent call last):
        TypeError: paths is one path, not a list of paths; say ["cluster.yaml"]
    """
    if isinstance(paths, str | bytes | PathLike):
        raise TypeError(f"paths is one path, not a list of paths; say [{fspath(paths)!r}]".replace("'", '"'))
    names = [fspath(path) for path in paths]
    collector = ObjectCollector(
        live, configuration, InputTopologies(judging=admission.by_topologies), admission.choose_rules
    )
    for running in admission.running:
        collector.found.add_running_set(running.manifest, running.snapshot)
    with python_gc_paused():
        for index, raw in enumerate(collector.live.items):
            collector.collect_item(InputItem(collector.live.origin, 1, index, raw))
        take_pods = partial(_take_pods, collector, progress)
        for path in sorted(names):  # a fault of two conflicting objects does not depend on the order of paths
            for item in input_items_in_path(path, collector.found.faults, stdin or standard_input_bytes(), take_pods):
                collector.collect_item(manifest_with_namespace(item, namespace))
                if progress is not None:
                    progress(item)
        loaded = _loaded(collector)
    if raising and (faults := (*loaded.faults, *map(_server_error_fault, loaded.server_errors))):
        raise BadInput(faults)
    return loaded


def _take_pods(
    collector: ObjectCollector, progress: Callable[[InputItem | ConsecutivePods], None] | None, run: ConsecutivePods
) -> bool:
    """Collect a run of pods; return whether all of them were."""
    taken = collector.collect_pods(run)
    if taken and progress is not None:
        progress(run)
    return taken


def _server_error_fault(error: str) -> InputFault:
    """Return the fault of an API server's error in place of objects (IN-053)."""
    return InputFault(file="the input", expected="objects of a cluster", got=f"an error of an API server: {error}")


def _loaded(collector: ObjectCollector) -> LoadedInput:
    found = collector.found
    found.drop_conflicting_objects()
    stored = tuple(found.sets.values())
    collector.admit_manifests()
    owners = OwnerReferenceCheck(found, collector.live.complete, collector.clusters)
    owners.report_unreadable_objects(collector.unread)
    inferred = missing_referenced_kinds(
        sets=stored,
        groups=found.groups.values(),
        cliques=found.cliques.values(),
        gangs=found.gangs.values(),
        pods=found.pods.values(),
        grouped={namespace for kind, namespace, _ in found.others if kind == POD_GROUP_KIND},
    )
    listed = collector.live.complete
    inferred = {gap for gap in inferred if gap not in listed and (gap[0], EVERYWHERE) not in listed}
    lacks_kinds = bool(inferred - found.gaps)
    found.gaps |= inferred
    cluster = _cluster(collector, owners)
    pods_without_clique = len(found.pods) - sum(
        len(pods) for uid, pods in cluster.pods_of.items() if uid in found.owners
    )
    return LoadedInput(
        cluster=cluster,
        faults=tuple(sorted(found.faults, key=lambda fault: fault.sort_key)),
        ignored=dict(sorted(collector.ignored.items())),
        pods_without_clique=pods_without_clique,
        changes={f"{namespace}/{name}": found for (namespace, name), found in collector.manifests.changes.items()},
        before=collector.manifests.before,
        hidden=collector.manifests.hidden,
        kept=tuple(sorted(collector.manifests.kept)),
        warnings=tuple(collector.warnings),
        cliques_without_pods=tuple(cliques_with_uncollected_pods(cluster, listed)),
        sets_without_cliques=tuple(sets_with_missing_cliques(cluster, listed)),
        pods_without_their_clique=tuple(pods_with_missing_clique(found.pods.values(), cluster, listed)),
        lacks_kinds=lacks_kinds,
        not_listed=collector.live.not_listed,
        foreign_objects=tuple(sorted(owners.warnings.values())),
        taken_at=collector.snapshot_headers.taken_at,
        server_errors=tuple(sorted(set(collector.server_errors))),
        nodes=collector.nodes.nodes_with(found.pods.values()),
        newer=tuple(sorted(collector.newer)),
        definitions=tuple(found.definitions),
        new_sets=collector.manifests.new_sets,
        same_names=collector.manifests.same_names,
        failed_writes=tuple(collector.failed_writes),
        topology_edits=collector.topologies.edits,
    )


def _cluster(collector: ObjectCollector, owners: OwnerReferenceCheck) -> IndexedCluster:
    """Return the cluster; if objects may be lost, no kind that decisions need counts as complete (IN-034)."""
    found, kept = collector.found, owners.owned_objects()
    lost = JUDGED if any(fault.lost for fault in found.faults) else ()
    gaps = frozenset(found.gaps | collector.live.not_listed.keys() | {(kind, EVERYWHERE) for kind in lost})
    cluster = index_cluster(
        sets=found.sets.values(),
        groups=kept.groups.values(),
        cliques=kept.cliques.values(),
        gangs=kept.gangs.values(),
        others=found.others.values(),
        pods=found.pods.values(),
        gaps=gaps,
        complete=completely_listed_kinds(found.present_kinds | collector.live.complete, gaps),
    )
    return replace(
        index_with_compute_domains(cluster, found.domains.values(), found.claims.values()),
        claim_templates=FrozenDict(found.templates),
        configuration=collector.configuration,
        served=collector.live.served or collector.snapshot_headers.served_apis or found.served_apis,
        foreign_owners=FrozenDict(owners.holders | collector.found.foreign_groups),
        topologies=collector.topologies.effective_topologies_by_name,
        shadowed_topologies=collector.topologies.shadowed_bindings,
        is_part=collector.live.is_part_of_cluster,
    )
