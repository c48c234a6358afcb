"""What tests of MNNVL by annotation make and read: the sharers of each domain, and its owner."""

import contextlib
from collections.abc import Mapping
from typing import Any, Final, Self

from grove_core.resources.configuration import MnnvlConfiguration, MnnvlMode
from tests.cluster.api import ApiError, Json, wait_until
from tests.cluster.fabrics import domains
from tests.cluster.nvidia.definitions import DOMAINS
from tests.cluster.scenes import API_VERSION, Scene, clique
from tests.cluster.webhooks import Installed

SHARED: Final = MnnvlConfiguration(enabled=True, mode=MnnvlMode.ANNOTATIONS)
REPORTED: Final[Mapping[str, Any]] = {"enabled": True, "mode": "annotations"}
CLAIMS: Final = "resourceclaims"
CLAIM: Final = "mnnvl"
ADOPTED: Final = "grove.io/mnnvl-resources-adopted"
KINDS: Final = {DOMAINS: "-cd", CLAIMS: "-mnnvl-claim"}


def says(**annotations: str) -> Json:
    """Annotations of MNNVL: ``says(enabled="true", device_class="x")``."""
    return {f"grove.io/mnnvl-{key.replace('_', '-')}": value for key, value in annotations.items()}


def shares(scope: str = "") -> Json:
    """The annotations of an object that opts in."""
    return says(enabled="true", **({"scope": scope} if scope else {}))


def enabled(manifest: Json, scope: str = "") -> Json:
    """A set that opts in as a whole."""
    manifest["metadata"]["annotations"] = shares(scope)
    return manifest


def lone(root: Json, name: str, **annotations: str) -> Json:
    """A standalone PodClique of replica 0 of a stored set, as a user without an operator makes it by hand."""
    set_name, namespace = root["metadata"]["name"], root["metadata"]["namespace"]
    labels = {
        "app.kubernetes.io/part-of": set_name,
        "grove.io/podcliqueset-replica-index": "0",
        "grove.io/podgang": f"{set_name}-0",
    }
    owner = {"apiVersion": API_VERSION, "kind": "PodCliqueSet", "name": set_name, "uid": root["metadata"]["uid"]}
    return {
        "apiVersion": API_VERSION,
        "kind": "PodClique",
        "metadata": {
            "name": f"{set_name}-0-{name}",
            "namespace": namespace,
            "labels": labels,
            "annotations": says(**(annotations or {"enabled": "true"})),
            "ownerReferences": [{**owner, "controller": True, "blockOwnerDeletion": True}],
        },
        "spec": clique(name)["spec"],
    }


def owners(scene: Scene) -> dict[str, tuple[str, str]]:
    """Every domain and every claim that stays and is shared: kind and name of its one controller."""
    found = {}
    for kind in KINDS:
        for each in scene.all_of(kind, labelSelector="grove.io/mnnvl-managed=true"):
            metadata = each["metadata"]
            if "deletionTimestamp" not in metadata:
                (owner,) = metadata["ownerReferences"]
                assert owner["controller"]
                assert owner.get("blockOwnerDeletion", False) == (owner["kind"] == "PodGang")
                found[metadata["name"]] = (owner["kind"], owner["name"])
    return found


def pairs(*stems: str) -> set[str]:
    """The names of domains and claims by their stems."""
    return {f"{stem}{suffix}" for stem in stems for suffix in KINDS.values()}


def claims_of(holder: Json) -> list[str]:
    """The claims that a PodClique or a pod holds by name."""
    spec = holder["spec"].get("podSpec", holder["spec"])
    return [each["resourceClaimName"] for each in spec.get("resourceClaims", [])]


class Joining:
    """Webhooks of this mode: stopped and started again, and called once ``start`` is over."""

    def __init__(self, installed: Installed, scene: Scene) -> None:
        self.installed = installed
        self._scene = scene
        self._lives = contextlib.ExitStack()
        self.runs = False

    def start(self) -> Self:
        """Start one process, again if need be, and wait until the API server calls it about PodCliques."""
        program = self.installed.program()
        program.await_ready(self._lives.enter_context(program.running()))
        self.installed.is_called()
        wait_until(self._refused, lambda words: "MS-039" in words, "PodCliques are judged")
        self.runs = True
        return self

    def stop(self) -> None:
        """End it as a cluster does."""
        self.runs = False
        self._lives.close()

    def made(self) -> list[str]:
        """The kinds of what they made, in order."""
        return [resource for verb, resource, code in self.installed.asked() if (verb, code) == ("create", 201)]

    def _refused(self) -> str:
        """What they say of a PodClique of no set."""
        root = {"metadata": {"name": "nobody", "namespace": self._scene.namespace, "uid": "none"}}
        try:
            dry(self._scene, lone(root, "probe"))
        except ApiError as fault:
            return fault.message
        return ""


def dry(scene: Scene, manifest: Json) -> Json:
    """What a creation would lead to, by a dry run."""
    path = scene.api.resource(manifest["kind"]).path(scene.namespace)
    answer: Json = scene.api.request("POST", f"{path}?dryRun=All", manifest)
    return answer


def see_one_each(scene: Scene, *stems: str) -> None:
    """Exactly these domains, and a claim that leads to each of them."""
    assert sorted(domains(scene)) == sorted(f"{stem}-cd" for stem in stems)
    for stem in stems:
        claim = scene.get(CLAIMS, f"{stem}-mnnvl-claim")
        (asked,) = claim["spec"]["devices"]["requests"]
        (selector,) = asked["exactly"]["selectors"]
        assert asked["exactly"]["deviceClassName"] == "compute-domain.nvidia.com"
        assert selector["cel"]["expression"].endswith(f'.name == "{stem}-cd"')
