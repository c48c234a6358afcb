"""A real API server merges as the table says by which the one in memory is tested."""

import http.client
from collections.abc import Iterator
from typing import Final
from urllib.parse import urlencode

import pytest

from grove_core.resources.api_names import DOMAIN_KIND
from grove_shell.manifests.crd_definitions import compute_domain_crd_manifests
from tests.cluster.api import APPLY, PLAIN, Api, ApiError, Json
from tests.cluster.nvidia.definitions import install, remove
from tests.cluster.plane import ControlPlane
from tests.server_side_apply.cases import CASES, NAME, Case, Write, body_of, found_in

CREATED: Final = frozenset({("apply", 201), ("create", 201)})


@pytest.fixture(scope="module")
def domains(api_server: ControlPlane) -> Iterator[Api]:
    """The shared API server, with the definitions of both kinds as they are printed, until the module is done."""
    api = api_server.api()
    install(api, *compute_domain_crd_manifests())
    yield api
    remove(api)


def asked(api: Api, case: Case, write: Write, namespace: str, live: Json | None) -> tuple[int, str]:
    """What the server answers, and its words."""
    body = body_of(case.kind, write, namespace, live)
    if write.verb == "apply":
        body["metadata"].pop("managedFields", None)
    plural = f"{case.kind.lower()}s"
    root = f"/apis/resource.nvidia.com/v1beta1/namespaces/{namespace}/{plural}"
    part = "/status" if case.kind == DOMAIN_KIND and write.verb in {"apply", "replace"} else ""
    query = {"fieldManager": write.by, **({"force": "true"} if write.force else {})}
    try:
        match write.verb:
            case "create":
                api.request("POST", f"{root}?{urlencode(query)}", body)
            case "apply":
                api.request("PATCH", f"{root}/{NAME}{part}?{urlencode(query)}", body, media=APPLY)
            case "replace":
                api.request("PUT", f"{root}/{NAME}{part}?{urlencode(query)}", body, media=PLAIN)
            case _:
                api.request("DELETE", f"{root}/{NAME}")
    except ApiError as error:
        return error.code, error.message
    return http.client.OK, ""


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_real_server_does_what_the_table_says(domains: Api, namespace: str, case: Case) -> None:
    plural, last = f"{case.kind.lower()}s", None
    for write in case.writes:
        before = domains.find(plural, NAME, namespace)
        code, words = asked(domains, case, write, namespace, before or last)
        wanted = http.client.OK if (write.verb, write.code) in CREATED else write.code
        assert code == wanted, (write, words)
        after = domains.find(plural, NAME, namespace)
        last = after or last
        for owner in write.owners or ():
            assert f'"{owner}"' in words, words
        if write.same is not None and before is not None and after is not None:
            same = before["metadata"]["resourceVersion"] == after["metadata"]["resourceVersion"]
            assert same is write.same, write
        if write.then is not None:
            assert after is not None
            assert found_in(after) == write.then, write
