"""What a node offers to a scheduler for ComputeDomains: device classes, and the devices behind them.

As the driver publishes it, a node has one channel, so one pod with a claim of its own. A claim that many pods on many
nodes share needs a device that belongs to no node; only a design document has it, and its class selects it by name.
"""

import contextlib
from collections.abc import Iterator
from typing import Final

from tests.cluster.api import Api, Json
from tests.cluster.nvidia.definitions import GROUP, VERSION

DRIVER: Final = "compute-domain.nvidia.com"
CHANNEL_CLASS: Final = "compute-domain-default-channel.nvidia.com"
SHARED_CLASS: Final = "compute-domain.nvidia.com"
DOMAIN_LABEL: Final = f"{GROUP}/computeDomain"
TARGET_LABEL: Final = f"{GROUP}/computeDomainTarget"
FINALIZER: Final = f"{GROUP}/computeDomain"
RESOURCE_VERSION: Final = "resource.k8s.io/v1"
_MINE: Final = f"device.driver == '{DRIVER}'"
_ATTRIBUTES: Final = f"device.attributes['{DRIVER}']"
_CLASSES: Final = {
    CHANNEL_CLASS: f"{_MINE} && {_ATTRIBUTES}.type == 'channel' && {_ATTRIBUTES}.id == 0",
    SHARED_CLASS: f"{_MINE} && has({_ATTRIBUTES}.name)",
}


@contextlib.contextmanager
def device_classes(api: Api) -> Iterator[None]:
    """Both classes, as long as the block lasts."""
    for name, expression in _CLASSES.items():
        spec = {"selectors": [{"cel": {"expression": expression}}]}
        api.create({"apiVersion": RESOURCE_VERSION, "kind": "DeviceClass", "metadata": {"name": name}, "spec": spec})
    try:
        yield
    finally:
        for name in _CLASSES:
            api.delete("deviceclasses", name)


def slice_of_node(node: Json, channels: int = 1) -> Json:
    """The devices of a node, which go with it: its daemon, and channels of number 0."""
    metadata = node["metadata"]
    owner = {"apiVersion": "v1", "kind": "Node", "name": metadata["name"], "uid": metadata["uid"], "controller": True}
    devices = [_device("daemon", type={"string": "daemon"}, id={"int": 0})]
    devices += [_device(f"channel-{number}", type={"string": "channel"}, id={"int": 0}) for number in range(channels)]
    return _slice(
        f"{metadata['name']}-{DRIVER}",
        {"nodeName": metadata["name"], "devices": devices},
        pool=metadata["name"],
        ownerReferences=[owner],
    )


def slice_of_domain(domain: Json, nodes: Json) -> Json:
    """The one device of a domain of the design, for as many pods as share a claim to it.

    Args:
        domain: as stored.
        nodes: labels of the nodes from which it can be reached.
    """
    uid, name = domain["metadata"]["uid"], domain["metadata"]["name"]
    wanted = [{"key": key, "operator": "In", "values": [value]} for key, value in nodes.items()]
    reach = {"nodeSelectorTerms": [{"matchExpressions": wanted}]}
    devices = [_device("domain", name={"string": name})]
    return _slice(uid, {"nodeSelector": reach, "devices": devices}, pool=uid, labels={DOMAIN_LABEL: uid})


def channel_template(name: str, domain: Json, mode: str) -> Json:
    """The template from which each pod of a domain gets a claim to a channel."""
    uid = domain["metadata"]["uid"]
    kind = {"apiVersion": f"{GROUP}/{VERSION}", "kind": "ComputeDomainChannelConfig"}
    reported = {"driver": DRIVER, "parameters": {**kind, "domainID": uid, "allocationMode": mode}}
    devices = {
        "requests": [{"name": "channel", "exactly": {"deviceClassName": CHANNEL_CLASS}}],
        "config": [{"requests": ["channel"], "opaque": reported}],
    }
    return {
        "apiVersion": RESOURCE_VERSION,
        "kind": "ResourceClaimTemplate",
        "metadata": {
            "name": name,
            "namespace": domain["metadata"]["namespace"],
            "labels": {DOMAIN_LABEL: uid, TARGET_LABEL: "Workload"},
            "finalizers": [FINALIZER],
        },
        "spec": {"spec": {"devices": devices}},
    }


def node_held_by(claim: Json, domain: Json) -> str | None:
    """The node on which a claim holds a channel of a domain for some pod; None if it holds none."""
    status = claim.get("status", {})
    if not status.get("reservedFor"):
        return None
    devices = status["allocation"]["devices"]
    reported = [each["opaque"]["parameters"].get("domainID") for each in devices.get("config", ())]
    pools = [each["pool"] for each in devices.get("results", ()) if each["driver"] == DRIVER]
    return pools[0] if pools and domain["metadata"]["uid"] in reported else None


def _device(device: str, **attributes: Json) -> Json:
    return {"name": device, "attributes": attributes}


def _slice(slice_name: str, content: Json, *, pool: str, **metadata: Json | list[Json]) -> Json:
    whole = {"name": pool, "generation": 1, "resourceSliceCount": 1}
    return {
        "apiVersion": RESOURCE_VERSION,
        "kind": "ResourceSlice",
        "metadata": {"name": slice_name, **metadata},
        "spec": {"driver": DRIVER, "pool": whole, **content},
    }
