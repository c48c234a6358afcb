"""What becomes of objects that several managers write: one table, for the server in memory and for a real one.

A case is a row of writes to one object; after each of them stands what the server answers and, where it says so, the
entries as they are then. ``same`` says whether the version stayed.
"""

from dataclasses import dataclass
from typing import Any, Final

from grove_core.resources.api_names import DOMAIN, DOMAIN_CLIQUE_KIND, DOMAIN_KIND, NVIDIA

Json = dict[str, Any]
NAME: Final = "object"


@dataclass(frozen=True)
class Write:
    """One write.

    Attributes:
        verb: create, apply, replace, delete. A replacement gets what is stored, changed by ``entries`` or ``drop``.
        entries: what is written as entries; None for none at all.
        metadata: besides name and namespace; ``uid: LIVE`` and ``resourceVersion: LIVE`` stand for the stored ones.
        code: what the server answers.
        then: entries by node afterwards, index and address; None where it does not matter.
        owners: with 409, managers in the way.
    """

    verb: str
    by: str = "a"
    entries: tuple[Json, ...] | None = None
    metadata: Json | None = None
    force: bool = False
    code: int = 200
    then: dict[str, tuple[Any, ...]] | None = None
    same: bool | None = None
    owners: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Case:
    name: str
    kind: str
    writes: tuple[Write, ...]


LIVE: Final = "live"
OLD: Final = "1"


def entry(node: str, index: int | None = 0, ip: str = "10.0.0.1", **more: Any) -> Json:
    whole = {"node": node, "ipAddress": ip, "cliqueID": "c", "index": index, **more}
    return {name: value for name, value in whole.items() if value is not None}


def at(index: Any, ip: str = "10.0.0.1", status: str = "NotReady") -> tuple[Any, ...]:
    return (index, ip, status)


def in_domain(name: str, *writes: Write) -> Case:
    return Case(name, DOMAIN_KIND, (Write("create", by="user", code=201), *writes))


def in_clique(name: str, *writes: Write) -> Case:
    return Case(name, DOMAIN_CLIQUE_KIND, writes)


A: Final = Write("apply", entries=(entry("a"),))
BORN: Final = Write("apply", entries=(entry("a"),), code=201)
B: Final = Write("apply", by="b", entries=(entry("b", 1),))

CASES: Final = (
    in_domain("two add", A, Write("apply", by="b", entries=(entry("b", 1),), then={"a": at(0), "b": at(1)})),
    in_domain("one changes its own", A, B, Write("apply", entries=(entry("a", 2),), then={"a": at(2), "b": at(1)})),
    in_domain("what is left out is given up", A, Write("apply", entries=(entry("a", None),), then={"a": at(None)})),
    in_domain(
        "an empty list takes the own entry away", A, B, Write("apply", entries=(), then={"b": at(1)}, same=False)
    ),
    in_domain("an unowned empty list changes nothing", A, Write("apply", by="b", entries=(), then={"a": at(0)})),
    in_domain("the same again changes nothing", A, Write("apply", entries=(entry("a"),), then={"a": at(0)}, same=True)),
    in_domain(
        "another's field without force",
        A,
        Write("apply", by="b", entries=(entry("a", 1),), code=409, owners=("a",), then={"a": at(0)}, same=True),
    ),
    in_domain(
        "another's field with force",
        A,
        Write("apply", by="b", entries=(entry("a", 1),), force=True, then={"a": at(1)}),
        Write("apply", entries=(entry("a", 2),), code=409, owners=("b",)),
    ),
    in_domain(
        "two own the same entry, one lets go",
        A,
        Write("apply", by="b", entries=(entry("a"),), then={"a": at(0)}, same=False),
        Write("apply", entries=(), then={"a": at(0)}),
        Write("apply", by="b", entries=(), then={}),
    ),
    in_domain(
        "two own parts, and one alone is no entry",
        A,
        Write("apply", by="b", entries=(entry("a", None),)),
        Write("apply", entries=(), then={"a": at(None)}),
    ),
    in_domain(
        "a default is unowned",
        A,
        Write("apply", by="b", entries=(entry("a", status="Ready"),), then={"a": at(0, status="Ready")}),
    ),
    in_domain("an empty word is refused", Write("apply", entries=(entry("a", status=""),), code=422)),
    in_domain("an address must be there", Write("apply", entries=({"node": "a", "cliqueID": "c"},), code=422)),
    in_domain(
        "a foreign write of a field takes it over",
        A,
        Write("replace", by="x", entries=(entry("a", 7),), then={"a": at(7)}),
        Write("apply", entries=(entry("a", 0),), code=409, owners=("x",)),
        Write("apply", entries=(entry("a", 0),), force=True, then={"a": at(0)}),
    ),
    in_domain(
        "a foreign write removes the entry, and its owner makes it again",
        A,
        B,
        Write("replace", by="x", entries=(entry("b", 1),), then={"b": at(1)}),
        Write("apply", entries=(entry("a"),), then={"a": at(0), "b": at(1)}),
    ),
    in_domain(
        "an entry of an older writer is co-owned",
        Write("replace", by="old", entries=(entry("a"),)),
        Write("apply", entries=(entry("a"),), then={"a": at(0)}),
        Write("apply", entries=(), then={"a": at(0)}),
        Write("replace", by="a", entries=(), then={}),
    ),
    in_domain(
        "what an empty apply would leave is no entry",
        Write("replace", by="old", entries=(entry("a"),)),
        Write("apply", entries=(entry("a", ip="10.0.0.2"),), force=True, then={"a": at(0, "10.0.0.2")}),
        Write("apply", entries=(), code=422),
    ),
    in_domain(
        "an old version", A, Write("replace", metadata={"resourceVersion": OLD}, entries=(), code=409, same=True)
    ),
    in_domain("no version", A, Write("replace", metadata={"resourceVersion": ""}, entries=(), code=422, same=True)),
    in_domain("an apply at a version", A, Write("apply", entries=(), metadata={"resourceVersion": LIVE}, then={})),
    in_domain("an apply at an old version", A, Write("apply", entries=(), metadata={"resourceVersion": OLD}, code=409)),
    in_domain(
        "through a subresource another uid is overlooked",
        A,
        Write("apply", entries=(), metadata={"uid": "other"}, then={}),
    ),
    in_clique("an apply at another uid", BORN, Write("apply", metadata={"uid": "other"}, code=422, same=True)),
    in_domain("nothing changed by a whole write", A, Write("replace", by="x", then={"a": at(0)}, same=True)),
    Case("no status of what is not there", DOMAIN_KIND, (Write("apply", entries=(entry("a"),), code=404),)),
    in_clique("an apply makes it", Write("apply", entries=(entry("a"),), code=201, then={"a": at(0)})),
    in_clique("an apply with a uid makes nothing", Write("apply", entries=(), metadata={"uid": "gone"}, code=409)),
    in_clique("what was deleted stays so", BORN, Write("delete"), Write("apply", metadata={"uid": LIVE}, code=409)),
    in_clique("no list, no entry", BORN, B, Write("apply", then={"b": at(1)}, same=False)),
    in_clique(
        "labels are shared",
        Write("apply", entries=(entry("a"),), metadata={"labels": {DOMAIN: "u"}}, code=201),
        Write(
            "apply", by="b", entries=(entry("b", 1),), metadata={"labels": {DOMAIN: "u"}}, then={"a": at(0), "b": at(1)}
        ),
        Write("apply", by="b", entries=(entry("b", 1),), metadata={"labels": {DOMAIN: "v"}}, code=409, owners=("a",)),
    ),
)


def body_of(kind: str, write: Write, namespace: str, live: Json | None) -> Json:
    """The request of a write."""
    stored = (live or {}).get("metadata", {})
    metadata = {"name": NAME, "namespace": namespace}
    if write.verb == "replace":
        metadata = {**stored}
    for name, value in (write.metadata or {}).items():
        metadata[name] = stored.get(name, "uid-of-nobody") if value == LIVE else value
        if not metadata[name]:
            del metadata[name]
    body: Json = {"apiVersion": NVIDIA, "kind": kind, "metadata": metadata}
    if kind == DOMAIN_KIND and write.verb == "create":
        body["spec"] = {"numNodes": 1, "channel": {"resourceClaimTemplate": {"name": "channel"}}}
    if write.verb == "replace" and live is not None:
        body = {**live, "metadata": metadata}
    if write.entries is not None:
        node = "name" if kind == DOMAIN_KIND else "nodeName"
        items = [{node: item["node"], **{key: item[key] for key in item if key != "node"}} for item in write.entries]
        body |= {"status": {"nodes": items}} if kind == DOMAIN_KIND else {"daemons": items}
    return body


def found_in(body: Json) -> dict[str, tuple[Any, ...]]:
    """Entries by node: index, address, status."""
    items = body.get("daemons") or body.get("status", {}).get("nodes") or []
    return {
        item.get("name") or item["nodeName"]: (item.get("index"), item["ipAddress"], item["status"]) for item in items
    }
