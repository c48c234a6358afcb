"""A PodCliqueSet manifest as admission reads it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from grove_core.kernel.errors import Problem
from grove_core.kernel.frozen import FrozenMap
from grove_core.resources.fields import Fields
from grove_core.resources.meta import read_texts
from grove_core.resources.pod_template import PodTemplate, read_device_requests, read_pod_template
from grove_core.resources.template import SetSpec, read_spec


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
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
    pods: tuple[PodTemplate, ...]
    device_requests: tuple[int, ...]


def manifest_of(raw: Mapping[str, Any]) -> tuple[Manifest | None, tuple[Problem, ...]]:
    """Return the manifest, or None where its spec cannot be read, and every problem in the fields above."""
    spec, faults = read_spec(raw.get("spec"))
    problems = list(faults)
    meta = Fields(raw, "", problems).part("metadata")
    name, namespace = meta.text("name", required=True), meta.text("namespace")
    labels, annotations = read_texts(meta, "labels"), read_texts(meta, "annotations")
    if spec is None:
        return None, tuple(problems)
    path = "spec.template"
    manifest = Manifest(
        name=name,
        namespace=namespace,
        labels=labels,
        annotations=annotations,
        spec=spec,
        pods=tuple(
            read_pod_template(clique.spec.pod_spec, f"{path}.cliques[{index}].spec.podSpec", problems)
            for index, clique in enumerate(spec.template.cliques)
        ),
        device_requests=tuple(
            read_device_requests(
                template.template_spec, f"{path}.resourceClaimTemplates[{index}].templateSpec", problems
            )
            for index, template in enumerate(spec.template.resource_claim_templates)
        ),
    )
    return manifest, tuple(problems)
