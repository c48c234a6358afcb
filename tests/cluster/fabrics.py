"""What tests of MNNVL read: ComputeDomains, objects that name their templates, and claims of their channels."""

from collections.abc import Mapping
from typing import Any, Final

from tests.cluster.api import Json
from tests.cluster.nvidia.definitions import DOMAINS
from tests.cluster.operators import Operator
from tests.cluster.scenes import Scene, condition

ON: Final[Mapping[str, Any]] = {"enabled": True}
OFF: Final[Mapping[str, Any]] = {}
ANNOTATION: Final = "grove.io/compute-domain-rct"
CLAIM: Final = "mnnvl-claim"
REPLICA: Final = "grove.io/podcliqueset-replica-index"
CONDITION: Final = "ComputeDomainsReady"
_PARTS: Final = ("podcliques", "podcliquescalinggroups", "pods")


def domains(scene: Scene) -> dict[str, str]:
    """Those that stay: name -> uid."""
    found = (each["metadata"] for each in scene.all_of(DOMAINS))
    return {each["name"]: each["uid"] for each in found if "deletionTimestamp" not in each}


def annotated(scene: Scene) -> dict[str, str | None]:
    """Every clique and scaling group by its name: the template that it names."""
    parts = [each for kind in ("podcliques", "podcliquescalinggroups") for each in scene.all_of(kind)]
    return {each["metadata"]["name"]: each["metadata"].get("annotations", {}).get(ANNOTATION) for each in parts}


def templates(pod: Json) -> list[str]:
    """The templates that a pod has claims of."""
    return [each["resourceClaimTemplateName"] for each in pod["spec"].get("resourceClaims", [])]


def users(pod: Json) -> dict[str, list[str]]:
    """What each container of a pod uses of its claims."""
    containers = pod["spec"]["containers"]
    return {
        each["name"]: [claim["name"] for claim in each.get("resources", {}).get("claims", [])] for each in containers
    }


def runs(scene: Scene) -> dict[tuple[str, str], tuple[Any, ...]]:
    """Everything that must stay as it is: uid and specification of every clique, group and pod, annotations with it."""
    return {
        (kind, each["metadata"]["name"]): (
            each["metadata"]["uid"],
            each["metadata"].get("annotations"),
            each["metadata"].get("labels"),
            each["spec"],
        )
        for kind in _PARTS
        for each in scene.all_of(kind)
    }


def failed(scene: Scene, name: str = "llama") -> str:
    """What the set says of domains that could not be made; nothing if it has no such condition."""
    found = condition(scene.find("podcliquesets", name), CONDITION)
    assert not found or (found["status"], found["reason"]) == ("False", "CreationFailed")
    return str(found.get("message", ""))


def written(operator: Operator, resource: str, verb: str = "create") -> dict[str, tuple[str, str]]:
    """Name -> when it was asked for, and when that was answered; names of pods apart, they are the server's."""
    return {
        event["objectRef"]["name"]: (event["requestReceivedTimestamp"], event["stageTimestamp"])
        for event in operator.writes(resource, verb)
    }
