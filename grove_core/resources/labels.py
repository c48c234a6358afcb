"""Labels of the objects of a set. Several families of label keys are in use: all are written, any is read (WL-030, D3).

Every label that has more than one key is declared here, as :class:`LabelKeys`, and read by :func:`first_label_value`.
Another family of keys is one more key in these declarations.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeVar

from grove_core.resources.api_names import COMPONENT, MANAGED_BY, NAME, OPERATOR, PREFIX

V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class LabelKeys:
    """The keys of one label, one for each family.

    Attributes:
        primary: the key that released Go operators write; label selectors and field references use it.
        design: the key of the design documents. No released Go operator writes it. On ComputeDomains and claims that
            are shared by annotation its value is the name in the template, not the full name (MS-020).
        others: the keys of further families.
        keys: all of them; where an object carries several, the first one counts.
    """

    primary: str
    design: str
    others: tuple[str, ...] = ()
    keys: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "keys", (self.primary, self.design, *self.others))

    def under_every_key(self, value: str, *, design: str | None = None) -> dict[str, str]:
        """Return the label under every key; ``design`` is the value under the design's key, if that differs."""
        return {**dict.fromkeys(self.keys, value), self.design: value if design is None else design}


SET: Final = LabelKeys("app.kubernetes.io/part-of", "grove.io/podcliqueset", ("grove.io/pcs-name",))
"""The name of the set."""
SET_REPLICA: Final = LabelKeys(
    "grove.io/podcliqueset-replica-index", "grove.io/replica-index", ("grove.io/pcs-replica-index",)
)
"""The replica index in the set."""
GROUP: Final = LabelKeys("grove.io/podcliquescalinggroup", "grove.io/pcsg-name")
"""The full name of the scaling group."""
GROUP_REPLICA: Final = LabelKeys("grove.io/podcliquescalinggroup-replica-index", "grove.io/pcsg-replica-index")
"""The replica index in the scaling group."""
CLIQUE: Final = LabelKeys("grove.io/podclique", "grove.io/clique-name")
"""The full name of the PodClique."""
_FAMILY_KEYS: Final = frozenset(
    key for label in (SET, SET_REPLICA, GROUP, GROUP_REPLICA, CLIQUE) for key in label.keys if key != SET.primary
)


def is_grove_key(key: str) -> bool:
    """Return whether a label or annotation under this key is Grove's, not a user's."""
    return key.startswith(PREFIX) or key in _FAMILY_KEYS


def first_label_value(label: LabelKeys, value_at: Callable[[str], V]) -> V | None:
    """Return the value of the first key of a label that has a truthy one; None where no key has."""
    for key in label.keys:
        value = value_at(key)
        if value:
            return value
    return None


def label_text_at_key(labels: Mapping[str, object], key: str) -> str:
    """Return the text at one key; empty where there is none."""
    value = labels.get(key)
    return value if isinstance(value, str) else ""


def label_value_in(labels: Mapping[str, object], label: LabelKeys) -> str:
    """Return the value of a label; empty where no key has a text."""
    return first_label_value(label, lambda key: label_text_at_key(labels, key)) or ""


def any_label_key_has_value(labels: Mapping[str, object], label: LabelKeys, value: str) -> bool:
    """Return whether any key of a label has this value."""
    return any(labels.get(key) == value for key in label.keys)


def labels_of_set(set_name: str) -> dict[str, str]:
    """Return the labels that every object of a set carries (WL-030)."""
    return {MANAGED_BY: OPERATOR, **SET.under_every_key(set_name)}


def labels_of_set_object(set_name: str, name: str, component: str) -> dict[str, str]:
    """Return the labels of an object of a set that has a name and a component of its own."""
    return {**labels_of_set(set_name), NAME: name.replace(":", "-"), COMPONENT: component}


def labels_of_set_replica(replica: int) -> dict[str, str]:
    """Return the labels that say to which replica of the set an object belongs (decision D3)."""
    return SET_REPLICA.under_every_key(str(replica))


def podcliqueset_name_from_labels(labels: Mapping[str, object]) -> str:
    """Return the name of the set that an object's labels name; empty where they name none."""
    return label_value_in(labels, SET)
