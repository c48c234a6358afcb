"""Webhooks that judge topologies, on a real API server: what they say, and what ``grove validate`` says beside them."""

import contextlib
import copy
import http.client
import json
import re
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import pytest
import yaml

from grove_core.resources.cluster_topology import DEFAULT_TOPOLOGY, TopologyLevel
from grove_core.resources.configuration import TopologyAwareSettings
from grove_shell.cli.main import run_command_line
from grove_shell.settings.webhook_settings import GUARDING, VALIDATION
from tests.cluster.api import APPLY, MERGE, PLAIN, ApiError, Json, wait_until
from tests.cluster.installing import Program, apply, remove_cluster_wide
from tests.cluster.plane import REVIEWER, ControlPlane
from tests.cluster.scenes import Scene, light
from tests.cluster.webhooks import SETS, Installed, written

TOPOLOGIES: Final = "clustertopologies"
PLACING: Final = TopologyAwareSettings(
    enabled=True,
    levels=(TopologyLevel("zone", "topology.kubernetes.io/zone"), TopologyLevel("host", "kubernetes.io/hostname")),
)
ZONE: Final = ("zone", "topology.kubernetes.io/zone")
RACK: Final = ("rack", "example.com/rack")
HOST: Final = ("host", "kubernetes.io/hostname")
RACKS: Final = (ZONE, RACK, HOST)
BLOCKS: Final = (ZONE, ("block", "example.com/block"), RACK, HOST)
_DENIED: Final = re.compile(r'admission webhook "(?P<by>[^"]+)" denied the request: (?P<words>.*)', re.DOTALL)
_QUOTED: Final = re.compile(r'299 \S+ "(?P<text>(?:[^"\\]|\\.)*)"')


@dataclass(frozen=True, slots=True)
class Said:
    """An answer of the API server.

    Attributes:
        by: the webhook that refused; empty where none did.
        words: of the refusal.
        warnings: as kubectl prints them, in order.
        code: of HTTP.
    """

    by: str
    words: str
    warnings: tuple[str, ...]
    code: int

    @property
    def rules(self) -> set[str]:
        """The numbers of the rules that are named in the refusal."""
        return set(re.findall(r"\(([A-Z]{2}-\d{3})\)", self.words))


def topology(name: str, *levels: tuple[str, str], **metadata: Any) -> Json:
    """A ClusterTopology."""
    return {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "ClusterTopology",
        "metadata": {"name": name, **metadata},
        "spec": {"levels": [{"domain": domain, "key": key} for domain, key in levels or RACKS]},
    }


class Guarded:
    """Webhooks of all namespaces beside an API server, with a set of tools to ask both them and ``grove validate``."""

    def __init__(self, plane: ControlPlane, scene: Scene, folder: Path) -> None:
        self.plane = plane
        self.scene = scene
        self.api = scene.api
        self.installed = Installed(plane, scene.namespace, folder, topology=PLACING, everywhere=True)
        self.program: Program = self.installed.program()
        self._folder = folder
        self._lives = contextlib.ExitStack()
        self.begun = now()

    def start(self) -> None:
        """Start them, again if need be, and wait until they are called."""
        self.program.await_ready(self._lives.enter_context(self.program.running()))
        self.installed.is_called()
        odd = topology(DEFAULT_TOPOLOGY, ("host", "odd"))
        wait_until(
            lambda: self.applied(odd, dry=True).rules, lambda rules: rules == {"TP-085"}, "topologies are judged"
        )

    def stop(self) -> None:
        """End them as a cluster does."""
        self._lives.close()

    def close(self) -> None:
        """Remove everything that others would see; the webhooks cannot be called any more when the process ends."""
        remove_cluster_wide(self.api, self.installed.objects)
        odd, wrong = topology(DEFAULT_TOPOLOGY, ("host", "odd")), self.racked("wrong", "nowhere")
        try:
            wait_until(
                lambda: [self.applied(odd, dry=True).words, self.applied(wrong, dry=True).words, self._defaults()],
                lambda found: not any(found),
                "the API server has forgotten them",
            )
        finally:
            self.stop()
        for kind, namespace in ((SETS, self.scene.namespace), (TOPOLOGIES, None)):
            for found in self.api.all_of(kind, namespace):
                name = found["metadata"]["name"]
                if found["metadata"].get("finalizers"):
                    self.api.patch(kind, name, namespace, patch={"metadata": {"finalizers": None}})
                if "deletionTimestamp" not in found["metadata"]:
                    self.api.delete(kind, name, namespace)

    def _defaults(self) -> str:
        """What is written into a set that says nothing of its thresholds, or why it cannot be stored."""
        bare = self.set_of("bare")
        try:
            said = self.api.request("POST", f"{self._place(bare)}?dryRun=All", bare)
        except ApiError as fault:
            return fault.message
        return str(said["spec"]["template"]["cliques"][0]["spec"].get("minAvailable", ""))

    # what is asked

    def set_of(self, name: str, **template: Any) -> Json:
        """A set of one clique, for a scheduler of gangs: it has no thresholds, so that the webhook writes some."""
        clique = light("a", 2)
        clique["spec"]["podSpec"]["schedulerName"] = "kai-scheduler"
        del clique["spec"]["minAvailable"]
        return self.scene.set_of(clique, name=name, **template)

    def racked(self, name: str, named: str = "", domain: str = "rack") -> Json:
        """A set with a constraint, and perhaps the name of a topology."""
        return self.set_of(
            name, topologyConstraint={"packDomain": domain}, **({"clusterTopologyName": named} if named else {})
        )

    def bind(self, name: str, pods: int | None) -> None:
        """Have a PodClique of a set say that so many of its pods are bound; None to take it away."""
        clique = f"{name}-0-a"
        if pods is None:
            self.api.delete("podcliques", clique, self.scene.namespace)
            return
        if not self.scene.find("podcliques", clique):
            labels = {"app.kubernetes.io/part-of": name, "grove.io/podcliqueset-replica-index": "0"}
            made = {
                "apiVersion": "grove.io/v1alpha1",
                "kind": "PodClique",
                "metadata": {"name": clique, "namespace": self.scene.namespace, "labels": labels},
                "spec": light("a", 2)["spec"],
            }
            self.api.create(made)
        self.scene.patch("podcliques", clique, {"status": {"scheduledReplicas": pods}}, subresource="status")

    # what is said

    def create(self, manifest: Json) -> Said:
        return self._say("POST", self._place(manifest), manifest)

    def dry(self, manifest: Json) -> Said:
        """As ``kubectl create --dry-run=server``."""
        return self._say("POST", f"{self._place(manifest)}?dryRun=All", manifest)

    def applied(self, manifest: Json, *, dry: bool = False) -> Said:
        """As ``kubectl apply --server-side``."""
        query = "fieldManager=kubectl&force=true" + ("&dryRun=All" if dry else "")
        return self._say("PATCH", f"{self._one(manifest)}?{query}", manifest, APPLY)

    def patched(self, manifest: Json, patch: Json) -> Said:
        return self._say("PATCH", self._one(manifest), patch, MERGE)

    def deleted(self, manifest: Json, *, dry: bool = False) -> Said:
        return self._say("DELETE", f"{self._one(manifest)}{'?dryRun=All' if dry else ''}", None)

    def _place(self, manifest: Json) -> str:
        return self.api.resource(manifest["kind"]).path(manifest["metadata"].get("namespace"))

    def _one(self, manifest: Json) -> str:
        return f"{self._place(manifest)}/{manifest['metadata']['name']}"

    def _say(self, method: str, path: str, body: Json | None, media: str = PLAIN) -> Said:
        """One request, with the warnings that come with its answer."""
        config = yaml.load(self.plane.kubeconfig("admin").read_text(encoding="utf-8"), yaml.CSafeLoader)
        context = ssl.create_default_context(cafile=str(self.plane.authority))
        connection = http.client.HTTPSConnection(urlsplit(self.plane.url).netloc, context=context, timeout=60)
        headers = {"Authorization": f"Bearer {config['users'][0]['user']['token']}", "Content-Type": media}
        try:
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            said = json.loads(answer.read())
        finally:
            connection.close()
        lines = answer.headers.get_all("Warning", [])
        warnings = tuple(re.sub(r"\\(.)", r"\1", match["text"]) for line in lines for match in _QUOTED.finditer(line))
        refused = answer.status >= http.client.BAD_REQUEST
        denied = _DENIED.match(said["message"]) if refused else None
        words = denied["words"] if denied else said["message"] if refused else ""
        return Said(denied["by"] if denied else "", words, warnings, answer.status)

    def offline(self, manifest: Json, capsys: pytest.CaptureFixture[str]) -> tuple[str, tuple[str, ...]]:
        """What ``grove validate`` says of it beside a dump of this cluster: the refusal, and the warnings.

        Without any PodClique in the cluster the owners of bound pods are unknown offline (TP-072): bind some first.
        """
        kinds = (TOPOLOGIES, SETS, "podcliques")
        items = [one for kind in kinds for one in self.api.all_of(kind)]
        for name, held in (
            ("dump", {"apiVersion": "v1", "kind": "List", "items": items}),
            ("new", manifest),
            ("config", {"topologyAwareScheduling": written(PLACING)}),
        ):
            (self._folder / f"{name}.json").write_text(json.dumps(held), encoding="utf-8")
        words = [str(self._folder / f"{name}.json") for name in ("new", "dump", "config")]
        run_command_line(["validate", "-f", words[0], "--old", words[1], "--config", words[2], "-o", "json"], "grove")
        (verdict,) = json.loads(capsys.readouterr().out)["verdicts"]
        lines = [
            [f"{one['path']}: {one['sentence']}, got {one['got']} ({one['requirement']})" for one in verdict[key]]
            for key in ("objections", "warnings")
        ]
        count = f"{len(lines[0])} problem{'s' if len(lines[0]) > 1 else ''}: "
        return count + "; ".join(lines[0]) if lines[0] else "", tuple(lines[1])

    def agree(self, manifest: Json, capsys: pytest.CaptureFixture[str]) -> set[str]:
        """The rules that refuse a manifest: by creation or change, dry or not, the same words as offline."""
        said = self.applied(manifest, dry=True)
        words, warnings = self.offline(manifest, capsys)
        assert (said.words, said.warnings) == (words, warnings)
        if said.words:
            guards = {"PodCliqueSet": VALIDATION, "ClusterTopology": GUARDING[0]}
            assert (said.by, said.code) == (guards[manifest["kind"]], 422)
            assert self.applied(manifest) == said, "a dry run is judged like any other"
        return said.rules

    def asked(self, since: datetime) -> list[tuple[str, str, int]]:
        """What the webhooks have asked for, discovery apart: verb, resource and how that was answered."""
        return [
            (event["verb"], event["objectRef"]["resource"], event["responseStatus"]["code"])
            for event in self.plane.audit(REVIEWER)
            if "objectRef" in event
            if datetime.fromisoformat(event["requestReceivedTimestamp"]) >= since
        ]


@contextlib.contextmanager
def guarding(plane: ControlPlane, scene: Scene, folder: Path) -> Iterator[Guarded]:
    """Webhooks that may do what is printed for them, in an API server that will call them."""
    guarded = Guarded(plane, scene, folder)
    apply(guarded.api, guarded.installed.objects)
    try:
        yield guarded
    finally:
        guarded.close()


def bound(guarded: Guarded, name: str, pods: int | None) -> None:
    """Have pods of a stored set be bound, and wait until the webhooks have heard of it."""
    guarded.bind(name, pods)
    other = copy.deepcopy(guarded.scene.get("podcliquesets", name))
    stored = other["spec"]["template"].get("clusterTopologyName", "")
    probe = guarded.racked(name, "h100" if stored == "gb200" else "gb200")
    wait_until(
        lambda: "TP-062" in guarded.applied(probe, dry=True).rules,
        lambda locked: locked == bool(pods),
        "it is heard of",
    )


def now() -> datetime:
    """By the clock of the audit log."""
    return datetime.now(UTC)
