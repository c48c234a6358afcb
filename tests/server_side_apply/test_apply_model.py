"""The server in memory merges as the table says; tests/cluster/test_merging.py asks a real one the same."""

import pytest

from grove_core.resources.api_names import DOMAIN_CLIQUE_KIND, DOMAIN_KIND
from grove_shell.manifests.schema_validation import schema_violations_in
from tests.server_side_apply.apply_model import ManagedObject, Manager, applied, updated
from tests.server_side_apply.cases import CASES, NAME, Case, Json, Write, body_of, entry, found_in
from tests.server_side_apply.domain_shapes import compute_domain_schemas, domain_shapes
from tests.server_side_apply.field_sets import Shape
from tests.server_side_apply.object_server import Address, ObjectServer, Response

SPACE = "space"


def asked(server: ObjectServer, case: Case, write: Write, last: Json | None) -> Response:
    part = "status" if case.kind == DOMAIN_KIND else ""
    address = Address(case.kind, SPACE, NAME)
    body = body_of(case.kind, write, SPACE, server.get(address) or last)
    match write.verb:
        case "create":
            return server.create(body, write.by)
        case "apply":
            return server.apply(body, write.by, part, force=write.force)
        case "replace":
            return server.replace(body, write.by, part)
        case _:
            return server.delete(address)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_writes_become_what_the_table_says(case: Case) -> None:
    server, last = ObjectServer(domain_shapes()), None
    for write in case.writes:
        version = server.version
        answer = asked(server, case, write, last)
        assert answer.code == write.code, (write, answer)
        last = server.get(Address(case.kind, SPACE, NAME)) or last
        if write.owners is not None:
            assert answer.owners == write.owners
        if write.same is not None:
            assert (server.version == version) is write.same, write
        if write.then is not None:
            assert last is not None
            assert found_in(last) == write.then, write


def test_the_same_name_through_a_subresource_is_another_manager() -> None:
    server = ObjectServer(domain_shapes())
    manifest = body_of(DOMAIN_KIND, Write("create"), SPACE, None)
    server.create(manifest, "a")
    server.apply(body_of(DOMAIN_KIND, Write("apply", entries=(entry("a"),)), SPACE, None), "a", "status")
    owners = server.owners(Address(DOMAIN_KIND, SPACE, NAME))
    assert set(owners) == {Manager("a", applies=False), Manager("a", applies=True, subresource="status")}
    assert all(path[0] == "status" for path in owners[Manager("a", applies=True, subresource="status")])


def test_a_write_of_the_whole_object_leaves_its_status_alone() -> None:
    server = ObjectServer(domain_shapes())
    server.create(body_of(DOMAIN_KIND, Write("create"), SPACE, None), "a")
    address = Address(DOMAIN_KIND, SPACE, NAME)
    server.apply(body_of(DOMAIN_KIND, Write("apply", entries=(entry("a"),)), SPACE, None), "a", "status")
    live = server.get(address)
    assert live is not None
    answer = server.replace({**live, "status": {"nodes": []}}, "x")
    assert answer.body is not None
    assert found_in(answer.body) == {"a": (0, "10.0.0.1", "NotReady")}
    assert server.patch(address, {"metadata": {"labels": {"x": "y"}}}, "x").good
    assert server.patch(address, {"metadata": {"labels": {"x": None}}}, "x").good
    assert not server.patch(Address(DOMAIN_KIND, SPACE, "none"), {}, "x").good
    assert server.create(live, "x").code == 409
    assert not server.delete(Address(DOMAIN_KIND, SPACE, "none")).good
    assert server.replace({**live, "metadata": {**live["metadata"], "name": "none"}}, "x").code == 404


def test_lists_without_keys_are_replaced() -> None:
    shape = Shape({}, {}, has_status=False)
    first = applied(None, {"list": [1, 2], "map": {}}, Manager("a", applies=True), shape)
    second = applied(first, {"list": [3], "map": {}}, Manager("a", applies=True), shape)
    assert second.body == {"list": [3], "map": {}}


def test_a_writer_owns_what_it_changed() -> None:
    shape = Shape({}, {}, has_status=False)
    first = updated(None, {"x": 1, "y": 1}, Manager("a", applies=False), shape)
    second = updated(first, {"x": 1, "y": 2}, Manager("b", applies=False), shape)
    assert second == ManagedObject(
        {"x": 1, "y": 2},
        {Manager("a", applies=False): frozenset({("x",)}), Manager("b", applies=False): frozenset({("y",)})},
    )


@pytest.mark.parametrize(
    ("kind", "path", "key"),
    [(DOMAIN_KIND, ("status", "nodes"), "name"), (DOMAIN_CLIQUE_KIND, ("daemons",), "nodeName")],
)
def test_dc110_lists_are_keyed(kind: str, path: tuple[str, ...], key: str) -> None:
    assert domain_shapes()[kind].keys[path] == (key,)
    assert domain_shapes()[kind].defaults[*path, "[]", "status"] == "NotReady"


def test_dc110_what_the_design_shows_is_admitted() -> None:
    clique = {
        "apiVersion": "resource.nvidia.com/v1beta1",
        "kind": DOMAIN_CLIQUE_KIND,
        "metadata": {},
        "daemons": [
            {"nodeName": "node-a", "ipAddress": "10.0.0.1", "cliqueID": "clique-1", "index": 0, "status": "Ready"}
        ],
    }
    assert list(schema_violations_in(compute_domain_schemas()[DOMAIN_CLIQUE_KIND], clique)) == []
