"""Pod specs, what an API server refuses in them as pods, and the warnings about them as templates."""

from typing import Any, Final, NamedTuple

Json = dict[str, Any]
GPU: Final = "nvidia.com/gpu"


class PodCase(NamedTuple):
    """A pod spec.

    Attributes:
        refusal: part of the message of Kubernetes 1.37; empty where it creates the pod.
        warned: rules and paths of the warnings.
    """

    name: str
    spec: Json
    refusal: str
    warned: tuple[tuple[str, str], ...]


def asking(requests: Json | None = None, limits: Json | None = None) -> Json:
    given = {"requests": requests, "limits": limits}
    resources = {key: amounts for key, amounts in given.items() if amounts is not None}
    return {"containers": [{"name": "main", "image": "x", "resources": resources}]}


def of_request(rule: str, name: str) -> tuple[tuple[str, str], ...]:
    return ((rule, f"containers[0].resources.requests[{name}]"),)


MAIN: Final = {"name": "main", "image": "x"}
INIT: Final = {"name": "init", "image": "x", "resources": {"requests": {GPU: 1}}}
NO_LIMIT: Final = "Limit must be set for non overcommitable resources"
CASES: Final = (
    PodCase(
        "no_image", {"containers": [{"name": "main"}]}, "image: Required value", (("WL-252", "containers[0].image"),)
    ),
    PodCase(
        "empty_image_of_init_container",
        {"containers": [MAIN], "initContainers": [{"name": "init", "image": ""}]},
        "image: Required value",
        (("WL-252", "initContainers[0].image"),),
    ),
    PodCase("gpu_requested_alone", asking({GPU: 1}), NO_LIMIT, of_request("WL-253", GPU)),
    PodCase("no_gpu_requested_alone", asking({GPU: 0}), NO_LIMIT, of_request("WL-253", GPU)),
    PodCase(
        "gpu_of_init_container",
        {"containers": [MAIN], "initContainers": [INIT]},
        NO_LIMIT,
        (("WL-253", f"initContainers[0].resources.requests[{GPU}]"),),
    ),
    PodCase(
        "fewer_gpus_requested",
        asking({GPU: 1}, {GPU: 2}),
        "must be equal to nvidia.com/gpu limit of 2",
        of_request("WL-253", GPU),
    ),
    PodCase("gpus_in_another_form", asking({GPU: "2"}, {GPU: 2}), "", ()),
    PodCase("gpu_limit_alone", asking(None, {GPU: 1}), "", ()),
    PodCase(
        "huge_pages_requested_alone",
        asking({"hugepages-2Mi": "2Mi", "cpu": 1}),
        NO_LIMIT,
        of_request("WL-253", "hugepages-2Mi"),
    ),
    PodCase("kubernetes_own_name", asking({"kubernetes.io/x": 1}), "", ()),
    PodCase(
        "cpu_above_its_limit",
        asking({"cpu": 2}, {"cpu": "1500m"}),
        "must be less than or equal to cpu limit",
        of_request("WL-254", "cpu"),
    ),
    PodCase("memory_below_its_limit", asking({"memory": "1Gi", "cpu": 2}, {"memory": "2Gi"}), "", ()),
)
