"""One daemon against a server on the loopback that has one domain."""

import asyncio
import io
from collections.abc import Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from grove_core.areas.domain_cliques.daemon.daemon_input import DaemonIdentity
from grove_core.areas.domain_cliques.daemon.registration_protocols import DaemonRegistrationSettings
from grove_core.resources.api_names import NVIDIA
from grove_shell.domain_daemon.daemon_log import DaemonDecisionLog
from grove_shell.domain_daemon.daemon_process import DomainDaemonProcess
from grove_shell.domain_daemon.fabric_process import hosts_file_command
from tests.manifests.request_recorder import Asked, Recorder

Json = dict[str, Any]
GROUP: Final = NVIDIA.partition("/")[0]
IDENTITY: Final = DaemonIdentity(
    node="n1",
    ip="10.0.0.1",
    clique="rack.1",
    namespace="ml",
    domain="training",
    domain_uid="uid-of-domain",
    pod_namespace="driver",
    pod="pod-1",
    pod_uid="uid-1",
)


@dataclass
class SingleDomainServer:
    """A server that stores the one entry that is applied to it.

    Attributes:
        peers: the hosts file; it shows whether the fabric daemon still runs when an entry is removed.
    """

    peers: Path
    version: int = 5
    nodes: list[Json] = field(default_factory=list)
    ran: list[bool] = field(default_factory=list)

    @property
    def domain(self) -> Json:
        metadata = {"name": "training", "namespace": "ml", "uid": "uid-of-domain", "resourceVersion": str(self.version)}
        status = {"nodes": self.nodes}
        return {"apiVersion": NVIDIA, "kind": "ComputeDomain", "metadata": metadata, "spec": {}, "status": status}

    def answer(self, one: Asked, _before: int) -> tuple[int, Json]:
        if one.resource == "computedomains/status":
            self.version += 1
            index = {"index": 0, "cliqueID": "rack.1", "ipAddress": "10.0.0.1"}
            if not self.nodes:
                self.nodes = [{"name": "n1", **index, "status": "NotReady"}]
            elif self.nodes[0]["status"] == "NotReady":
                self.nodes = [{**self.nodes[0], "status": "Ready"}]
            else:
                self.ran.append(self.peers.exists())
                self.nodes = []
            return 200, self.domain
        if one.verb == "list":
            return 200, {"metadata": {"resourceVersion": str(self.version)}, "items": [self.domain]}
        return 404, {}


async def until(wanted: Callable[[], Any]) -> None:
    async with asyncio.timeout(20):
        while not wanted():  # noqa: ASYNC110 - a child process sets no event
            await asyncio.sleep(0.02)


@asynccontextmanager
async def running_daemon(folder: Path) -> Any:
    """Run a daemon in this process, with a real child process as its fabric daemon."""
    server = SingleDomainServer(folder / "hosts")
    recorder, out = Recorder(server.answer), io.StringIO()
    async with recorder.connection() as connection:
        process = DomainDaemonProcess(
            connection=connection,
            identity=IDENTITY,
            settings=DaemonRegistrationSettings(has_pods=False),
            fabric_command=hosts_file_command(server.peers),
            log=DaemonDecisionLog(out, as_json=True),
            grace_period=timedelta(seconds=5),
        )
        running = asyncio.create_task(process.run())
        await until(lambda: server.nodes and server.nodes[0]["status"] == "Ready")
        yield server, recorder, out, running
