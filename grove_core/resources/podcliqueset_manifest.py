"""A PodCliqueSet manifest as admission reads it, the paths in it, and violations of rules at these paths."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from grove_core.kernel.admission import AdmissionWarning, DenialReason
from grove_core.kernel.errors import ObjectProblem
from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.reasons import Fact, Rule
from grove_core.kernel.refs import Ref
from grove_core.kernel.structs import Struct
from grove_core.resources.json_field_reader import JsonFieldReader, short_json
from grove_core.resources.metadata_readers import read_string_map
from grove_core.resources.podcliqueset_spec import SetSpec, read_podcliqueset_spec

METADATA: Final = "metadata"
TEMPLATE: Final = "spec.template"
CLIQUES: Final = f"{TEMPLATE}.cliques"
GROUPS: Final = f"{TEMPLATE}.podCliqueScalingGroups"


class ManifestContainer(Struct, frozen=True):
    """One container or init container: its path in the pod spec, and the names of its variables."""

    path: str
    env: tuple[str, ...]


class ValidatedPodTemplate(Struct, frozen=True, kw_only=True):
    """The validated parts of a pod template; empty or 0 where absent."""

    scheduler_name: str
    node_name: str
    restart_policy: str
    spread_constraints: int
    containers: tuple[ManifestContainer, ...]


def read_pod_template(raw: Mapping[str, object], path: str, problems: list[ObjectProblem]) -> ValidatedPodTemplate:
    """Read a pod spec at ``path``; problems are added to ``problems``."""
    spec = JsonFieldReader(raw, path, problems)
    return ValidatedPodTemplate(
        scheduler_name=spec.text("schedulerName"),
        node_name=spec.text("nodeName"),
        restart_policy=spec.text("restartPolicy"),
        spread_constraints=sum(1 for _ in spec.inner_objects("topologySpreadConstraints")),
        containers=tuple(
            ManifestContainer(
                f"{key}[{index}]", tuple(variable.text("name") for variable in container.inner_objects("env"))
            )
            for key in ("containers", "initContainers")
            for index, container in enumerate(spec.inner_objects(key))
        ),
    )


def count_device_requests(raw: Mapping[str, object], path: str, problems: list[ObjectProblem]) -> int:
    """Return the number of device requests in the ``templateSpec`` of a ResourceClaimTemplate at ``path``."""
    devices = JsonFieldReader(raw, path, problems).inner_object("spec").inner_object("devices")
    return sum(1 for _ in devices.inner_objects("requests"))


class PodCliqueSetManifest(Struct, frozen=True, kw_only=True):
    """The parts of a manifest that admission validates.

    Attributes:
        name, namespace: empty where they are absent or no text.
        labels, annotations: of the set.
        spec: of the set.
        pods: the validated parts of each clique's pod spec, in the order of the cliques.
        device_requests: the number of requests in each of ``resourceClaimTemplates``.
    """

    name: str
    namespace: str
    labels: FrozenMap
    annotations: FrozenMap
    spec: SetSpec
    pods: tuple[ValidatedPodTemplate, ...]
    device_requests: tuple[int, ...]


def read_podcliqueset_manifest(
    raw: Mapping[str, object],
) -> tuple[PodCliqueSetManifest | None, tuple[ObjectProblem, ...]]:
    """Return the manifest, or None where its spec cannot be read, and every problem in the fields above."""
    spec, faults = read_podcliqueset_spec(raw.get("spec"))
    problems = list(faults)
    meta = JsonFieldReader(raw, "", problems).inner_object("metadata")
    name, namespace = meta.text("name", required=True), meta.text("namespace")
    labels, annotations = read_string_map(meta, "labels"), read_string_map(meta, "annotations")
    if spec is None:
        return None, tuple(problems)
    manifest = PodCliqueSetManifest(
        name=name,
        namespace=namespace,
        labels=labels,
        annotations=annotations,
        spec=spec,
        pods=tuple(
            read_pod_template(clique.spec.pod_spec, f"{CLIQUES}[{index}].spec.podSpec", problems)
            for index, clique in enumerate(spec.template.cliques)
        ),
        device_requests=tuple(
            count_device_requests(
                template.template_spec, f"{TEMPLATE}.resourceClaimTemplates[{index}].templateSpec", problems
            )
            for index, template in enumerate(spec.template.resource_claim_templates)
        ),
    )
    return manifest, tuple(problems)


class AnnotatedManifestPart(NamedTuple):
    """A part of a manifest that may have annotations.

    Attributes:
        path: of the object that has the annotations.
        name: of the clique or group; empty for the set.
        level: METADATA, CLIQUES or GROUPS.
    """

    path: str
    name: str
    level: str
    annotations: FrozenMap

    def annotation_path(self, key: str) -> str:
        """Return the path of one annotation."""
        return f"{self.path}.annotations[{key}]"


def podcliqueset_as_annotated_element(manifest: PodCliqueSetManifest) -> AnnotatedManifestPart:
    """Return the set itself."""
    return AnnotatedManifestPart(METADATA, "", METADATA, manifest.annotations)


def annotated_template_elements(manifest: PodCliqueSetManifest) -> Iterator[AnnotatedManifestPart]:
    """Yield the cliques, then the groups."""
    template = manifest.spec.template
    for index, clique in enumerate(template.cliques):
        yield AnnotatedManifestPart(f"{CLIQUES}[{index}]", clique.name, CLIQUES, clique.annotations)
    for index, group in enumerate(template.pod_clique_scaling_groups):
        yield AnnotatedManifestPart(f"{GROUPS}[{index}]", group.name, GROUPS, group.annotations)


def annotated_manifest_parts(manifest: PodCliqueSetManifest) -> Iterator[AnnotatedManifestPart]:
    """Yield the set, its cliques, then its groups."""
    yield podcliqueset_as_annotated_element(manifest)
    yield from annotated_template_elements(manifest)


class BadField(NamedTuple):
    """A field, its value, the violated rule and the facts that the rule quotes.

    Attributes:
        excess: by how many characters a name that is derived from the field is too long; 0 for any other fault.
    """

    path: str
    got: object
    rule: Rule
    facts: Mapping[str, Fact]
    excess: int = 0

    @property
    def rule_and_value(self) -> tuple[Rule, object]:
        """The rule and the value; equal before and after an update that moves the field to another path."""
        return (self.rule, self.got)

    def as_objection(self, subject: Ref) -> DenialReason:
        """Return the objection, which refuses the manifest."""
        return DenialReason(self.path, short_json(self.got), self.rule.because(subject, **self.facts))

    def as_warning(self, subject: Ref) -> AdmissionWarning:
        """Return the warning about it."""
        return AdmissionWarning(self.path, short_json(self.got), self.rule.because(subject, **self.facts))


def bad_fields_new_in_update(now: Iterable[BadField], before: Iterable[BadField]) -> Iterator[BadField]:
    """Return the fields that the manifest did not have before the update, at any path."""
    known = {found.rule_and_value for found in before}
    return (found for found in now if found.rule_and_value not in known)
