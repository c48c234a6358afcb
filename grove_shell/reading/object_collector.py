"""Parses every object of an input and files it by kind and name; every problem becomes a fault (IN-030, IN-032)."""

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from grove_core.kernel.errors import MalformedObject
from grove_core.kernel.frozen import FrozenMap, json_equality_text
from grove_core.kernel.structs import replace
from grove_core.resources.api_names import (
    CLAIM_KIND,
    CLAIM_TEMPLATE_KIND,
    CLAIM_VERSIONS,
    CORE,
    DOMAIN_KIND,
    NVIDIA,
    RENAMED_KINDS,
    TOPOLOGY_KIND,
)
from grove_core.resources.cluster_topology import TOPOLOGY_KINDS
from grove_core.resources.compute_domain import compute_domain_from_json, served_compute_domain_format
from grove_core.resources.configuration import ComputeDomainFormatName, Configuration
from grove_core.resources.crd_name_clashes import crd_names_from_definition
from grove_core.resources.decoded_pod import UnreadableFields
from grove_core.resources.failed_write import FailedWrite, failed_write_in_event, failed_writes_in_status
from grove_core.resources.json_field_reader import JsonFieldReader, short_json
from grove_core.resources.newer_release_fields import is_unknown_grove_kind, newer_release_fields_in
from grove_core.resources.object_metadata import metadata_in
from grove_core.resources.owned_object import GROUP_KINDS, OWNED_KINDS, owned_object_from_json
from grove_core.resources.pod import pod_from_json, pods_from_fields
from grove_core.resources.pod_requests import PodRequests
from grove_core.resources.podclique import PodClique
from grove_core.snapshot.cluster import EVERYWHERE
from grove_shell.reading.input_completeness import (
    SNAPSHOT_KIND,
    SNAPSHOT_VERSION,
    CollectedObjects,
    CombinedSnapshotHeaders,
)
from grove_shell.reading.input_items import (
    api_server_error_message,
    item_display_name,
    kind_and_version_problems,
)
from grove_shell.reading.input_manifests import InputManifests
from grove_shell.reading.input_nodes import CollectedNodes
from grove_shell.reading.input_objects import API_GROUPS, DEFINITION_KIND, InputObjects, is_same_object_state
from grove_shell.reading.input_sources import InputItem, kind_and_metadata
from grove_shell.reading.input_topologies import InputTopologies, is_topology_object
from grove_shell.reading.manifest_admission import (
    ChooseRules,
)
from grove_shell.reading.owner_reference_check import UnreadableObject
from grove_shell.reading.pod_batch_decoding import ConsecutivePods

_KINDS_OF_GROVE: Final = frozenset({*API_GROUPS, *TOPOLOGY_KINDS, SNAPSHOT_KIND, "Scenario"})
_NVIDIA_GROUP: Final = NVIDIA.partition("/")[0]
_DOMAIN_DEFINITION: Final = f"computedomains.{_NVIDIA_GROUP}"
JUDGED: Final = ("Pod", "PodClique", "PodCliqueScalingGroup")
"""Kinds whose objects must be complete for decisions."""


class ObjectCollector:
    """Collects the items of one input."""

    def __init__(
        self,
        live: CollectedObjects | None,
        configuration: Configuration,
        topologies: InputTopologies,
        choose_rules: ChooseRules | None = None,
    ) -> None:
        self.live = live or CollectedObjects(origin="")
        self.configuration = configuration
        self.topologies = topologies
        self.found = InputObjects()
        self.clusters = {self.live.origin} - {""}  # the live one, and snapshot files
        self.unread: list[UnreadableObject] = []
        self.manifests = InputManifests(configuration, choose_rules)
        self.interned: dict[str, str] = {}  # strings that many objects share
        self.requests: dict[bytes, PodRequests] = {}  # of specs that were read
        self._pod_specs: dict[bytes, FrozenMap] = {}  # of PodCliques, by their JSON
        self.ignored: Counter[str] = Counter()
        self.newer: Counter[str] = Counter()  # marks of a newer release of the Go operator
        self.warnings: list[str] = []
        self.server_errors: list[str] = []
        self.failed_writes: list[FailedWrite] = []
        self.nodes = CollectedNodes()
        self.snapshot_headers = CombinedSnapshotHeaders()

    def collect_item(self, item: InputItem) -> None:
        """Parse one item and file it under its kind and name."""
        raw, kind, version = item.value, item.value.get("kind"), item.value.get("apiVersion")
        if kind == "Pod" and version == CORE and self._take_pod(raw):
            return
        if not isinstance(kind, str) or not isinstance(version, str):
            for problem in kind_and_version_problems(raw):
                self.found.add_fault(item, *problem)
            self.found.gaps.update((judged, EVERYWHERE) for judged in JUDGED)
        elif (kind, version) == (SNAPSHOT_KIND, SNAPSHOT_VERSION):
            self._take_capture(item)
        elif self._take_related(item, kind, version.rpartition("/")[0]):
            pass
        elif API_GROUPS.get(kind) != version.rpartition("/")[0]:
            self._ignore(item, kind)
        elif kind == "PodCliqueSet" and not metadata_in(raw).uid:
            self.manifests.add(item)
        else:
            self._take_ours(item, kind)

    def _take_related(self, item: InputItem, kind: str, group: str) -> bool:
        """Take an object of a kind that sets use besides Grove's own kinds; return whether it is one."""
        if (kind, group) == (DOMAIN_KIND, _NVIDIA_GROUP):
            self._take_domain(item)
        elif is_topology_object(item.value):
            self.found.add_faults(item, problems := self.topologies.add_topology(item, self.interned))
            if problems:
                self.found.gaps.add((TOPOLOGY_KIND, EVERYWHERE))
            else:
                self.found.mark_kind_present(TOPOLOGY_KIND, EVERYWHERE)
        elif kind == CLAIM_TEMPLATE_KIND and group == OWNED_KINDS[CLAIM_KIND]:
            self._take_template(item)
        elif OWNED_KINDS.get(kind) == group:
            self._take_other(item, kind)
        else:
            return False
        return True

    def _ignore(self, item: InputItem, kind: str) -> None:
        """Count an object of a kind that no decision reads; a handwritten one may be misspelled (IN-032)."""
        if kind == DEFINITION_KIND:
            if metadata_in(item.value).name == _DOMAIN_DEFINITION:
                self.found.put_object(item, kind, self.found.shapes, ("", _DOMAIN_DEFINITION), _shape_in(item.value))
            if (names := crd_names_from_definition(item.value)) is not None:
                self.found.definitions.append(names)
        if not metadata_in(item.value).uid or kind in RENAMED_KINDS:
            from grove_shell.manifests.schema_validation import misspelled_kind_or_version_in  # noqa: PLC0415 - dumps of clusters have none of these

            misspelling = misspelled_kind_or_version_in(item.value)
            if misspelling is not None:
                self.found.add_fault(item, misspelling.path, misspelling.expected, misspelling.got)
                self.found.mark_kind_incomplete(misspelling.kind, item.value)
                return
        if error := api_server_error_message(item.value):
            self.server_errors.append(error)
        group = str(item.value.get("apiVersion")).rpartition("/")[0]
        if is_unknown_grove_kind(kind, group, _KINDS_OF_GROVE):
            self.newer[f"kind {kind}"] += 1
        if (kind, item.value.get("apiVersion")) == ("Node", CORE):
            self.nodes.add(item.value)
        if kind == "Event":
            self.failed_writes += filter(None, (failed_write_in_event(item.value),))
        self.ignored[kind] += 1

    def _take_capture(self, item: InputItem) -> None:
        """Take the header of a snapshot file: its kinds count as if the cluster had just been listed (IN-047)."""
        self.live, problems = self.snapshot_headers.add_header(item.value, self.live)
        self.found.add_faults(item, problems)
        self.clusters.add(item.file)

    def _take_template(self, item: InputItem) -> None:
        """Take a claim template; one without a valid spec may be a foreign object, so it is no fault (WL-021)."""
        key = metadata_in(item.value).namespace_and_name
        spec = item.value.get("spec")
        if isinstance(spec, Mapping):
            self.found.put_object(item, CLAIM_TEMPLATE_KIND, self.found.templates, key, FrozenMap.view_of(spec))
        elif spec is not None:
            self.found.conflicting.add((CLAIM_TEMPLATE_KIND, *key))
            self.warnings.append(f"{item_display_name(item)}: spec: expected an object, got {short_json(spec)}")

    def _take_domain(self, item: InputItem) -> None:
        """Take a ComputeDomain, also a foreign one: it occupies its name (IN-033)."""
        try:
            domain = compute_domain_from_json(item.value, self.interned)
        except MalformedObject as fault:
            self.found.add_faults(item, fault.problems)
            self.found.mark_kind_incomplete(DOMAIN_KIND, item.value)
            return
        self.found.mark_kind_present(DOMAIN_KIND, domain.ref.namespace)
        self.found.put_object(item, DOMAIN_KIND, self.found.domains, (domain.ref.namespace, domain.ref.name), domain)

    def _take_other(self, item: InputItem, kind: str) -> None:
        """Take an object of a kind that Grove creates too; most of them are foreign (IN-053)."""
        if kind == CLAIM_KIND:
            versions = {str(item.value.get("apiVersion")), self.found.claim_version}
            self.found.claim_version = next((one for one in CLAIM_VERSIONS if one in versions), "")
        try:
            owned = owned_object_from_json(item.value, self.interned)
        except MalformedObject:
            self.ignored[kind] += 1
            return
        self.found.mark_kind_present(kind, owned.ref.namespace)
        if kind == CLAIM_KIND:
            self.found.put_object(item, kind, self.found.claims, (owned.ref.namespace, owned.ref.name), owned)
        if owned.managed and owned.owner_kind in API_GROUPS:
            self.found.put_object(item, kind, self.found.others, (kind, owned.ref.namespace, owned.ref.name), owned)
        else:
            if kind in GROUP_KINDS:
                holder = f"of {owned.owner_kind} {owned.owner_name}" if owned.owner_uid else "without a controller"
                self.found.foreign_groups[kind, owned.ref.namespace, owned.ref.name] = holder
            self.ignored[kind] += 1

    def _take_ours(self, item: InputItem, kind: str) -> None:
        """Parse and store an object of a kind that decisions read."""
        parse, store = self.found.kinds[kind]
        try:
            resource = parse(item.value, self.interned)
        except MalformedObject as fault:
            self.unread.append(UnreadableObject(item._replace(value=kind_and_metadata(item.value)), kind, fault))
            return
        if isinstance(resource, PodClique):  # there are many of one template
            spec = self._pod_specs.setdefault(json_equality_text(resource.pod_spec), resource.pod_spec)
            resource = replace(resource, pod_spec=spec)
        key = (resource.ref.namespace, resource.ref.name)
        if kind != "Pod" and not self.found.check_unique_identity(item, kind, resource):
            self.found.mark_kind_incomplete(kind, item.value)
            return
        if kind == "PodCliqueSet" and resource.uid:
            self.found.running.setdefault(key, item.value)
        self.failed_writes += failed_writes_in_status(item.value)
        if kind != "PodGang":
            for path in newer_release_fields_in(item.value):
                self.newer[f"field {path} of {kind}"] += 1
        self.found.put_object(item, kind, store, key, resource)

    def admit_manifests(self) -> None:
        """Admit the manifests: new sets, or edits of sets in the input (IN-039, IN-041)."""
        newer = tuple(sorted(self.newer))
        for item in self.manifests.admit(self.found, self.live, self.topologies, newer, self.warnings.append):
            self._take_ours(item, "PodCliqueSet")

    def collect_pods(self, run: ConsecutivePods) -> bool:
        """Collect pods that were read at once; return False for any problem, which `collect_item` reports."""
        try:
            pods = pods_from_fields(run.pods, run.manifest_parts_at, self.interned, self.requests)
        except (*UnreadableFields, KeyError):
            return False
        put, is_new = self.found.pods.setdefault, True
        for pod in pods:
            before = put((pod.namespace, pod.name), pod)
            is_new = is_new and (before is pod or is_same_object_state(before, pod))
        return is_new

    def _take_pod(self, raw: Mapping[str, Any]) -> bool:
        """Take a valid pod the fast way; return False for any problem, which ``_take_ours`` reports."""
        try:
            pod = pod_from_json(raw, self.interned, self.requests)
        except MalformedObject:
            return False
        before = self.found.pods.setdefault((pod.namespace, pod.name), pod)
        return before is pod or is_same_object_state(before, pod)


def _shape_in(definition: Mapping[str, Any]) -> ComputeDomainFormatName:
    """Return the form of the newest version of ComputeDomains that has a channel (IN-047)."""
    shapes = []
    for version in JsonFieldReader(definition, "", []).inner_object("spec").inner_objects("versions"):
        spec = (
            version.inner_object("schema")
            .inner_object("openAPIV3Schema")
            .inner_object("properties")
            .inner_object("spec")
            .inner_object("properties")
        )
        shapes.append(served_compute_domain_format(spec.inner_object("channel").inner_object("properties").raw))
    return (
        ComputeDomainFormatName.NVIDIA if ComputeDomainFormatName.NVIDIA in shapes else ComputeDomainFormatName.DESIGN
    )
