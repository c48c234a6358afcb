"""Names in CustomResourceDefinitions: an API server accepts each name once in an API group (MF-010)."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from enum import StrEnum
from typing import NamedTuple

from grove_core.kernel.structs import Struct
from grove_core.resources.json_field_reader import JsonFieldReader


class CrdNameField(StrEnum):
    """The use of a name in a definition."""

    PLURAL = "plural"
    SINGULAR = "singular"
    SHORT = "short name"
    KIND = "kind"
    LIST_KIND = "list kind"


class NameInCrd(NamedTuple):
    """One name in a definition."""

    text: str
    role: CrdNameField

    @property
    def uniqueness_key(self) -> tuple[bool, str]:
        """What has to be unique in a group: kinds with list kinds, and resources with short names."""
        return self.role in {CrdNameField.KIND, CrdNameField.LIST_KIND}, self.text


class NamesInCrd(Struct, frozen=True, kw_only=True):
    """All names in one definition.

    Attributes:
        definition: its own name, such as ``podgangs.scheduler.grove.io``.
        group: the API group.
        asked: the names in its ``spec``.
        accepted: the names that the API server accepted, by its ``status``.
    """

    definition: str
    group: str
    asked: frozenset[NameInCrd]
    accepted: frozenset[NameInCrd] = frozenset()

    def has_accepted_name(self, key: tuple[bool, str]) -> bool:
        """Return whether the API server accepted the name for this definition."""
        return any(name.uniqueness_key == key for name in self.accepted)


class CrdNameClash(NamedTuple):
    """A name that two definitions of one group have in their spec.

    Attributes:
        definition: the definition that did not get the name.
        holder: the other one.
        is_held: whether an API server accepted the name for the holder; otherwise both only ask for it.
    """

    definition: str
    name: NameInCrd
    holder: str
    is_held: bool

    @property
    def sentence(self) -> str:
        """The definition, the name and the holder, as a report shows them."""
        what = f'{self.definition}: the {self.name.role} "{self.name.text}"'
        if self.is_held:
            return f"{what} is taken by {self.holder}"
        return f"{what} is also asked for by {self.holder}, and an API server accepts one of the two"


def crd_names_from_definition(definition: Mapping[str, object]) -> NamesInCrd | None:
    """Return the names of a definition, with the defaults of an API server; None where it has no group or no names."""
    whole = JsonFieldReader(definition, "", [])
    spec = whole.inner_object("spec")
    wanted = spec.inner_object("names")
    group, plural, kind = spec.text("group"), wanted.text("plural"), wanted.text("kind")
    if not (group and plural and kind):
        return None
    filled = {
        **wanted.raw,
        "singular": wanted.text("singular") or kind.lower(),
        "listKind": wanted.text("listKind") or f"{kind}List",
    }
    return NamesInCrd(
        definition=whole.inner_object("metadata").text("name") or f"{plural}.{group}",
        group=group,
        asked=frozenset(_listed(JsonFieldReader(filled, "", []))),
        accepted=frozenset(_listed(whole.inner_object("status").inner_object("acceptedNames"))),
    )


def crd_names_from_discovery(group: str, resource: Mapping[str, object]) -> NamesInCrd | None:
    """Return the names of a resource as discovery lists it: a server lists accepted names only, and no list kind."""
    listed = JsonFieldReader(resource, "", [])
    plural, kind = listed.text("name"), listed.text("kind")
    if not (plural and kind) or "/" in plural:
        return None
    found = frozenset(
        _listed(JsonFieldReader({**listed.raw, "plural": plural, "singular": listed.text("singularName")}, "", []))
    )
    return NamesInCrd(definition=f"{plural}.{group}", group=group, asked=found, accepted=found)


def crd_name_clashes(found: Iterable[NamesInCrd], own: Collection[NamesInCrd]) -> tuple[CrdNameClash, ...]:
    """Return every name that two definitions of one group ask for, where one of the two is ours; sorted.

    Ours count whether they are installed or not.
    """
    ours = {names.definition for names in own}
    known: dict[str, NamesInCrd] = {}
    for names in (*own, *found):
        before = known.get(names.definition, names)
        asked, accepted = before.asked | names.asked, before.accepted | names.accepted
        known[names.definition] = NamesInCrd(
            definition=names.definition, group=names.group, asked=asked, accepted=accepted
        )
    users: dict[tuple[str, tuple[bool, str]], dict[str, NamesInCrd]] = {}
    for names in known.values():
        for name in names.asked | names.accepted:
            users.setdefault((names.group, name.uniqueness_key), {})[names.definition] = names
    return tuple(
        sorted(
            clash
            for (_, key), several in users.items()
            for clash in _among(key, several)
            if not ours.isdisjoint((clash.definition, clash.holder))
        )
    )


def _among(key: tuple[bool, str], several: Mapping[str, NamesInCrd]) -> Iterator[CrdNameClash]:
    """Yield the clashes about one name: with the definition that holds it, else with the first one by name."""
    holder, *_ = sorted(several.values(), key=lambda names: (not names.has_accepted_name(key), names.definition))
    for names in several.values():
        name = min((name for name in names.asked if name.uniqueness_key == key), default=None)
        if name is not None and names is not holder and not names.has_accepted_name(key):
            yield CrdNameClash(names.definition, name, holder.definition, holder.has_accepted_name(key))


def _listed(names: JsonFieldReader) -> Iterator[NameInCrd]:
    """The names in ``spec.names``, or in an object of the same form."""
    single = {
        "plural": CrdNameField.PLURAL,
        "singular": CrdNameField.SINGULAR,
        "kind": CrdNameField.KIND,
        "listKind": CrdNameField.LIST_KIND,
    }
    yield from (NameInCrd(text, role) for field, role in single.items() if (text := names.text(field)))
    yield from (NameInCrd(text, CrdNameField.SHORT) for text in names.text_list("shortNames") if text)
