"""The webhooks as a process under test, for one namespace, as a user with exactly the rights that are printed."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from grove_core.resources.configuration import MnnvlConfiguration, TopologyAwareSettings
from grove_shell.actions.manifests import installation_objects
from grove_shell.manifests.installation import WEBHOOKS, InstallationOptions
from tests.cluster.api import Api, ApiError, Json, wait_until
from tests.cluster.installing import Program, access_for, clique, free_port, grove_set
from tests.cluster.plane import REVIEWER, ControlPlane
from tests.cluster.programs import HOST

SETS: Final = "podcliquesets"
OFF: Final = MnnvlConfiguration()
BLIND: Final = TopologyAwareSettings()
LONG_AGO: Final = datetime(2000, 1, 1, tzinfo=UTC)


def on_loopback(registration: Json) -> Json:
    """A registration for an address without a listener yet: a Service would be looked for outside this machine."""
    nowhere = f"https://{HOST}:{free_port()}"
    moved = [
        {**webhook, "clientConfig": {"url": f"{nowhere}{webhook['clientConfig']['service']['path']}"}}
        for webhook in registration["webhooks"]
    ]
    return {**registration, "webhooks": moved}


def written(topology: TopologyAwareSettings) -> Json:
    """As a configuration file has it."""
    return {"enabled": topology.enabled, "levels": [level._asdict() for level in topology.levels]}


class Installed:
    """Webhooks for one namespace.

    Args:
        plane: whose API server calls them.
        namespace: whose sets they judge, and where their Secret is.
        folder: for configuration and log.
        mnnvl, topology: what they are configured with for both.
        everywhere: whether they judge the sets of all namespaces; such a caller cleans up before the next test.
    """

    def __init__(
        self,
        plane: ControlPlane,
        namespace: str,
        folder: Path,
        mnnvl: MnnvlConfiguration = OFF,
        topology: TopologyAwareSettings = BLIND,
        *,
        everywhere: bool = False,
    ) -> None:
        self.api: Api = plane.api()
        self.plane = plane
        self.namespace = namespace
        self._folder = folder
        self._mnnvl = mnnvl
        self._topology = topology
        self._watched = "" if everywhere else namespace
        installation = InstallationOptions(home=namespace, watched=self._watched, mnnvl=mnnvl, topology=topology)
        self.registration = [one for one in installation_objects(installation, ("webhooks",)) if "webhooks" in one]
        self.objects = [*access_for(installation, {WEBHOOKS: REVIEWER}), *map(on_loopback, self.registration)]

    def program(self, name: str = "webhooks", callers: Json | None = None, **certificates: Any) -> Program:
        """One process of them, which these callers may call; all by default."""
        config = {
            "kind": "WebhookConfiguration",
            "certificates": {"checkEvery": "300ms", "settle": "1s", **certificates},
            "listening": {"host": HOST, "port": 0, "callers": callers or {}},
            "farewell": "300ms",
            "mnnvl": {"enabled": self._mnnvl.enabled, "mode": self._mnnvl.mode.value},
            "topologyAwareScheduling": written(self._topology),
        }
        words = ["webhooks", "--kubeconfig", str(self.plane.kubeconfig(REVIEWER)), "-n", self.namespace]
        words += [*(["--watch-namespace", self._watched] if self._watched else []), "--url-host", HOST]
        return Program(words, config, self._folder / f"{name}.log")

    def create(self, manifest: Json) -> Json:
        return self.api.create(manifest, self.namespace)

    def set_of(self, name: str, *cliques: Json, **template: Any) -> Json:
        return grove_set(name, self.namespace, *(cliques or (clique("a", 2),)), **template)

    def is_called(self) -> None:
        """Wait until the API server trusts us and calls: a set without thresholds comes back with one."""

        def judged() -> str:
            try:
                path = self.api.resource(SETS).path(self.namespace)
                said = self.api.request("POST", f"{path}?dryRun=All", self.set_of("probe"))
            except ApiError as fault:
                return str(fault)
            return str(said["spec"]["template"]["cliques"][0]["spec"].get("minAvailable"))

        wait_until(judged, lambda said: said == "2", "defaults are written")

    def asked(self, since: datetime = LONG_AGO) -> list[tuple[str, str, int]]:
        """What they asked for in their namespace: verb, resource and how that was answered, in order.

        A request may be logged some time after its response, so it is distinguished from others by its arrival time.
        """
        return [
            (event["verb"], event["objectRef"]["resource"], event["responseStatus"]["code"])
            for event in self.plane.audit(REVIEWER)
            if self.namespace in event["requestURI"]
            if datetime.fromisoformat(event["requestReceivedTimestamp"]) >= since
        ]
