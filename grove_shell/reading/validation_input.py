"""The manifests that ``grove validate`` judges, and the objects that it judges them by."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from grove_core.areas.workload.admission.autoscaler_minimum import is_autoscaler_kind
from grove_core.kernel.errors import MalformedObject
from grove_core.resources.api_names import BINDING_KIND, GROUP_KIND, GROVE, SET_KIND, TOPOLOGY_KIND
from grove_core.resources.object_metadata import metadata_in
from grove_core.resources.podclique import PodClique, podclique_from_json
from grove_core.resources.scaling_group import ScalingGroup, scaling_group_from_json
from grove_shell.manifests.schema_validation import misspelled_kind_or_version_in
from grove_shell.reading.input_faults import InputFault
from grove_shell.reading.input_items import (
    item_display_name,
    item_problem_as_fault,
    kind_and_version_problems,
    object_name_in_faults,
)
from grove_shell.reading.input_objects import API_GROUPS
from grove_shell.reading.input_sources import (
    InputItem,
    input_items_in_path,
    kind_and_metadata,
    standard_input_bytes,
)


@dataclass(slots=True)
class ValidationInput:
    """The objects of an input, by what they are for.

    Attributes:
        sets, topologies: PodCliqueSets and ClusterTopologies, to be judged.
        bindings: topologies of the newer kind, which are not judged.
        cliques: they show which pods are bound (TP-062).
        groups: stored scaling groups.
        autoscalers: HorizontalPodAutoscalers and ScaledObjects (WL-250).
        partial: kinds of which one cannot be read that others would be judged by.
        others: kind -> how many objects of other kinds.
        headings: kind and metadata of those others that have names to collide with.
        classes: names of the DeviceClasses (MS-084).
    """

    sets: list[InputItem] = field(default_factory=list)
    topologies: list[InputItem] = field(default_factory=list)
    bindings: list[InputItem] = field(default_factory=list)
    cliques: list[PodClique] = field(default_factory=list)
    groups: list[ScalingGroup] = field(default_factory=list)
    autoscalers: list[InputItem] = field(default_factory=list)
    partial: set[str] = field(default_factory=set)
    others: Counter[str] = field(default_factory=Counter)
    headings: list[Mapping[str, Any]] = field(default_factory=list)
    classes: set[str] = field(default_factory=set)

    def add_object(self, item: InputItem) -> None:
        """File one object."""
        raw, kind, version = item.value, str(item.value["kind"]), str(item.value["apiVersion"])
        if kind == SET_KIND and version.rpartition("/")[0] == API_GROUPS[SET_KIND]:
            self.sets.append(item)
            return
        if (kind, version) == (TOPOLOGY_KIND, GROVE):
            self.topologies.append(item)
            return
        if is_autoscaler_kind(kind, version):
            self.autoscalers.append(item)
        else:
            self.others[kind] += 1
        if (kind, version) == (BINDING_KIND, GROVE):
            self.bindings.append(item)
        if kind == "PodClique":
            try:
                self.cliques.append(podclique_from_json(raw))
            except MalformedObject:
                self.partial.add(kind)
        if kind == GROUP_KIND:
            with suppress(MalformedObject):
                self.groups.append(scaling_group_from_json(raw))
        if kind == "DeviceClass":
            self.classes.add(metadata_in(raw).name)
        if kind != "Pod":
            self.headings.append(kind_and_metadata(raw))


def read_validation_input(paths: Iterable[str], faults: list[InputFault]) -> ValidationInput:
    """Read files; an object without kind or version, or with a misspelled one of ours, is a fault (IN-032)."""
    given = ValidationInput()
    for path in paths:
        for item in input_items_in_path(path, faults, standard_input_bytes()):
            problems, slip = list(kind_and_version_problems(item.value)), misspelled_kind_or_version_in(item.value)
            if slip is not None and not problems:
                problems = [(slip.path, slip.expected, slip.got)]
            name = object_name_in_faults(item.value, item.index)
            faults += [item_problem_as_fault(item, name, problem, None) for problem in problems]
            if not problems:
                given.add_object(item)
    return given


def conflicting_manifest_faults(given: ValidationInput) -> Iterator[InputFault]:
    """Yield a fault for manifests of one name that differ: only one of them can be stored (IN-032). Linear."""
    alike: dict[tuple[str, str], dict[str, InputItem]] = {}
    for kind, items in ((SET_KIND, given.sets), (TOPOLOGY_KIND, given.topologies)):
        for item in items:
            meta = metadata_in(item.value)
            if meta.name and not meta.uid:
                name = "/".join(meta.namespace_and_name) if kind == SET_KIND else meta.name
                alike.setdefault((kind, name), {}).setdefault(json.dumps(item.value, sort_keys=True), item)
    for found in alike.values():
        problem = ("metadata.name", "one manifest of this name", f"{len(found)} that differ")
        for item in found.values() if len(found) > 1 else ():
            yield item_problem_as_fault(item, item_display_name(item), problem, None)


def find_stored_set(raw: Mapping[str, Any], stored: Iterable[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """Return the stored set of this name and namespace; of a manifest without namespace the only one of the name."""
    meta = metadata_in(raw)
    same = [one for one in stored if metadata_in(one).name == meta.name]
    if meta.namespace:
        same = [one for one in same if metadata_in(one).namespace_and_name == meta.namespace_and_name]
    return same[0] if len(same) == 1 else None
