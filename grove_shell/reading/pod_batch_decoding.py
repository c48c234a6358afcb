"""Stored objects of one kind that follow each other in a JSON list, decoded many at once (IN-006).

A dump may have a hundred thousand pods, and a quarter as many PodCliques.
"""

from collections.abc import Callable
from typing import Final, NamedTuple, TypeAlias

from grove_core.kernel.frozen import mapping_or_empty
from grove_core.resources.decoded_pod import (
    DecodedStoredPod,
    PodManifestParts,
    UnreadableFields,
    decode_pod_manifest,
    decode_stored_pods,
    decode_whole,
)
from grove_shell.reading.input_items import MAX_DEPTH, InputItem

MOST_CHARACTERS: Final = 64 * 1024
"""Text of one run."""
RUN_KINDS: Final = frozenset({"Pod", "PodClique", "PodCliqueScalingGroup", "PodGang"})
"""Kinds of which a dump may have very many, and that only operators write."""


class ConsecutivePods(NamedTuple):
    """Pods that follow each other in a list.

    Attributes:
        file, document: as in `InputItem`.
        first: position of the first one in the list, from 0.
        pods: the fields of each.
        text: JSON of all of them.
        between: what stands between two of them, with the beginning of the second one.
        prefix: that beginning. A part of a pod that begins so too makes the numbers of texts and pods differ.
    """

    file: str
    document: int
    first: int
    pods: list[DecodedStoredPod]
    text: str
    between: str
    prefix: str

    @property
    def items(self) -> list[InputItem]:
        """The pods as items. Raises one of ``UnreadableFields``."""
        return [
            InputItem(self.file, self.document, self.first + place, decode_whole(text))
            for place, text in enumerate(self._texts())
        ]

    def manifest_parts_at(self, place: int) -> PodManifestParts:
        """Return what the manifest of a pod consists of. Raises one of ``UnreadableFields``."""
        start = 0
        for _ in range(place):
            start = self.text.index(self.between, start) + len(self.between)
        end = self.text.find(self.between, start)
        text = self.text[start : end if end >= 0 else None]
        return decode_pod_manifest(self.prefix + text if place else text)

    def _texts(self) -> list[str]:
        found = _texts_of(self.text, self.between, self.prefix)
        if len(found) != len(self.pods):
            raise ValueError(self.between)
        return found


TakePods: TypeAlias = Callable[[ConsecutivePods], bool]
"""Takes a run of pods; returns whether it did. Pods that are not taken are read one by one."""


def decode_pod_batch(
    file: str, document: int, first: int, text: str, between: str, prefix: str
) -> ConsecutivePods | None:
    """Return the pods of a text; None where it has anything else.

    Args:
        file, document, first: as of :class:`ConsecutivePods`.
        text: of the pods, as JSON objects.
        between: what stands between two pods.
        prefix: what each of them begins with.
    """
    try:
        pods = decode_stored_pods(f"[{text}]")
    except UnreadableFields:
        return None
    return ConsecutivePods(file, document, first, pods, text, between + prefix, prefix)


def decoded_items(file: str, document: int, first: int, text: str, between: str, prefix: str) -> list[InputItem] | None:
    """Return the stored objects of a text; None where it has anything else.

    Args:
        first: index of the first object in its list.
        text, between, prefix: as of :func:`decode_pod_batch`.
    """
    items = []
    for place, one in enumerate(_texts_of(text, between + prefix, prefix)):
        try:
            value = decode_whole(one)
        except UnreadableFields:
            return None
        if not _is_stored(value) or one.count("{") + one.count("[") >= MAX_DEPTH:
            return None
        items.append(InputItem(file, document, first + place, value))
    return items


def _texts_of(text: str, between: str, prefix: str) -> list[str]:
    first, *others = text.split(between)
    return [first, *(prefix + one for one in others)]


def _is_stored(value: object) -> bool:
    metadata = mapping_or_empty(value, "metadata") if isinstance(value, dict) else {}
    return bool(metadata.get("uid")) and bool(metadata.get("resourceVersion"))


def object_count_of_input_part(part: InputItem | ConsecutivePods) -> int:
    """Return how many objects a part of an input has."""
    return 1 if isinstance(part, InputItem) else len(part.pods)
