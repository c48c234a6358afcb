"""Paths of a set's cliques and groups in its manifest, and the annotations at these paths."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from grove_core.kernel.frozen import FrozenMap
from grove_core.resources.manifest import Manifest

METADATA: Final = "metadata"
TEMPLATE: Final = "spec.template"
CLIQUES: Final = f"{TEMPLATE}.cliques"
GROUPS: Final = f"{TEMPLATE}.podCliqueScalingGroups"


class AnnotatedElement(NamedTuple):
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

    def at(self, key: str) -> str:
        """Return the path of one annotation."""
        return f"{self.path}.annotations[{key}]"


def annotated_set(manifest: Manifest) -> AnnotatedElement:
    """Return the set itself."""
    return AnnotatedElement(METADATA, "", METADATA, manifest.annotations)


def annotated_template_elements(manifest: Manifest) -> Iterator[AnnotatedElement]:
    """Return the cliques, then the groups."""
    template = manifest.spec.template
    for index, clique in enumerate(template.cliques):
        yield AnnotatedElement(f"{CLIQUES}[{index}]", clique.name, CLIQUES, clique.annotations)
    for index, group in enumerate(template.pod_clique_scaling_groups):
        yield AnnotatedElement(f"{GROUPS}[{index}]", group.name, GROUPS, group.annotations)


def annotated_elements(manifest: Manifest) -> Iterator[AnnotatedElement]:
    """Return the set, its cliques, then its groups."""
    yield annotated_set(manifest)
    yield from annotated_template_elements(manifest)
