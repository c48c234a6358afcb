"""Every change of some objects in the order of the API server's watch, for what may hold in no state at all."""

import http.client
import json
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import suppress
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

from tests.cluster.api import Json
from tests.cluster.plane import ControlPlane
from tests.cluster.scenes import CLIQUE_LABEL, INDEX_LABEL, is_living, is_ready


class PodWatch:
    """Writes down what becomes of the pods of a namespace, as long as a ``with`` block lasts.

    Raises:
        AssertionError: at the end of the block, if the watch broke off and does not know everything.
    """

    def __init__(self, plane: ControlPlane, namespace: str) -> None:
        self._kubeconfig = json.loads(plane.kubeconfig().read_text(encoding="utf-8"))
        self._address = urlsplit(plane.url).netloc
        self._context = ssl.create_default_context(cafile=str(plane.authority))
        self._path = f"/api/v1/namespaces/{namespace}/pods?watch=1"
        self._events: list[Json] = []
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._over = False
        self._broken = False

    def __enter__(self) -> Self:
        connection = self._connection = http.client.HTTPSConnection(self._address, context=self._context)
        token = self._kubeconfig["users"][0]["user"]["token"]
        connection.request("GET", self._path, headers={"Authorization": f"Bearer {token}"})
        self._answer = connection.getresponse()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over = True
        assert self._connection.sock is not None
        with suppress(OSError):
            self._connection.sock.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._answer.close()
        self._connection.close()
        assert not self._broken, "the watch broke off"

    def states(self) -> Iterator[dict[str, Json]]:
        """The pods that were there after each event, by their uid."""
        pods: dict[str, Json] = {}
        for event in list(self._events):
            uid = event["object"]["metadata"]["uid"]
            if event["type"] == "DELETED":
                pods.pop(uid, None)
            else:
                pods[uid] = event["object"]
            yield dict(pods)

    def fewest_ready(self, clique: str, *, from_on: int) -> int:
        """How many pods of a PodClique were ready at the least, after there were so many for the first time."""
        counts: list[int] = []
        for state in self.states():
            ready = sum(is_ready(pod) for pod in state.values() if _clique_of(pod) == clique)
            if counts or ready >= from_on:
                counts.append(ready)
        return min(counts)

    def fewest_replicas(self, cliques: str, replicas: int, *, pods: int) -> int:
        """How many replicas of a group had all their pods ready at the least, after all had for the first time.

        Args:
            cliques: name of the clique of each replica, with ``{}`` for its index.
            replicas: how many there are.
            pods: how many each needs.
        """
        counts: list[int] = []
        for state in self.states():
            ready = [_clique_of(pod) for pod in state.values() if is_ready(pod)]
            whole = sum(ready.count(cliques.format(index)) >= pods for index in range(replicas + 1))
            if counts or whole >= replicas:
                counts.append(whole)
        return min(counts)

    def doubles(self) -> list[str]:
        """PodClique and index of pods that lived at the same time as another one of the same place."""
        found: set[str] = set()
        for state in self.states():
            places = [_place_of(pod) for pod in state.values() if is_living(pod)]
            found |= {place for place in places if places.count(place) > 1}
        return sorted(found)

    def _read(self) -> None:
        with suppress(OSError, ValueError, AttributeError, http.client.HTTPException):  # what a cut may raise
            while line := self._answer.readline():
                self._events.append(json.loads(line))
        self._broken = not self._over


def _clique_of(pod: Json) -> str:
    name: str = pod["metadata"]["labels"].get(CLIQUE_LABEL, "")
    return name


def _place_of(pod: Json) -> str:
    owner = pod["metadata"]["ownerReferences"][0]["uid"]
    return f"{_clique_of(pod)} {owner} {pod['metadata']['labels'].get(INDEX_LABEL)}"
