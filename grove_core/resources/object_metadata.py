"""The metadata of an unread object: one value, made once where the object enters."""

from collections.abc import Mapping
from typing import NamedTuple


class ControllerReference(NamedTuple):
    """The controller owner of an object; all empty where there is none, or none that reads."""

    uid: str = ""
    kind: str = ""
    name: str = ""
    api_version: str = ""


class ObjectMetadata(NamedTuple):
    """The metadata by which an object is found, compared and filed; empty where a field is absent or malformed.

    Attributes:
        namespace: empty for a cluster-scoped object, and in a manifest that names none.
        resource_version: as the server returned it.
        controller: its controller owner.
        deleting: whether a deletion was accepted.
    """

    namespace: str
    name: str
    uid: str
    resource_version: str
    controller: ControllerReference
    labels: Mapping[str, object]
    deleting: bool

    @property
    def namespace_and_name(self) -> tuple[str, str]:
        """Namespace and name; a missing namespace is ``default``, as for kubectl."""
        return self.namespace or "default", self.name

    @property
    def version_number(self) -> int:
        """The resource version as a number."""
        return resource_version_number(self.resource_version)


def resource_version_number(version: object) -> int:
    """Return a resource version as a number, comparable within one kind (OP-002); 0 for what is none."""
    return int(version) if isinstance(version, str) and version.isdecimal() else 0


def metadata_in(raw: Mapping[str, object]) -> ObjectMetadata:
    """Return the metadata of an object, which may be malformed."""
    stored = raw.get("metadata")
    meta: Mapping[str, object] = stored if isinstance(stored, Mapping) else {}
    namespace, name, uid = meta.get("namespace"), meta.get("name"), meta.get("uid")
    version, labels = meta.get("resourceVersion"), meta.get("labels")
    return ObjectMetadata(
        namespace if isinstance(namespace, str) else "",
        name if isinstance(name, str) else "",
        uid if isinstance(uid, str) else "",
        version if isinstance(version, str) else "",
        _controller_in(meta.get("ownerReferences")),
        labels if isinstance(labels, Mapping) else {},
        bool(meta.get("deletionTimestamp")),
    )


def with_default_namespace(raw: dict[str, object], namespace: str) -> dict[str, object]:
    """Return an object with this namespace if it names none; unchanged if this is empty or its metadata malformed."""
    meta = raw.get("metadata")
    if not namespace or not isinstance(meta, Mapping) or meta.get("namespace"):
        return raw
    return {**raw, "metadata": {**meta, "namespace": namespace}}


def _controller_in(references: object) -> ControllerReference:
    for reference in references if isinstance(references, list | tuple) else ():
        if isinstance(reference, Mapping) and reference.get("controller") is True:
            uid, kind, name = reference.get("uid"), reference.get("kind"), reference.get("name")
            version = reference.get("apiVersion")
            return ControllerReference(str(uid or ""), str(kind or ""), str(name or ""), str(version or ""))
    return ControllerReference()
