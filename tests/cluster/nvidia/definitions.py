"""The kinds of ``resource.nvidia.com``: as NVIDIA's driver installs them, and as our design documents print them.

All shapes of a ComputeDomain share one name, so a server knows one of them at a time.
"""

import contextlib
from collections.abc import Iterator
from functools import partial
from typing import Final, Literal

from tests.cluster.api import MERGE, Api, ApiError, Json, wait_until
from tests.cluster.binaries import CONTROLLERS
from tests.cluster.plane import ControlPlane

GROUP: Final = "resource.nvidia.com"
VERSION: Final = "v1beta1"
DOMAINS: Final = f"computedomains.{GROUP}"
CLIQUES: Final = f"computedomaincliques.{GROUP}"
QUOTA: Final = "compute-domains"
_CRDS: Final = "customresourcedefinitions"

_STRING: Final[Json] = {"type": "string"}
_READINESS: Final[Json] = {"type": "string", "enum": ["Ready", "NotReady"], "default": "NotReady"}
_OPEN: Final[Json] = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def _object(required: tuple[str, ...] = (), /, **properties: Json) -> Json:
    return {"type": "object", "properties": properties} | ({"required": list(required)} if required else {})


def _entries(key: str) -> Json:
    """A list of daemons; each entry may belong to another field manager."""
    named = {key: _STRING, "ipAddress": _STRING, "cliqueID": _STRING}
    entry = _object(tuple(named), **named, index={"type": "integer"}, status=_READINESS)
    return {"type": "array", "items": entry, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": [key]}


def _definition(kind: str, version: str, properties: dict[str, Json], *, has_status: bool) -> Json:
    singular = kind.lower()
    names = {"kind": kind, "listKind": f"{kind}List", "plural": f"{singular}s", "singular": singular}
    whole = _object(apiVersion=_STRING, kind=_STRING, metadata={"type": "object"}, **properties)
    declared = {"name": version, "served": True, "storage": True, "schema": {"openAPIV3Schema": whole}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{names['plural']}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "names": names,
            "scope": "Namespaced",
            "versions": [declared | ({"subresources": {"status": {}}} if has_status else {})],
        },
    }


def compute_domain() -> Json:
    """ComputeDomain as released: a template's name is an object, and the spec never changes."""
    channel = _object(
        ("resourceClaimTemplate",),
        resourceClaimTemplate=_object(("name",), name=_STRING),
        allocationMode={"type": "string", "enum": ["All", "Single"], "default": "Single"},
    )
    spec = _object(("channel",), numNodes={"type": "integer", "minimum": 0, "default": 0}, channel=channel)
    spec["x-kubernetes-validations"] = [{"rule": "self == oldSelf", "message": "A computeDomain.spec is immutable"}]
    status = _object(("status",), status=_READINESS, nodes=_entries("name"))
    return _definition("ComputeDomain", VERSION, {"spec": spec, "status": status}, has_status=True)


def compute_domain_clique() -> Json:
    """ComputeDomainClique as released: its daemons stand at the top, and there is no subresource."""
    return _definition("ComputeDomainClique", VERSION, {"daemons": _entries("nodeName")}, has_status=False)


def designed(version: Literal["v1alpha1", "v1beta1"]) -> Json:
    """ComputeDomain as printed in a design document: v1beta1 names a template, v1alpha1 only a number of nodes."""
    channel = _object(("resourceClaimTemplateName",), resourceClaimTemplateName=_STRING)
    number = {"type": "integer", "minimum": 0}
    spec = _object(("channel",), channel=channel) if version == VERSION else _object(("numNodes",), numNodes=number)
    whole = _definition("ComputeDomain", version, {"spec": spec, "status": _OPEN}, has_status=True)
    whole["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["required"] = ["spec"]
    return whole


def released() -> list[Json]:
    """What the driver installs."""
    return [compute_domain(), compute_domain_clique()]


def install(api: Api, *definitions: Json) -> None:
    """Have the server know these kinds, and wait until it lets them be listed.

    Raises:
        ApiError: It knows one of them already, perhaps in another shape.
    """
    for definition in definitions:
        api.create(definition)
    for definition in definitions:
        wait_until(partial(_state, api, definition), lambda state: state == "listed", "the kind is served")


def remove(api: Api) -> None:
    """Have the server forget all kinds of the group with all objects, also those that a finalizer holds.

    The objects go first: a server that finds some when it forgets a kind looks again only after 5 s.
    """
    for name in (DOMAINS, CLIQUES):
        if definition := api.find(_CRDS, name):
            wait_until(partial(_emptied, api, definition), lambda left: not left, f"no object of {name} is left")
            api.delete(_CRDS, name)
            wait_until(partial(api.find, _CRDS, name), lambda found: not found, f"{name} is forgotten")
    wait_until(partial(api.request, "GET", "/apis"), _reports_nothing, f"{GROUP} is out of discovery")


@contextlib.contextmanager
def installed(plane: ControlPlane, *definitions: Json) -> Iterator[ControlPlane]:
    """A control plane that knows these kinds as long as the block lasts.

    Its controllers begin anew: garbage collector and quotas look for new kinds when they begin, then every 30 s.
    """
    api = plane.api()
    install(api, *definitions)
    try:
        plane.restart(CONTROLLERS)
        yield plane
    finally:
        remove(api)


def limit_domains(api: Api, namespace: str, number: int) -> None:
    """Let a namespace have so many ComputeDomains, by a ResourceQuota; wait until the server has counted them."""
    hard = {f"count/{DOMAINS}": str(number)}
    if api.find("resourcequotas", QUOTA, namespace) is None:
        metadata = {"name": QUOTA, "namespace": namespace}
        api.create({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": metadata, "spec": {"hard": hard}})
    else:
        api.patch("resourcequotas", QUOTA, namespace, patch={"spec": {"hard": hard}})

    def counted() -> bool:
        status = api.get("resourcequotas", QUOTA, namespace).get("status", {})
        return bool(status.get("hard") == hard and hard.keys() == status.get("used", {}).keys())

    wait_until(counted, bool, "the domains are counted")


def used_up(api: Api, namespace: str) -> bool:
    """Whether the server counts as many ComputeDomains as the namespace may have.

    It counts one of an operator that was killed while it sent the request, too; then there is one fewer.
    """
    status = api.get("resourcequotas", QUOTA, namespace)["status"]
    return bool(status["used"] == status["hard"])


def _state(api: Api, definition: Json) -> str:
    """``listed`` if objects can be listed, which is later than ``Established``; else what is missing."""
    found = api.get(_CRDS, definition["metadata"]["name"])
    conditions = {each["type"]: each["status"] for each in found["status"].get("conditions") or []}
    if conditions.get("Established") != "True":
        return f"conditions: {conditions}"
    try:
        api.request("GET", _path(definition))
    except ApiError as refused:
        return str(refused)
    return "listed"


def _reports_nothing(groups: Json) -> bool:
    return GROUP not in {group["name"] for group in groups["groups"]}


def _path(definition: Json, namespace: str | None = None) -> str:
    spec = definition["spec"]
    inside = f"/namespaces/{namespace}" if namespace else ""
    return f"/apis/{GROUP}/{spec['versions'][0]['name']}{inside}/{spec['names']['plural']}"


def _emptied(api: Api, definition: Json) -> list[str]:
    """Delete all objects of a kind and take from them what holds them; the names of those that were there."""
    items = api.request("GET", _path(definition))["items"]
    for item in items:
        metadata = item["metadata"]
        path = f"{_path(definition, metadata['namespace'])}/{metadata['name']}"
        with contextlib.suppress(ApiError):  # gone meanwhile
            api.request("DELETE", path)
            api.request("PATCH", path, {"metadata": {"finalizers": None}}, media=MERGE)
    return [item["metadata"]["name"] for item in items]
