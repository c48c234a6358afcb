"""The bytes that the model counts with are those of objects as an API server writes them."""

import json
from typing import Any

import pytest

from grove_core.areas.domain_cliques.daemon.daemon_entry_requests import daemon_entry_write_request
from grove_core.areas.domain_cliques.daemon.daemon_input import DaemonInput, ObservedDaemonRegistry, RegistrationState
from grove_core.areas.domain_cliques.daemon.registration_protocols import RegistrationProtocol
from grove_core.areas.domain_cliques.daemon.verdicts import ApplyRequest
from grove_core.kernel.frozen import thaw_json
from grove_core.resources.compute_domain import NOT_READY, DaemonEntry
from grove_shell.converge.model.daemon_model import datetime_from_microseconds
from grove_shell.converge.model.model_object_store import DaemonEntryIndexAndReadiness, ModelNvlinkCliqueState
from grove_shell.converge.model.model_run_context import daemons_and_registries_of
from grove_shell.converge.model.server_costs import DOMAIN_BYTES, SIZES
from tests.property.convergence.points import PROTOCOLS, point

NODE = 123


def length(value: Any) -> int:
    return len(json.dumps(value, separators=(",", ":")))


def written(protocol: RegistrationProtocol) -> tuple[dict[str, Any], ApplyRequest | None]:
    """The entry of a daemon as it writes it, and the apply that it writes it with."""
    participants = daemons_and_registries_of(point(protocol, 144))
    identity = participants.daemons[NODE]
    seen = ObservedDaemonRegistry(
        7, ModelNvlinkCliqueState({NODE: DaemonEntryIndexAndReadiness(15, ready=False)}).as_registry(participants)
    )
    found = DaemonInput(
        identity=identity,
        settings=participants.settings,
        state=RegistrationState(observed=seen),
        now=datetime_from_microseconds(0),
    )
    action = daemon_entry_write_request(found, DaemonEntry(identity.node, identity.ip, identity.clique, 15, NOT_READY))
    assert not isinstance(action, ApplyRequest) or protocol.uses_apply
    body: Any = thaw_json(action.fields if isinstance(action, ApplyRequest) else action.manifest)
    (entry,) = body["status"]["nodes"] if "status" in body else body["daemons"]
    return entry, action if isinstance(action, ApplyRequest) else None


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_cv021_entry_size(protocol: RegistrationProtocol) -> None:
    entry, _ = written(protocol)
    identity = daemons_and_registries_of(point(protocol, 144)).daemons[NODE]
    reference = length({"apiVersion": "v1", "kind": "Pod", "name": identity.pod, "uid": identity.pod_uid}) + 1
    wanted = SIZES[protocol].entry - (reference if protocol.sharded else 0)
    assert length(entry) + 1 == pytest.approx(wanted, rel=0.1)


@pytest.mark.parametrize("protocol", [RegistrationProtocol.SSA, RegistrationProtocol.SHARDED])
def test_cv021_apply_body_size(protocol: RegistrationProtocol) -> None:
    _, action = written(protocol)
    assert action is not None
    assert length(thaw_json(action.fields)) == pytest.approx(SIZES[protocol].body, rel=0.1)


def record(protocol: RegistrationProtocol, entry: dict[str, Any]) -> dict[str, Any]:
    """The ``managedFields`` record of one apply."""
    key = "nodeName" if protocol.sharded else "name"
    owned: dict[str, Any] = {f'k:{{"{key}":"{entry[key]}"}}': {".": {}, **{f"f:{name}": {} for name in entry}}}
    fields: dict[str, Any] = {"f:status": {"f:nodes": owned}}
    if protocol.sharded:
        names = ("f:resource.nvidia.com/computeDomain", "f:resource.nvidia.com/computeDomain.cliqueID")
        owner: dict[str, Any] = {f'k:{{"uid":"{"u" * 36}"}}': {}}
        metadata = {"f:labels": {name: {} for name in names}, "f:ownerReferences": owner}
        fields = {"f:daemons": owned, "f:metadata": metadata}
    return {
        "apiVersion": "resource.nvidia.com/v1beta1",
        "fieldsType": "FieldsV1",
        "fieldsV1": fields,
        "manager": f"{protocol.manager}-{entry[key]}",
        "operation": "Apply",
        "time": "2026-01-01T00:00:00Z",
        **({} if protocol.sharded else {"subresource": "status"}),
    }


@pytest.mark.parametrize("protocol", [RegistrationProtocol.SSA, RegistrationProtocol.SHARDED])
def test_cv021_managed_fields_size(protocol: RegistrationProtocol) -> None:
    entry, _ = written(protocol)
    assert length(record(protocol, entry)) + 1 == pytest.approx(SIZES[protocol].managed, rel=0.1)


def test_cv021_objects_grow_by_their_entries() -> None:
    for protocol in PROTOCOLS:
        sizes = SIZES[protocol]
        assert sizes.stored_object_bytes(0) == DOMAIN_BYTES
        assert sizes.stored_object_bytes(18) - sizes.stored_object_bytes(17) == sizes.entry + sizes.managed
        assert sizes.write_body_bytes(18) == (sizes.body or sizes.stored_object_bytes(18))
