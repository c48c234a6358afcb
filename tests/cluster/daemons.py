"""Daemons of ComputeDomains as processes under test: pods, processes, what they log, and what they leave."""

import json
import os
import secrets
import signal
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from grove_core.resources.api_names import DOMAIN, DOMAIN_CLIQUE, NVIDIA
from tests.cluster.api import Api, Json, wait_until
from tests.cluster.nvidia.definitions import CLIQUES, DOMAINS
from tests.cluster.plane import ControlPlane

GROVE: Final = (sys.executable, "-m", "grove_shell")
NAME: Final = "training"
LONG: Final = 40.0


class Daemon:
    """One ``grove daemon`` after another on one node, each in the pod that the node has by then.

    Attributes:
        protocol: of its next life.
    """

    def __init__(self, domains: "Domains", node: str, clique: str, protocol: str) -> None:
        self.node = node
        self.clique = clique
        self.protocol = protocol
        self.peers = domains.folder / f"{node}.hosts"
        self.pod = ""
        self._domains = domains
        self._name = ""

    def launch(self) -> None:
        """Start its process, in a pod of its own."""
        if not self.pod:
            self.pod = self._domains.add_pod(self.node)
        self._name = f"daemon-{secrets.token_hex(4)}"
        place = self._domains.namespace
        named = {
            "--domain": f"{place}/{NAME}",
            "--clique": self.clique,
            "--pod": f"{place}/{self.pod}",
            "--protocol": self.protocol,
            "--peers": str(self.peers),
            "--log": "json",
            "--kubeconfig": str(self._domains.plane.kubeconfig(self._domains.user)),
        }
        words = [word for pair in named.items() for word in pair]
        self._domains.plane.run(self._name, [*GROVE, "daemon", *words])

    def start(self) -> "Daemon":
        """Launch it, and wait until it knows its identity."""
        self.launch()
        wait_until(lambda: [*self.lines[:1], self.trouble], lambda found: len(found) > 1 or found[-1], "it starts")
        assert not self.trouble
        return self

    def kill(self) -> None:
        """At once, as a node does that runs out of memory."""
        self._end(signal.SIGKILL)

    def stop(self) -> int:
        """Tell it to stop, and wait; its exit code."""
        return self._end(signal.SIGTERM)

    def replace_pod(self) -> None:
        """The pod of the next life is another one."""
        self._domains.remove_pod(self.pod)
        self.pod = ""

    @property
    def lines(self) -> list[Json]:
        """What it logged in its last life."""
        text = self._domains.plane.log(self._name).read_text(encoding="utf-8")
        return [json.loads(line) for line in text.splitlines() if line.startswith("{")]

    @property
    def rules(self) -> list[str]:
        """The rules of what it did and waited for, in order."""
        return [line["because"][0]["requirement"] for line in self.lines if "because" in line]

    @property
    def map(self) -> dict[int, str]:
        """The peer map of its fabric daemon: address by index; empty while none runs."""
        if not self.peers.exists():
            return {}
        lines = [line.split("\t") for line in self.peers.read_text(encoding="utf-8").splitlines() if "\t" in line]
        return {int(host.rpartition("-")[2]): address for address, host in lines}

    @property
    def trouble(self) -> str:
        """How its process ended and what it said last; empty while it runs."""
        plane = self._domains.plane
        code = plane.code(self._name)
        return "" if code is None else f"{self.node} ended with {code}: {plane.log(self._name).read_text()[-600:]}"

    def _end(self, how: signal.Signals) -> int:
        plane = self._domains.plane
        os.kill(plane.pids[self._name], how)
        code: int | None = wait_until(lambda: plane.code(self._name), lambda found: found is not None, "it ends")
        assert code is not None
        return code


class Domains:
    """One domain of a namespace, in which its daemons' pods are too."""

    def __init__(self, plane: ControlPlane, namespace: str, user: str, folder: Path) -> None:
        self.plane = plane
        self.namespace = namespace
        self.user = user
        self.folder = folder
        self.api: Api = plane.api()
        self.daemons: list[Daemon] = []
        self._controller = ""
        self.uid = ""

    def make(self, nodes: int) -> None:
        """The domain, for so many nodes."""
        spec = {"numNodes": nodes, "channel": {"resourceClaimTemplate": {"name": "channel"}}}
        metadata = {"name": NAME}
        made = self.api.create(
            {"apiVersion": NVIDIA, "kind": "ComputeDomain", "metadata": metadata, "spec": spec}, self.namespace
        )
        self.uid = made["metadata"]["uid"]

    def add(self, number: int, protocol: str, cliques: Iterable[str] = ("rack.1",)) -> list[Daemon]:
        """Daemons on nodes of their own, in these cliques by turns; they have yet to be started."""
        named = list(cliques)
        first = len(self.daemons)
        made = [
            Daemon(self, f"{self.namespace}-{at}", named[at % len(named)], protocol)
            for at in range(first, first + number)
        ]
        self.daemons += made
        return made

    def add_pod(self, node: str) -> str:
        """A pod of the domain on a node, once it has an address."""
        name = f"{node}-{secrets.token_hex(3)}"
        if self.api.find("nodes", node) is None:
            self.api.add_nodes([node], {"test": self.namespace})
        container = {"name": "main", "image": "example.com/daemon"}
        manifest: Json = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "labels": {DOMAIN: self.uid}},
            "spec": {"nodeName": node, "containers": [container], "terminationGracePeriodSeconds": 0},
        }
        self.api.create(manifest, self.namespace)
        pod = lambda: self.api.get("pods", name, self.namespace)  # noqa: E731 - said twice
        wait_until(pod, lambda found: found["status"].get("podIP"), "the pod has an address")
        return name

    def remove_pod(self, name: str) -> None:
        """A pod ends at once."""
        self.api.delete("pods", name, self.namespace, gracePeriodSeconds=0)
        wait_until(lambda: self.api.find("pods", name, self.namespace), lambda found: found is None, "the pod is gone")

    def start_controller(self) -> None:
        """``grove domain-controller`` for this namespace."""
        self._controller = f"domain-controller-{secrets.token_hex(4)}"
        config = str(self.plane.kubeconfig(self.user))
        words = ["-n", self.namespace, "--driver-namespace", self.namespace, "--log", "json", "--kubeconfig", config]
        self.plane.run(self._controller, [*GROVE, "domain-controller", *words])

    def kill_controller(self) -> None:
        if self._controller:
            os.kill(self.plane.pids[self._controller], signal.SIGKILL)
            self._controller = ""

    @property
    def domain(self) -> Json:
        return self.api.get(DOMAINS, NAME, self.namespace)

    def entries(self) -> dict[str, Json]:
        """All entries of both sources, by object and node."""
        found = {f"{NAME}/{item['name']}": item for item in self.domain.get("status", {}).get("nodes") or []}
        for clique in self.api.all_of(CLIQUES, self.namespace):
            named = clique["metadata"]["labels"][DOMAIN_CLIQUE]
            found |= {f"{named}/{item['nodeName']}": item for item in clique.get("daemons") or []}
        return found

    def index_of(self, daemon: Daemon) -> int | None:
        """That of its entry, in whatever object."""
        found = [item["index"] for name, item in self.entries().items() if name.endswith(f"/{daemon.node}")]
        return found[0] if len(found) == 1 else None

    def unsettled(self) -> list[str]:
        """What is not yet as it should be in the end, in words; empty when all daemons have converged."""
        wrong: list[str] = []
        entries = self.entries()
        wanted: dict[str, Daemon] = {}
        for daemon in self.daemons:
            home = daemon.clique if daemon.protocol.startswith("sharded") else NAME
            wanted[f"{home}/{daemon.node}"] = daemon
        wrong += [f"{name} is left over" for name in entries.keys() - wanted.keys()]
        wrong += [f"{name} is missing" for name in wanted.keys() - entries.keys()]
        maps: dict[str, dict[int, str]] = {}
        for name, daemon in wanted.items():
            entry = entries.get(name)
            if entry is None:
                continue
            pod = self.api.find("pods", daemon.pod, self.namespace) or {}
            if entry["ipAddress"] != pod.get("status", {}).get("podIP"):
                wrong.append(f"{name} has the address {entry['ipAddress']}")
            if entry["status"] != "Ready":
                wrong.append(f"{name} is not ready")
            held = maps.setdefault(daemon.clique, {})
            index = entry.get("index", -1)
            if index in held:
                wrong.append(f"{name} shares index {index}")
            held[index] = entry["ipAddress"]
        wrong += [
            f"{daemon.node} has the map {daemon.map}"
            for daemon in self.daemons
            if daemon.map != maps.get(daemon.clique)
        ]
        return wrong + [daemon.trouble for daemon in self.daemons if daemon.trouble]

    def await_converged(self, seconds: float = LONG) -> None:
        wait_until(self.unsettled, lambda wrong: not wrong, "all daemons have converged", seconds=seconds)

    def await_status(self, **wanted: Any) -> None:
        """What the controller says of the domain: ``status`` and, by id, ``cliques``."""

        def reported() -> Json:
            status = self.domain.get("status", {})
            cliques = {one["id"]: one["status"] for one in status.get("cliques") or []}
            return {"status": status.get("status"), "cliques": cliques}

        wait_until(reported, lambda found: found == wanted, f"the domain says {wanted}")

    def close(self) -> None:
        """Nodes and processes go; the namespace belongs to the caller."""
        for daemon in self.daemons:
            if daemon._name and self.plane.code(daemon._name) is None:  # noqa: SLF001 - one helper in two classes
                daemon.kill()
        self.kill_controller()
        self.api.request("DELETE", f"/api/v1/nodes?labelSelector=test%3D{self.namespace}")
