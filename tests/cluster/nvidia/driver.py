"""A stand-in for NVIDIA's driver in one namespace: what its controller and its plugins on the nodes write.

Left out is what happens inside of nodes: it starts no daemons, and holds back no pod until its node is in the fabric.
"""

import contextlib
import http.client
import itertools
import threading
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Final, Self

from tests.cluster.api import ApiError, Json
from tests.cluster.nvidia.definitions import DOMAINS
from tests.cluster.nvidia.devices import (
    DOMAIN_LABEL,
    FINALIZER,
    channel_template,
    node_held_by,
    slice_of_domain,
    slice_of_node,
)
from tests.cluster.plane import ControlPlane

TEMPLATES: Final = "resourceclaimtemplates"
_SLICES: Final = "resourceslices"
_REST_SECONDS: Final = 0.2
_CLIQUE: Final = "6c3d4f1e-0b5a-4d27-9a38-2f6f3f0c9b11.1"
_ADDRESS: Final = "192.0.2.1"


class Driver:
    """Looks at everything anew again and again, as long as a ``with`` block lasts; what it made goes with it.

    It gives devices to the nodes with the label ``test`` of its namespace. Set ``daemons_ready`` to False to have all
    nodes of all domains lose the fabric.

    Args:
        channels: how many pods with claims of their own a node takes; as released, one.
        shared: whether every domain brings a device that pods on many nodes share. Only a design document has it so;
            the driver as released makes none, whatever the shape of the domain.

    Raises:
        Exception: at the end of the block, whatever stopped it before.
    """

    def __init__(self, plane: ControlPlane, namespace: str, *, channels: int = 1, shared: bool = False) -> None:
        self._api = plane.api()
        self._namespace = namespace
        self._channels = channels
        self._shared = shared
        self._over = threading.Event()
        self._broken: Exception | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.daemons_ready = True

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()
        self._leave()
        if self._broken is not None:
            raise self._broken

    def _run(self) -> None:
        try:
            while not self._over.wait(_REST_SECONDS):
                self._look()
        except Exception as fault:  # noqa: BLE001 - a thread has no caller to raise to; the end of the block raises it
            self._broken = fault

    def _look(self) -> None:
        """One round; what it could not do comes again in the next."""
        known = {each["metadata"]["name"] for each in self._api.all_of(_SLICES)}
        nodes = self._api.all_of("nodes", labelSelector=f"test={self._namespace}")
        domains = self._domains()
        templates = {each["metadata"]["name"]: each for each in self._templates()}
        claims = self._api.all_of("resourceclaims", self._namespace)
        living = [each for each in domains if "deletionTimestamp" not in each["metadata"]]
        devices = [slice_of_node(node, self._channels) for node in nodes]
        sharing = [each for each in living if self._shared or _channel_of(each) is None]
        devices += [slice_of_domain(each, {"test": self._namespace}) for each in sharing]
        for each in devices:
            if each["metadata"]["name"] not in known:
                with _another_time():
                    self._api.create(each)
        for domain in domains:
            with _another_time():
                if domain in living:
                    self._serve(domain, templates, claims)
                else:
                    self._let_go(domain, templates)
        there = {domain["metadata"]["uid"] for domain in domains}
        self._drop(each for each in templates.values() if _domain_of(each) not in there)

    def _domains(self) -> list[Json]:
        """Those of the namespace; none as long as the server does not know the kind."""
        with contextlib.suppress(KeyError), _another_time():
            return self._api.all_of(DOMAINS, self._namespace)
        return []

    def _templates(self) -> list[Json]:
        return self._api.all_of(TEMPLATES, self._namespace, labelSelector=DOMAIN_LABEL)

    def _serve(self, domain: Json, templates: dict[str, Json], claims: list[Json]) -> None:
        """Finalizer, template, status, in this order."""
        metadata = domain["metadata"]
        finalizers = metadata.get("finalizers", [])
        if FINALIZER not in finalizers:
            held = {"finalizers": [*finalizers, FINALIZER], "resourceVersion": metadata["resourceVersion"]}
            domain = self._api.patch(DOMAINS, metadata["name"], self._namespace, patch={"metadata": held})
        channel = _channel_of(domain)
        if channel is not None and (name := template_of(channel)) not in templates:
            self._api.create(channel_template(name, domain, channel.get("allocationMode", "Single")))
        before = domain.get("status", {})
        after = self._status_of(domain, claims)
        if before != after:
            self._api.replace({**domain, "status": after}, subresource="status")

    def _status_of(self, domain: Json, claims: list[Json]) -> Json:
        """A node is in a domain as long as a pod holds one of its channels there, and keeps its index."""
        known = {each["name"]: each["index"] for each in domain.get("status", {}).get("nodes", [])}
        held = sorted({node for claim in claims if (node := node_held_by(claim, domain))})
        taken = {index for node, index in known.items() if node in held}
        free = (index for index in itertools.count() if index not in taken)
        state = "Ready" if self.daemons_ready else "NotReady"
        nodes = [
            {
                "name": node,
                "ipAddress": _ADDRESS,
                "cliqueID": _CLIQUE,
                "index": known[node] if node in known else next(free),
                "status": state,
            }
            for node in held
        ]
        ready = len(nodes) >= domain.get("spec", {}).get("numNodes", 0) and (self.daemons_ready or not nodes)
        return {"status": "Ready" if ready else "NotReady"} | ({"nodes": nodes} if nodes else {})

    def _let_go(self, domain: Json, templates: dict[str, Json]) -> None:
        """Its template first; when that is gone, what is left."""
        metadata = domain["metadata"]
        if mine := [each for each in templates.values() if _domain_of(each) == metadata["uid"]]:
            self._drop(mine)
            return
        self._withdraw(metadata["uid"])
        if FINALIZER in metadata["finalizers"]:
            left = [each for each in metadata["finalizers"] if each != FINALIZER]
            patch = {"metadata": {"finalizers": left, "resourceVersion": metadata["resourceVersion"]}}
            self._api.patch(DOMAINS, metadata["name"], self._namespace, patch=patch)

    def _drop(self, templates: Iterable[Json]) -> None:
        """Delete these, and let them go.

        They are put, not patched: a patch writes opaque parameters anew, and if that changes as much as a space in
        them, the server takes it for a change of the spec, which it refuses.
        """
        for each in templates:
            name = each["metadata"]["name"]
            with _another_time():
                self._api.delete(TEMPLATES, name, self._namespace)
                found = self._api.get(TEMPLATES, name, self._namespace)
                found["metadata"]["finalizers"] = []
                self._api.replace(found)

    def _withdraw(self, uid: str) -> None:
        if self._api.find(_SLICES, uid) is not None:
            self._api.delete(_SLICES, uid)

    def _leave(self) -> None:
        """Take the finalizers from what is left, so that the namespace can end without a driver."""
        for domain in self._domains():
            with _another_time():
                name = domain["metadata"]["name"]
                self._api.patch(DOMAINS, name, self._namespace, patch={"metadata": {"finalizers": None}})
            self._withdraw(domain["metadata"]["uid"])
        self._drop(self._templates())


@contextlib.contextmanager
def _another_time() -> Iterator[None]:
    """Pass over what changed or went meanwhile."""
    try:
        yield
    except ApiError as refused:
        if refused.code not in {http.client.NOT_FOUND, http.client.CONFLICT}:
            raise


def _channel_of(domain: Json) -> Json | None:
    channel: Json | None = domain.get("spec", {}).get("channel")
    return channel


def _domain_of(template: Json) -> str:
    uid: str = template["metadata"]["labels"][DOMAIN_LABEL]
    return uid


def template_of(channel: Json) -> str:
    """The name of the template that a domain asks for, in the released shape or in that of the design."""
    name: str = channel.get("resourceClaimTemplateName") or channel["resourceClaimTemplate"]["name"]
    return name
