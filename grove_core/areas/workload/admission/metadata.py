"""Validates names, labels and annotations against the rules of the API server (WL-100 to WL-105, WL-107, WL-108)."""

from collections.abc import Iterator, Mapping

from grove_core.areas.workload.rules import Refuse
from grove_core.resources.fields import shown
from grove_core.resources.manifest import Manifest
from grove_core.resources.manifest_paths import CLIQUES, GROUPS
from grove_core.resources.name_syntax import (
    MOST_ANNOTATION_BYTES,
    annotation_bytes,
    is_annotation_key,
    is_dns_label,
    is_dns_subdomain,
    is_label_key,
    is_label_value,
)
from grove_core.resources.violation import Violation


def metadata_violations(manifest: Manifest) -> Iterator[Violation]:
    """Return invalid names, labels and annotations of the set, its cliques and its groups (WL-100 to WL-108)."""
    if manifest.name and not is_dns_subdomain(manifest.name):
        yield Violation("metadata.name", manifest.name, Refuse.SET_NAME_INVALID, {})
    if manifest.namespace and not is_dns_label(manifest.namespace):
        yield Violation("metadata.namespace", manifest.namespace, Refuse.NAMESPACE_INVALID, {})
    yield from _labels(manifest.labels, "metadata.labels")
    yield from _annotations(manifest.annotations, "metadata.annotations")
    for index, clique in enumerate(manifest.spec.template.cliques):
        path = f"{CLIQUES}[{index}]"
        if not is_dns_subdomain(clique.name):
            yield Violation(f"{path}.name", clique.name, Refuse.CLIQUE_NAME_INVALID, {})
        yield from _labels(clique.labels, f"{path}.labels")
        yield from _annotations(clique.annotations, f"{path}.annotations")
    for index, group in enumerate(manifest.spec.template.pod_clique_scaling_groups):
        path = f"{GROUPS}[{index}]"
        if not is_dns_subdomain(group.name):
            yield Violation(f"{path}.name", group.name, Refuse.GROUP_NAME_INVALID, {})
        yield from _annotations(group.annotations, f"{path}.annotations")


def _labels(labels: Mapping[str, object], path: str) -> Iterator[Violation]:
    for key, value in labels.items():
        if not is_label_key(key):
            yield Violation(path, value, Refuse.LABEL_KEY_INVALID, {"key": shown(key)})
        if not is_label_value(str(value)):
            yield Violation(path, value, Refuse.LABEL_VALUE_INVALID, {"key": shown(key)})


def _annotations(annotations: Mapping[str, object], path: str) -> Iterator[Violation]:
    for key, value in annotations.items():
        if not is_annotation_key(key):
            yield Violation(path, value, Refuse.ANNOTATION_KEY_INVALID, {"key": shown(key)})
    size = annotation_bytes(annotations)
    if size > MOST_ANNOTATION_BYTES:
        yield Violation(path, size, Refuse.ANNOTATIONS_TOO_LARGE, {"most": MOST_ANNOTATION_BYTES})
