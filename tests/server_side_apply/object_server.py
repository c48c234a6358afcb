"""An API server for whole objects, in memory: versions, uids, preconditions, subresources, applies, a history.

Unlike :mod:`grove_core.in_memory.in_memory_cluster` it keeps objects as they are written, for protocols that are about
writing.
One version is counted through for all kinds, as one store does it. Nothing is changed by a write that changes nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from tests.server_side_apply.apply_model import Conflicts, ManagedObject, Manager, applied, updated
from tests.server_side_apply.field_sets import Json, Shape, faults_in

OK: Final = 200
CREATED: Final = 201
MISSING: Final = 404
CONFLICT: Final = 409
INVALID: Final = 422


class Address(NamedTuple):
    """Where an object is."""

    kind: str
    namespace: str
    name: str


class Event(NamedTuple):
    """One change: the version it made, and the object after it; None where it is gone."""

    version: int
    address: Address
    body: Json | None


@dataclass(frozen=True, slots=True)
class Response:
    """What the server says.

    Attributes:
        body: the object after a write that went well.
        owners: with 409, the managers whose fields were in the way; empty where it was a precondition.
        detail: in words, where it did not go well.
    """

    code: int
    body: Json | None = None
    owners: tuple[str, ...] = ()
    detail: str = ""

    @property
    def good(self) -> bool:
        """Whether it did what was asked."""
        return self.code in {OK, CREATED}


@dataclass
class ObjectServer:
    """Objects by address; mutable on purpose.

    Attributes:
        shapes: by kind; other kinds have no keyed lists, no defaults and no subresource.
        history: every change, oldest first.
    """

    shapes: Mapping[str, Shape]
    version: int = 0
    history: list[Event] = field(default_factory=list)
    _objects: dict[Address, ManagedObject] = field(default_factory=dict)
    _made: int = 0

    def get(self, address: Address) -> Json | None:
        """The object as it is; not to be changed."""
        found = self._objects.get(address)
        return found.body if found is not None else None

    def owners(self, address: Address) -> Mapping[Manager, frozenset[tuple[object, ...]]]:
        """The owners of its fields."""
        found = self._objects.get(address)
        return found.owners if found is not None else {}

    def all_of(self, kind: str) -> list[Json]:
        """The objects of a kind, by address."""
        return [found.body for address, found in sorted(self._objects.items()) if address.kind == kind]

    def create(self, manifest: Json, manager: str) -> Response:
        """POST: there must be none of that name."""
        address = address_of(manifest)
        if address in self._objects:
            return Response(CONFLICT, detail="already exists")
        shape = self._shape(address.kind)
        body = {name: part for name, part in manifest.items() if not (shape.has_status and name == "status")}
        return self._stored(address, updated(None, body, Manager(manager, applies=False), shape), CREATED)

    def replace(self, manifest: Json, manager: str, subresource: str = "") -> Response:
        """PUT: the version must be the latest; only what belongs to the subresource is written."""
        address = address_of(manifest)
        live = self._objects.get(address)
        if live is None:
            return Response(MISSING, detail="not found")
        if not manifest["metadata"].get("resourceVersion"):
            return Response(INVALID, detail="metadata.resourceVersion: must be specified for an update")
        return self._replaced(address, live, manifest, manager, subresource)

    def patch(self, address: Address, fields: Json, manager: str, subresource: str = "") -> Response:
        """A merge patch: null removes, lists are replaced; with a version or a uid in it only on that state."""
        live = self._objects.get(address)
        if live is None:
            return Response(MISSING, detail="not found")
        asked = fields.get("metadata", {})
        whole = _overlaid(live.body, fields)
        whole["metadata"] = {
            **whole["metadata"],
            **{name: asked[name] for name in ("uid", "resourceVersion") if name in asked},
        }
        return self._replaced(address, live, whole, manager, subresource)

    def apply(self, fields: Json, manager: str, subresource: str = "", *, force: bool = False) -> Response:
        """PATCH with the media type of apply: creates the object where there is none, but not through a subresource."""
        address = address_of(fields)
        live = self._objects.get(address)
        if live is None and fields["metadata"].get("uid"):
            return Response(CONFLICT, detail="the uid is of an object that is not there")
        if live is None and subresource:
            return Response(MISSING, detail="not found")
        if live is not None and (fault := _precondition(fields, live.body, subresource)) is not None:
            changed = fields["metadata"].get("uid", live.body["metadata"]["uid"]) != live.body["metadata"]["uid"]
            return (
                Response(INVALID, detail="metadata.uid: field is immutable") if changed and not subresource else fault
            )
        shape = self._shape(address.kind)
        wanted = self._part(fields, address.kind, subresource)
        try:
            made = applied(live, wanted, Manager(manager, applies=True, subresource=subresource), shape, force=force)
        except Conflicts as found:
            return Response(CONFLICT, owners=found.managers, detail=f"fields are owned by {found}")
        return self._stored(address, made, CREATED if live is None else OK)

    def delete(self, address: Address) -> Response:
        """DELETE, at once."""
        if address not in self._objects:
            return Response(MISSING, detail="not found")
        del self._objects[address]
        self.version += 1
        self.history.append(Event(self.version, address, None))
        return Response(OK)

    def _shape(self, kind: str) -> Shape:
        return self.shapes.get(kind, Shape({}, {}, has_status=False))

    def _part(self, fields: Json, kind: str, subresource: str) -> Json:
        """What of a write counts: only the status through its subresource, everything else without."""
        if not self._shape(kind).has_status:
            return fields
        if subresource:
            head = {name: fields["metadata"][name] for name in ("name", "namespace")}
            return {"metadata": head, **{name: part for name, part in fields.items() if name == "status"}}
        return {name: part for name, part in fields.items() if name != "status"}

    def _replaced(self, address: Address, live: ManagedObject, whole: Json, manager: str, subresource: str) -> Response:
        fault = _precondition(whole, live.body, subresource)
        if fault is not None:
            return fault
        shape = self._shape(address.kind)
        if subresource:
            body = {**{name: part for name, part in live.body.items() if name != "status"}}
            body |= {"status": whole["status"]} if "status" in whole else {}
        else:
            body = dict(whole)
            if shape.has_status:
                body.pop("status", None)
                body |= {"status": live.body["status"]} if "status" in live.body else {}
        writer = Manager(manager, applies=False, subresource=subresource)
        return self._stored(address, updated(live, body, writer, shape), OK)

    def _stored(self, address: Address, made: ManagedObject, code: int) -> Response:
        live = self._objects.get(address)
        faults = list(faults_in(made.body, self._shape(address.kind)))
        if faults:
            return Response(INVALID, detail="; ".join(faults))
        metadata = {name: part for name, part in made.body.get("metadata", {}).items() if name not in _SERVERS}
        if live is None:
            self._made += 1
            given = {"uid": f"uid-{self._made}", "resourceVersion": ""}
        else:
            given = {name: live.body["metadata"][name] for name in _SERVERS}
        body = {
            "apiVersion": made.body.get("apiVersion") or (live.body["apiVersion"] if live is not None else ""),
            "kind": address.kind,
            **{name: part for name, part in made.body.items() if name not in {"apiVersion", "kind", "metadata"}},
            "metadata": {**metadata, "name": address.name, "namespace": address.namespace, **given},
        }
        if live is not None and live.body == body and live.owners == made.owners:
            return Response(code, live.body)
        self.version += 1
        body["metadata"]["resourceVersion"] = str(self.version)
        self._objects[address] = ManagedObject(body, made.owners)
        self.history.append(Event(self.version, address, body))
        return Response(code, body)


_SERVERS: Final = ("uid", "resourceVersion")


def address_of(manifest: Json) -> Address:
    """Where the object of a manifest is."""
    metadata = manifest["metadata"]
    return Address(manifest["kind"], metadata["namespace"], metadata["name"])


def _precondition(written: Json, live: Json, subresource: str) -> Response | None:
    """What of the metadata must be as it is stored; through a subresource a real server overlooks another uid."""
    for name in ("resourceVersion",) if subresource else _SERVERS:
        asked = written["metadata"].get(name)
        if asked and asked != live["metadata"][name]:
            return Response(CONFLICT, detail=f"the object has been modified: its {name} is another")
    return None


def _overlaid(stored: Json, fields: Json) -> Json:
    whole = {name: part for name, part in stored.items() if fields.get(name, part) is not None}
    for name, part in fields.items():
        if isinstance(part, dict):
            below = stored.get(name)
            whole[name] = _overlaid(below if isinstance(below, dict) else {}, part)
        elif part is not None:
            whole[name] = part
    return whole
