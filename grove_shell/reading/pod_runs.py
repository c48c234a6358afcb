"""Pods that follow each other in a JSON list, decoded many at once: a dump may have a hundred thousand (IN-006)."""

from collections.abc import Callable
from typing import Any, Final, NamedTuple, TypeAlias

from grove_core.resources.pod_fields import StoredPodFields, UnreadableFields, decode_stored_pods, decode_whole
from grove_shell.reading.input_items import InputItem

MOST_CHARACTERS: Final = 64 * 1024
"""Text of one run."""


class PodRun(NamedTuple):
    """Pods that follow each other in a list.

    Attributes:
        file, document: as in `InputItem`.
        first: position of the first one in the list, from 0.
        pods: the fields of each.
        texts: each as JSON, without the prefix but for the first one.
    """

    file: str
    document: int
    first: int
    pods: list[StoredPodFields]
    texts: list[str]
    prefix: str

    @property
    def items(self) -> list[InputItem]:
        """The pods as items. Raises one of ``UnreadableFields``."""
        return [
            InputItem(self.file, self.document, self.first + place, self.value_at(place))
            for place in range(len(self.texts))
        ]

    def value_at(self, place: int) -> dict[str, Any]:
        """Return a whole pod. Raises one of ``UnreadableFields``."""
        text = self.texts[place]
        value: dict[str, Any] = decode_whole(self.prefix + text if place else text)
        return value


TakePods: TypeAlias = Callable[[PodRun], bool]
"""Takes a run of pods; returns whether it did. Pods that are not taken are read one by one."""


def decoded_run(file: str, document: int, first: int, text: str, between: str, prefix: str) -> PodRun | None:
    """Return the pods of a text; None where it has anything else.

    Args:
        between: what stands between two pods.
        prefix: what each of them begins with. A part of a pod that begins so too makes the numbers differ.
    """
    texts = text.split(between + prefix)
    try:
        pods = decode_stored_pods(f"[{text}]")
    except UnreadableFields:
        return None
    return PodRun(file, document, first, pods, texts, prefix) if len(pods) == len(texts) else None


def object_count(part: InputItem | PodRun) -> int:
    """Return how many objects a part of an input has."""
    return 1 if isinstance(part, InputItem) else len(part.texts)
