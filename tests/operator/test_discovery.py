"""Discovery of optional kinds, and of schemas that are published late."""

import asyncio
from typing import Any

import pytest
from aiohttp import web

from grove_core.resources.configuration import ComputeDomainFormatName, ServedApis, WorkloadApiLevel
from grove_shell.client.api_discovery import discover_optional_apis
from tests.operator.stub_server import api_with

Json = dict[str, Any]
VERSION = "resource.nvidia.com/v1beta1"
CHANNEL = {"properties": {"resourceClaimTemplate": {"type": "object"}}}
SCHEMA = {
    "x-kubernetes-group-version-kind": [{"group": "resource.nvidia.com", "kind": "ComputeDomain"}],
    "properties": {"spec": {"properties": {"channel": CHANNEL}}},
}


class Publishing:
    """A server with ComputeDomains: its schemas answer so, one answer after the other, the last one for ever."""

    def __init__(self, *answers: tuple[int, Json]) -> None:
        self.answers = list(answers)
        self.asked = 0

    async def answer(self, request: web.Request) -> web.Response:
        if request.path.startswith("/openapi"):
            self.asked += 1
            status, schemas = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
            return web.json_response({"components": {"schemas": schemas}}, status=status)
        reported = {
            "/apis/resource.k8s.io": {"versions": [{"groupVersion": "resource.k8s.io/v1"}]},
            "/apis/resource.nvidia.com": {"preferredVersion": {"groupVersion": VERSION}},
            f"/apis/{VERSION}": {"resources": [{"kind": "ComputeDomain"}]},
        }
        return web.json_response(reported.get(request.path, {}), status=200 if request.path in reported else 404)

    async def serve(self, looks: int) -> ServedApis:
        async with api_with(self.answer) as api:
            return await discover_optional_apis(api, tries=looks)


KNOWN = (200, {"x": SCHEMA})


@pytest.mark.parametrize("late", [(404, {}), (200, {}), (200, {"y": {"type": "object"}})])
def test_op034_a_schema_that_is_published_late_is_waited_for(late: tuple[int, Json]) -> None:
    server = Publishing(late, late, KNOWN)
    assert asyncio.run(server.serve(4)) == ServedApis(
        domains=ComputeDomainFormatName.NVIDIA,
        claims="resource.k8s.io/v1",
        workload_api=WorkloadApiLevel.NONE,
    )
    assert server.asked == 3


def test_op034_it_ends_where_none_comes() -> None:
    server = Publishing((404, {}))
    assert asyncio.run(server.serve(2)).domains is None
    assert server.asked == 2


def test_op034_a_forbidden_kind_is_not_waited_for() -> None:
    server = Publishing((403, {}), KNOWN)
    assert asyncio.run(server.serve(4)).domains is None
    assert server.asked == 1


def served_groups(**kinds: tuple[int, Json]) -> ServedApis:
    """What is discovered of a server that answers so for the versions of the Workload API."""

    async def answer(request: web.Request) -> web.Response:
        version = request.path.rpartition("/")[2]
        status, body = kinds.get(version, (404, {})) if "scheduling.k8s.io" in request.path else (404, {})
        return web.json_response(body, status=status)

    async def serve() -> ServedApis:
        async with api_with(answer) as api:
            return await discover_optional_apis(api, tries=1)

    return asyncio.run(serve())


def listed(*kinds: str) -> tuple[int, Json]:
    return 200, {"resources": [{"kind": kind} for kind in kinds]}


@pytest.mark.req("SC-001")
@pytest.mark.parametrize(
    ("kinds", "level"),
    [
        ({}, WorkloadApiLevel.NONE),
        ({"v1beta1": listed("Workload", "PodGroup")}, WorkloadApiLevel.FLAT),
        ({"v1beta1": listed("Workload", "PodGroup"), "v1alpha3": listed("PodGroup")}, WorkloadApiLevel.FLAT),
        (
            {"v1beta1": listed("Workload", "PodGroup"), "v1alpha3": listed("CompositePodGroup")},
            WorkloadApiLevel.HIERARCHICAL,
        ),
        ({"v1alpha3": listed("CompositePodGroup")}, WorkloadApiLevel.NONE),
        ({"v1beta1": (503, {})}, None),
        ({"v1beta1": (200, {"resources": "text"})}, None),
    ],
)
def test_sc001_the_level_of_the_workload_api_is_discovered(
    kinds: dict[str, tuple[int, Json]], level: WorkloadApiLevel | None
) -> None:
    assert served_groups(**kinds).workload_api is level
