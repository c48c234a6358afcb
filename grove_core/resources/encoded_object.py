"""Stored objects as the JSON text that a server sent: the metadata is decoded, the rest only where it is read.

A pod has 5 kB, half of them managed fields. A watch sends it whole whenever one of its fields changes.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta, Raw, Struct

from grove_core.resources.decoded_pod import decode_whole
from grove_core.resources.object_metadata import ControllerReference, ObjectMetadata

_Text = Annotated[str, Meta(max_length=1000)]
"""No text of metadata is longer; a version is read as a number, and Python reads none of 4301 digits."""


class _OwnerFields(Struct, gc=False, rename="camel"):
    controller: Any = None
    uid: str | None = None
    kind: str | None = None
    name: str | None = None
    api_version: str | None = None


class _MetadataFields(Struct, gc=False, rename="camel"):
    name: Annotated[str, Meta(min_length=1, max_length=1000)]
    namespace: _Text | None = None
    uid: _Text | None = None
    resource_version: _Text | None = None
    deletion_timestamp: Any = None
    labels: dict[str, Any] | None = None
    annotations: dict[str, Raw] | None = None
    owner_references: list[_OwnerFields] | None = None


class _ObjectFields(Struct, gc=False):
    metadata: _MetadataFields


class EncodedObject(Mapping[str, Any]):
    """An object as JSON text. Each access to a field decodes all of it.

    Attributes:
        text: UTF-8.
        metadata: what :func:`grove_core.resources.object_metadata.metadata_in` returns for it.
    """

    __slots__ = ("metadata", "text")
    text: bytes
    metadata: ObjectMetadata

    def __init__(self, text: bytes) -> None:
        """Decode the metadata; raises one of ``UnreadableFields`` for text or metadata that no server stores."""
        if not text.isascii():
            text.decode()
        meta = _OBJECT.decode(text).metadata
        self.text = text
        self.metadata = ObjectMetadata(
            meta.namespace or "",
            meta.name,
            meta.uid or "",
            meta.resource_version or "",
            _controller_among(meta.owner_references or ()),
            meta.labels or {},
            bool(meta.deletion_timestamp),
        )

    def __getitem__(self, key: str) -> Any:  # noqa: ANN401 - any JSON
        return self._decoded[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._decoded)

    def __len__(self) -> int:
        return len(self._decoded)

    @property
    def _decoded(self) -> dict[str, Any]:
        found: dict[str, Any] = decode_whole(self.text)
        return found


def _controller_among(owners: list[_OwnerFields] | tuple[()]) -> ControllerReference:
    for one in owners:
        if one.controller is True:
            return ControllerReference(one.uid or "", one.kind or "", one.name or "", one.api_version or "")
    return ControllerReference()


_OBJECT: Final = msgspec.json.Decoder(_ObjectFields)
