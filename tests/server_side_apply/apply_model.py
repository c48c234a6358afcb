"""Server-side apply: the owner of each field, the result of an apply, and the managers that conflict with it.

It is the model of what an API server does; tests/cluster/test_merging.py holds it against a real one.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from tests.server_side_apply.field_sets import Json, Path, Shape, defaulted, merged, owned_in, paths_in, without


class Manager(NamedTuple):
    """The owner of fields; the same name through another verb or subresource is another manager."""

    name: str
    applies: bool
    subresource: str = ""


Ownership: TypeAlias = Mapping[Manager, frozenset[Path]]


@dataclass(frozen=True, slots=True)
class ManagedObject:
    """An object and the owners of its fields. Fields that the server filled in are unowned."""

    body: Json
    owners: Ownership


class Conflicts(Exception):
    """An apply without force would change fields of others. Carries their names, sorted."""

    def __init__(self, managers: tuple[str, ...]) -> None:
        super().__init__(", ".join(managers))
        self.managers = managers


def applied(
    live: ManagedObject | None, fields: Json, by: Manager, shape: Shape, *, force: bool = False
) -> ManagedObject:
    """What an apply makes of an object: its fields laid over it, and gone what the manager applied before and no more.

    What another manager owns too stays. An item of a list that goes takes along its unowned fields.

    Args:
        live: the object as it is; None where there is none.
        fields: all that the manager wants.
        by: the manager that applies.
        force: take fields that others own, instead of giving up.

    Raises:
        Conflicts: without force, where a field that another manager owns would change.
    """
    before = live if live is not None else ManagedObject({}, {})
    own = owned_in(fields, shape)
    others = {manager: paths for manager, paths in before.owners.items() if manager != by}
    kept = own.union(*others.values())
    gone = before.owners.get(by, frozenset()) - kept
    body = without(merged(before.body, fields, shape), gone, shape)
    changed, removed = _difference(before.body, body, shape)
    in_the_way = {manager.name for manager, paths in others.items() if paths & changed}
    if in_the_way and not force:
        raise Conflicts(tuple(sorted(in_the_way)))
    return ManagedObject(defaulted(body, shape), _owners({**_less(others, changed | removed), by: own}))


def updated(live: ManagedObject | None, body: Json, by: Manager, shape: Shape) -> ManagedObject:
    """The result of an update: the writer owns what it changed or added; what is gone is unowned."""
    before = live if live is not None else ManagedObject({}, {})
    whole = defaulted(body, shape)
    changed, removed = _difference(before.body, whole, shape)
    others = {manager: paths for manager, paths in before.owners.items() if manager != by}
    own = (before.owners.get(by, frozenset()) | changed) - removed
    return ManagedObject(whole, _owners({**_less(others, changed | removed), by: own}))


def _difference(before: Json, after: Json, shape: Shape) -> tuple[frozenset[Path], frozenset[Path]]:
    """Fields that were added or changed, and fields that are gone."""
    old, new = dict(paths_in(before, shape)), dict(paths_in(after, shape))
    changed = frozenset(path for path, value in new.items() if path not in old or old[path] != value)
    return changed, frozenset(old.keys() - new.keys())


def _less(owners: Ownership, lost: frozenset[Path]) -> Ownership:
    return {manager: paths - lost for manager, paths in owners.items()}


def _owners(owners: Ownership) -> Ownership:
    return {manager: paths for manager, paths in owners.items() if paths}
