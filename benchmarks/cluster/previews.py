"""How long an update of a set takes with a preview, beside many sets, one after the other.

Through the API server, which is what a user waits for; and asked by us over TLS, which is the answer of the webhook.

The edited set is that of the recorded cluster in ``examples``: 16 pods with 80 GPUs, made by the Go operator.
"""

import asyncio
import copy
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import aiohttp
import yaml

from benchmarks.cluster.admission import Latency, asked, called_webhook
from grove_core.resources.labels import SET
from grove_shell.client.api_kinds import KINDS
from grove_shell.client.api_session import MERGE, ApiSession
from grove_shell.client.connection_settings import read_connection_settings
from grove_shell.manifests.crd_definitions import grove_crd_manifests
from tests.cluster.api import wait_until
from tests.cluster.installing import apply
from tests.cluster.plane import ControlPlane
from tests.cluster.previewing import Preview
from tests.cluster.scenes import Scene, clique

Json = dict[str, Any]
NAMESPACE: Final = "llm-serving"
_RECORDED: Final = Path(__file__).parents[2] / "examples" / "real-cluster.yaml"
_ORDER: Final = ("PodCliqueSet", "PodCliqueScalingGroup", "PodClique", "PodGang", "Pod")
_EDITED: Final = "deepseek"
_IN_FLIGHT: Final = 32


def previews(plane: ControlPlane, folder: Path, sets: int, namespaces: int, many: int) -> tuple[list[Latency], float]:
    """Measure on a control plane on which nothing else happens, so many updates of each kind, as dry runs.

    Args:
        sets: other sets, each with a PodClique and a pod.
        namespaces: over which they are spread evenly; the first is that of the edited set.

    Returns:
        How long they take, and the seconds of the processor that the program spends on one preview.
    """
    api = plane.api()
    apply(api, grove_crd_manifests())
    spread = [NAMESPACE, *(f"team-{number}" for number in range(1, namespaces))]
    for name in spread:
        api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    scene = Scene(api, NAMESPACE, nodes=0)
    store_recorded_set(scene)
    asyncio.run(_store_others(plane, scene, sets, spread))
    preview = Preview(plane, scene, folder)
    apply(api, preview.objects)
    with preview.program.running() as process:
        preview.program.await_ready(process)
        wait_until(lambda: preview.program.said("authority registered"), bool, "it is trusted")
        edit = _edits(scene)
        wait_until(lambda: _warned(preview, edit), bool, "it is called")
        before = _processor_seconds(process.pid)
        beside = f"{sets:,} sets in {namespaces:,} namespaces"
        taken = asyncio.run(_taken(plane, edit, many, beside))
        spent = (_processor_seconds(process.pid) - before) / many
        return [*taken, asyncio.run(_answered(preview, edit, many, beside))], spent


def _processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def store_recorded_set(scene: Scene) -> None:
    """Store the recorded set with all its objects and their statuses; they get other uids."""
    documents = yaml.load_all(_RECORDED.read_text(encoding="utf-8"), yaml.CSafeLoader)
    found = [one for document in documents for one in document.get("items", [document])]
    uids: dict[str, str] = {}
    for kind in _ORDER:
        for one in found:
            meta = one["metadata"]
            if one["kind"] != kind or _EDITED not in {meta["name"], meta.get("labels", {}).get(SET.primary)}:
                continue
            owners = [{**owner, "uid": uids[owner["uid"]]} for owner in meta.get("ownerReferences", ())]
            kept = {key: meta[key] for key in ("name", "namespace", "labels", "annotations") if key in meta}
            stored = scene.api.create({**one, "metadata": {**kept, "ownerReferences": owners}}, NAMESPACE)
            uids[meta["uid"]] = stored["metadata"]["uid"]
            if "status" in one:
                scene.api.replace({**stored, "status": one["status"]}, subresource="status")


def _others(scene: Scene, sets: int, spread: Sequence[str]) -> Iterator[tuple[str, list[Json]]]:
    """Other sets, each with its namespace, a PodClique and a pod that waits for a node."""
    for number in range(sets):
        name, namespace = f"other-{number}", spread[number % len(spread)]
        root = scene.set_of(clique("a"), name=name)
        root["metadata"]["namespace"] = namespace
        spec = root["spec"]["template"]["cliques"][0]["spec"]
        labels = {SET.primary: name, "app.kubernetes.io/managed-by": "grove-operator"}
        metadata = {"name": f"{name}-0-a", "namespace": namespace, "labels": labels}
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {**spec["podSpec"]}}
        parts: Json = {"apiVersion": "grove.io/v1alpha1", "kind": "PodClique", "metadata": metadata, "spec": spec}
        yield namespace, [root, parts, pod]


async def _store_others(plane: ControlPlane, scene: Scene, sets: int, spread: Sequence[str]) -> None:
    connection = await read_connection_settings(str(plane.kubeconfig("admin")))
    left = iter(_others(scene, sets, spread))
    async with ApiSession(connection, in_flight=_IN_FLIGHT, timeout=120) as api:

        async def work() -> None:
            for namespace, objects in left:
                for one in objects:
                    answer = await api.request("POST", KINDS[one["kind"]].url_path(namespace), body=one)
                    if not answer.is_success:
                        raise RuntimeError(answer.error_message)

        await asyncio.gather(*(work() for _ in range(_IN_FLIGHT)))


def _edits(scene: Scene) -> Json:
    cliques = copy.deepcopy(scene.get("podcliquesets", _EDITED)["spec"]["template"]["cliques"])
    for one in cliques:
        one["spec"]["podSpec"]["containers"][0]["image"] = "example.com/other:2"
    return {"spec": {"template": {"cliques": cliques}}}


def _warned(preview: Preview, edit: Json) -> bool:
    whole = preview.scene.get("podcliquesets", _EDITED)
    whole["spec"]["template"] |= edit["spec"]["template"]
    kept = {key: whole["metadata"][key] for key in ("name", "namespace")}
    return bool(preview.applied({**whole, "metadata": kept, "status": {}}, dry=True))


async def _taken(plane: ControlPlane, edit: Json, many: int, beside: str) -> list[Latency]:
    """How long each dry run takes: one that is not previewed, as it changes a label alone, and one that is."""
    connection = await read_connection_settings(str(plane.kubeconfig("admin")))
    path = KINDS["PodCliqueSet"].url_path(NAMESPACE, _EDITED)
    found = []
    async with ApiSession(connection, timeout=120) as api:
        for what, body in (("not previewed", {"metadata": {"labels": {"a": "b"}}}), ("previewed", edit)):
            taken = []
            begun = time.perf_counter()
            for _ in range(many):
                start = time.perf_counter()
                answer = await api.request("PATCH", path, query={"dryRun": "All"}, body=body, content_type=MERGE)
                taken.append(time.perf_counter() - start)
                if not answer.is_success:
                    raise RuntimeError(answer.error_message)
            whole = time.perf_counter() - begun
            name = f"update of 16 pods beside {beside}, {what}"
            found.append(Latency(what=name, way="API server", taken=taken, whole=whole))
    return found


async def _answered(preview: Preview, edit: Json, many: int, beside: str) -> Latency:
    """How long the webhook takes to answer an update, with all that it lists meanwhile."""
    (registered,) = (one for one in preview.objects if "webhooks" in one)
    url, tls = called_webhook(preview.scene.get("validatingwebhookconfigurations", registered["metadata"]["name"]))
    old = preview.scene.get("podcliquesets", _EDITED)
    new = {**old, "spec": {**old["spec"], "template": old["spec"]["template"] | edit["spec"]["template"]}}
    taken = []
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=tls)) as session:
        begun = time.perf_counter()
        for _ in range(many):
            start = time.perf_counter()
            response = await asked(session, url, new, old)
            taken.append(time.perf_counter() - start)
            if "restarts" not in response["warnings"][0]:
                raise RuntimeError(response)
        whole = time.perf_counter() - begun
    return Latency(what=f"update of 16 pods beside {beside}, previewed", way="webhook", taken=taken, whole=whole)
