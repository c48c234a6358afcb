"""The Kubernetes API for tests: plain JSON, one request at a time, and faults that tell what was there instead."""

import json
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import urlencode

import urllib3
import yaml

Json = dict[str, Any]
T = TypeVar("T")

PLAIN: Final = "application/json"
MERGE: Final = "application/merge-patch+json"
JSON_PATCH: Final = "application/json-patch+json"
STRATEGIC: Final = "application/strategic-merge-patch+json"
APPLY: Final = "application/apply-patch+yaml"
SOON: Final = 0.05
SELDOM: Final = 0.1  # seconds between two polls of a long wait
_DISCOVERY: Final = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
_ONCE_MORE: Final = urllib3.Retry(
    connect=0, read=1, redirect=0, other=0, allowed_methods={"GET"}, respect_retry_after_header=False
)
"""Connections are kept, and the server may go away while one waits; what may have been done is not done again."""
_PASSING: Final = frozenset({"events", "events.events.k8s.io"})


class ApiError(Exception):
    """The API server refused.

    Args:
        code: of HTTP, e.g. 409.
        reason: of the ``Status`` object, e.g. ``Conflict``; empty if there is none.
    """

    def __init__(self, code: int, reason: str, message: str) -> None:
        super().__init__(f"{code} {reason}: {message}")
        self.code = code
        self.reason = reason
        self.message = message


@dataclass(frozen=True, slots=True)
class Resource:
    """Where the objects of a kind are found, and what may be done with them."""

    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool
    verbs: frozenset[str]

    @property
    def api_version(self) -> str:
        """E.g. ``v1``, ``grove.io/v1alpha1``."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def full_name(self) -> str:
        """E.g. ``pods``, ``podcliques.grove.io``."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    def path(self, namespace: str | None, *rest: str) -> str:
        """Path of the collection, or of what lies below it."""
        root = f"/apis/{self.api_version}" if self.group else f"/api/{self.version}"
        inside = f"/namespaces/{namespace}" if namespace and self.namespaced else ""
        return "/".join([f"{root}{inside}/{self.plural}", *rest])


class Api:
    """One user's view of the API.

    Resources are named as for ``kubectl``, or by kind: ``pods``, ``podcliques.grove.io``, ``Pod``.

    Args:
        seconds: how long an answer may take.
    """

    def __init__(self, url: str, token: str, authority: Path, *, seconds: float = 60) -> None:
        server = urllib3.util.parse_url(url)
        assert server.host
        self._server = urllib3.HTTPSConnectionPool(
            server.host, server.port, ca_certs=str(authority), timeout=seconds, retries=_ONCE_MORE
        )
        self._token = token
        self._resources: list[Resource] = []

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        media: str = PLAIN,
        accept: str = PLAIN,
    ) -> Any:
        """One request; the answer is parsed if it is JSON.

        Raises:
            ApiError: for every code from 400 on.
            OSError: if no server listens.
        """
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": media, "Accept": accept}
        sent = None if body is None else json.dumps(body)
        try:
            answer = self._server.urlopen(method, path, sent, headers)
        except urllib3.exceptions.HTTPError as fault:
            raise OSError(f"{method} {path}: {fault}") from fault
        text = answer.data.decode()
        is_json = answer.headers.get("Content-Type", "").partition(";")[0] == PLAIN
        said = json.loads(text) if is_json else text
        if answer.status >= HTTPStatus.BAD_REQUEST:
            status = said if isinstance(said, dict) else {}
            raise ApiError(answer.status, status.get("reason", ""), status.get("message", text))
        return said

    def resource(self, name: str, api_version: str | None = None) -> Resource:
        """The resource of this plural, full name or kind, in the version the server likes best if none is given.

        Raises:
            KeyError: The server has none such.
        """
        for _ in range(2):
            for each in self._resources:
                if name in {each.plural, each.full_name, each.kind} and api_version in {None, each.api_version}:
                    return each
            self._resources = list(self._discover())  # a definition may have come since
        raise KeyError(f"the server has no {name}" + (f" in {api_version}" if api_version else ""))

    def get(self, resource: str, name: str, namespace: str | None = None) -> Json:
        """One object."""
        return self._json("GET", self.resource(resource).path(namespace, name))

    def find(self, resource: str, name: str, namespace: str | None = None) -> Json | None:
        """One object, None if it is not there."""
        try:
            return self.get(resource, name, namespace)
        except ApiError as error:
            if error.code == HTTPStatus.NOT_FOUND:
                return None
            raise

    def all_of(self, resource: str, namespace: str | None = None, **query: str) -> list[Json]:
        """All objects of a namespace, of all namespaces without one; e.g. ``labelSelector="app=a"``."""
        found = self.resource(resource)
        answer = self._json("GET", f"{found.path(namespace)}?{urlencode(query)}")
        return [{"apiVersion": answer["apiVersion"], "kind": found.kind, **item} for item in answer["items"]]

    def create(self, manifest: Json, namespace: str | None = None) -> Json:
        """Create; a namespace that is given goes before the one in the manifest."""
        found = self._of(manifest)
        place = namespace or manifest["metadata"].get("namespace", "default")
        return self._json("POST", found.path(place), manifest)

    def replace(self, manifest: Json, *, subresource: str = "") -> Json:
        """Update: it fails with 409 if the ``resourceVersion`` of the manifest is not the latest."""
        metadata = manifest["metadata"]
        rest = [metadata["name"], *([subresource] if subresource else [])]
        return self._json("PUT", self._of(manifest).path(metadata.get("namespace"), *rest), manifest)

    def patch(
        self,
        resource: str,
        name: str,
        namespace: str | None = None,
        *,
        patch: Any,
        media: str = MERGE,
        subresource: str = "",
        **query: str,
    ) -> Json:
        """Patch; ``media`` says how, e.g. ``APPLY`` with ``fieldManager="me"``."""
        rest = [name, *([subresource] if subresource else [])]
        path = f"{self.resource(resource).path(namespace, *rest)}?{urlencode(query)}"
        return self._json("PATCH", path, patch, media=media)

    def annotate(self, resource: str, name: str, namespace: str | None = None, **annotations: str | None) -> Json:
        """Set annotations of the test kubelet, or take them away with None: ``not_ready="true"``."""
        full = {f"kubelet.grove.test/{key.replace('_', '-')}": value for key, value in annotations.items()}
        return self.patch(resource, name, namespace, patch={"metadata": {"annotations": full}})

    def delete(self, resource: str, name: str, namespace: str | None = None, **options: Any) -> None:
        """Delete; options as in ``DeleteOptions``, e.g. ``propagationPolicy="Foreground"``."""
        self.request("DELETE", self.resource(resource).path(namespace, name), options or None)

    def add_nodes(self, names: Iterable[str], labels: Mapping[str, str] | None = None, **capacity: str) -> None:
        """Add nodes; without other wishes each has 32 CPUs, 256 GiB, 8 GPUs, and room for 110 pods."""
        room = {"cpu": "32", "memory": "256Gi", "nvidia.com/gpu": "8", "pods": "110", **capacity}
        for name in names:
            metadata = {"name": name, "labels": {"kubernetes.io/hostname": name, **(labels or {})}}
            status = {"capacity": room, "allocatable": room}
            self.create({"apiVersion": "v1", "kind": "Node", "metadata": metadata, "status": status})

    def everything_in(self, namespace: str) -> list[Json]:
        """All objects of a namespace, of whatever kind, except events."""
        self._resources = list(self._discover())
        listable = [each for each in self._resources if each.namespaced and "list" in each.verbs]
        names = sorted({each.full_name for each in listable} - _PASSING)
        return [item for name in names for item in self.all_of(name, namespace)]

    def _of(self, manifest: Json) -> Resource:
        return self.resource(manifest["kind"], manifest["apiVersion"])

    def _json(self, method: str, path: str, body: Any = None, *, media: str = PLAIN) -> Json:
        answer: Json = self.request(method, path, body, media=media)
        return answer

    def _discover(self) -> Iterable[Resource]:
        """Every resource in every version, those that the server likes best first."""
        for root in ("/api", "/apis"):
            for group in self.request("GET", root, accept=_DISCOVERY)["items"]:
                for version in group["versions"]:
                    for each in version["resources"]:
                        yield Resource(
                            group=group["metadata"].get("name", ""),
                            version=version["version"],
                            plural=each["resource"],
                            kind=each["responseKind"]["kind"],
                            namespaced=each["scope"] == "Namespaced",
                            verbs=frozenset(each["verbs"]),
                        )


def wait_until(look: Callable[[], T], holds: Callable[[T], Any], what: str, *, seconds: float = 30) -> T:
    """Look again and again until it holds, and give what was seen then.

    Raises:
        AssertionError: It never did; the text says what was waited for and what was seen last.
    """
    deadline, pause = time.monotonic() + seconds, SOON
    while not holds(seen := look()):
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds:g} s: {what}; seen last:\n{yaml.safe_dump(seen)[:4000]}")
        time.sleep(pause)
        pause = min(pause * 1.3, SELDOM)
    return seen
