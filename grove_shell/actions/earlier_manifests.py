"""Sets that count as rolled out, from the manifests of ``--old``: a pipeline that has no cluster compares with them."""

import json
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Final

from grove_core.areas.workload.admission.manifest_defaults import LAST_APPLIED
from grove_core.in_memory.update_forecasts import snapshot_of_rolled_out_set
from grove_core.kernel.frozen import FrozenMap, mapping_or_empty
from grove_core.kernel.structs import replace
from grove_core.resources.configuration import Configuration
from grove_core.rule_sets.rule_set import RuleSet
from grove_shell.reading.cluster_reading import load_input_files
from grove_shell.reading.input_completeness import LoadedInput
from grove_shell.reading.input_faults import InputFault
from grove_shell.reading.manifest_admission import ChooseRules, ManifestAdmissionOptions, SetAssumedStored

_AGE: Final = timedelta(days=1)
"""How long ago a set of ``--old`` was rolled out."""


def read_sets_as_running(
    filenames: tuple[str, ...],
    namespace: str | None,
    configuration: Configuration,
    choose_rules: ChooseRules,
    now: datetime,
) -> tuple[tuple[SetAssumedStored, ...], tuple[InputFault, ...]]:
    """Return the sets of manifests as they are once every pod is ready, and all problems of the files (ED-008).

    Args:
        filenames: of ``--old``.
        namespace: of manifests that name none; None for ``default``.
        choose_rules: returns the rules that the sets were made by.
        now: the time of the plan; the sets are as they were a day before it.
    """
    loaded = load_input_files(
        filenames,
        configuration=configuration,
        namespace=namespace,
        raising=False,
        admission=ManifestAdmissionOptions(choose_rules=choose_rules),
    )
    rules = choose_rules(loaded.cluster, loaded.newer)
    expected = "manifests of PodCliqueSets; what a cluster has is given with -f"
    return tuple(_rolled_out(loaded, rules, now)), (
        *loaded.faults,
        *faults_of_unexpected_stored_sets(loaded, "--old", expected),
    )


def _rolled_out(loaded: LoadedInput, rules: RuleSet, now: datetime) -> Iterator[SetAssumedStored]:
    """Yield the sets as ``kubectl apply`` stores them, with the annotation by which a later one removes fields."""
    for root in loaded.cluster.sets:
        manifest = loaded.new_sets.get(f"{root.ref.namespace}/{root.ref.name}")
        if manifest is not None:
            applied = json.dumps(manifest.written, default=str)
            metadata = mapping_or_empty(manifest.stored, "metadata")
            annotations = {**mapping_or_empty(metadata, "annotations"), LAST_APPLIED: applied}
            stored = replace(root, annotations=FrozenMap({**root.annotations, LAST_APPLIED: applied}))
            yield SetAssumedStored(
                {**manifest.stored, "metadata": {**metadata, "annotations": annotations}},
                snapshot_of_rolled_out_set(loaded.cluster.snapshot_of(stored, now - _AGE), rules),
            )


def faults_of_unexpected_stored_sets(
    loaded: LoadedInput, option: str, expected: str, known: Iterable[SetAssumedStored] = ()
) -> Iterator[InputFault]:
    """Yield a problem for each stored set among the manifests of an option, but for those of ``--old`` themselves.

    Args:
        option: such as ``--old``; it stands in place of a file.
        expected: what the option takes, in words.
        known: the sets of ``--old``, which are no problem.
    """
    rolled_out = {running.snapshot.root.ref for running in known}
    for root in loaded.cluster.sets:
        if root.uid and root.ref not in rolled_out:
            yield InputFault(file=option, object=root.ref.short, expected=expected, got="a stored set, with a uid")
