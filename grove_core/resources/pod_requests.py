"""What pods request of a node: thousandths of each resource, as the scheduler counts them (TP-103, PL-045).

Total: unreadable amounts are reported.
"""

import re
from collections.abc import Mapping, MutableMapping
from typing import Any, Final, NamedTuple, TypeAlias

from msgspec import Raw

from grove_core.kernel.errors import ObjectProblem
from grove_core.kernel.frozen import FrozenDict, FrozenMap
from grove_core.resources.decoded_pod import DecodedPodSpec, decode_value
from grove_core.resources.json_field_reader import JsonFieldReader
from grove_core.resources.pod_spec_gpus import GPU, gpu_count_of_pod_spec
from grove_core.resources.quantities import parse_quantity

PODS: Final = "pods"
THOUSANDTHS: Final = 1000
_GPU: Final = GPU.encode()
_WHOLE_GPUS: Final = re.compile(rb'"%b" *: *"([0-9]{1,9})"' % re.escape(_GPU))
_PLAIN: Final = 18  # digits
_OF_THE_POD: Final = ("cpu", "memory")

Amounts = Mapping[str, int]
"""Resource -> thousandths."""


class PodRequests(NamedTuple):
    """What one pod takes of its node.

    Attributes:
        gpus: that it holds while it runs (PL-019).
        amounts: thousandths by resource, including one pod; None where a part of them is unreadable.
    """

    gpus: int
    amounts: FrozenDict[str, int] | None


RequestsMemo: TypeAlias = MutableMapping[bytes, PodRequests]
"""What specs were found to request, by the parts of them that count; for the many pods of one template."""


def pod_requests_of_spec(spec: DecodedPodSpec, memo: RequestsMemo) -> PodRequests:
    """Return what a pod with this spec requests; each distinct request is computed once."""
    key = _request_text(spec)
    found = memo.get(key)
    if found is None:
        problems: list[ObjectProblem] = []
        counted = _counted_parts(spec)
        amounts = resource_amounts_of_pod(JsonFieldReader(counted, "", problems))
        gpus = gpu_count_of_pod_spec(FrozenMap.view_of(counted))
        found = memo[key] = PodRequests(gpus, None if problems else FrozenDict(amounts))
    return found


def gpus_of_spec(spec: DecodedPodSpec) -> int:
    """Return the GPUs that a pod with this spec holds while it runs (PL-019); most amounts are read without parsing."""
    main = [_whole_gpus_in(one.resources) for one in spec.containers or ()]
    first = [_whole_gpus_in(one.resources) for one in spec.init_containers or ()]
    if None in main or None in first:
        return gpu_count_of_pod_spec(FrozenMap.view_of(_counted_parts(spec)))
    return max(sum(filter(None, main)), *filter(None, first), 0)


def _whole_gpus_in(resources: Raw) -> int | None:
    """Return the GPUs in the JSON text of a container's resources; None where it has to be parsed."""
    text = bytes(resources)
    amounts = _WHOLE_GPUS.findall(text)
    if b"\\" in text or text.count(_GPU) != len(amounts):
        return None
    return max(map(int, amounts), default=0)


def _request_text(spec: DecodedPodSpec) -> bytes:
    """Return everything of a spec that requests depend on, as one text; equal texts have equal requests."""
    containers = spec.containers or ()
    main = bytes(containers[0].resources) if len(containers) == 1 else b"\n".join([one.resources for one in containers])
    if not (spec.init_containers or spec.resources or spec.overhead):
        return main
    first = [b"%a %b" % (one.restart_policy, one.resources) for one in spec.init_containers or ()]
    return b"\n".join((main, b"\n".join(first), spec.resources, spec.overhead))


def _counted_parts(spec: DecodedPodSpec) -> dict[str, Any]:
    """Return the parts of a spec that requests depend on, as in its manifest."""
    main = [{"resources": decode_value(one.resources)} for one in spec.containers or ()]
    first = [
        {"resources": decode_value(one.resources), "restartPolicy": one.restart_policy}
        for one in spec.init_containers or ()
    ]
    whole = {"resources": decode_value(spec.resources), "overhead": decode_value(spec.overhead)}
    return {"containers": main, "initContainers": first, **whole}


def resource_amounts_of_pod(spec: JsonFieldReader) -> dict[str, int]:
    """Return thousandths of each resource as the scheduler counts them, including one pod (TP-103)."""
    running: dict[str, int] = {}
    peak: dict[str, int] = {}
    for container in spec.inner_objects("initContainers"):
        requests = _requests(container)
        if container.text("restartPolicy") == "Always":
            _add(running, requests)
            _raise(peak, running)
        else:
            _raise(peak, {key: running.get(key, 0) + amount for key, amount in requests.items()})
    for container in spec.inner_objects("containers"):
        _add(running, _requests(container))
    _raise(peak, running)
    whole = _requests(spec)
    peak |= {key: amount for key, amount in whole.items() if key in _OF_THE_POD or key.startswith("hugepages-")}
    _add(peak, read_resource_amounts(spec.inner_object("overhead")))
    return {key: amount for key, amount in peak.items() if amount} | {PODS: THOUSANDTHS}


def read_resource_amounts(part: JsonFieldReader) -> dict[str, int]:
    """Return thousandths by resource, rounded up; invalid amounts are noted."""
    found = {}
    for key, value in part.raw.items():
        if value.__class__ is str and value.isdecimal() and value.isascii() and len(value) <= _PLAIN:
            found[key] = int(value) * THOUSANDTHS  # what most amounts of most nodes are
            continue
        amount = parse_quantity(value)
        if amount is None or amount < 0:
            part.add_problem(key, "an amount such as 8, 500m or 64Gi", value)
        else:
            found[key] = -int(-amount * THOUSANDTHS // 1)
    return found


def _requests(holder: JsonFieldReader) -> dict[str, int]:
    """Return the requests; a resource with a limit only is requested too."""
    resources = holder.inner_object("resources")
    return {
        **read_resource_amounts(resources.inner_object("limits")),
        **read_resource_amounts(resources.inner_object("requests")),
    }


def _add(total: dict[str, int], more: Amounts) -> None:
    for key, amount in more.items():
        total[key] = total.get(key, 0) + amount


def _raise(peak: dict[str, int], other: Amounts) -> None:
    for key, amount in other.items():
        peak[key] = max(peak.get(key, 0), amount)
