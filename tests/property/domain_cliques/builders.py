"""Builders of entries, registries, pods and daemon contexts for tests."""

from datetime import UTC, datetime
from typing import Any

from grove_core.areas.domain_cliques.daemon.daemon_input import (
    DaemonIdentity,
    DaemonInput,
    ObservedDaemonRegistry,
    RegistrationState,
)
from grove_core.areas.domain_cliques.daemon.registration_protocols import DaemonRegistrationSettings
from grove_core.areas.domain_cliques.domain_snapshot import compute_domain_snapshot_of
from grove_core.kernel.frozen import thaw_json
from grove_core.kernel.steps import SetStatus
from grove_core.kernel.structs import replace
from grove_core.reconcile_domain import reconcile_compute_domain
from grove_core.resources.api_names import DOMAIN, DOMAIN_CLIQUE
from grove_core.resources.compute_domain import (
    ComputeDomain,
    ComputeDomainClique,
    DaemonPod,
    compute_domain_from_json,
    daemon_pod_from_json,
    domain_clique_from_json,
)
from grove_core.resources.daemon_entry_lists import registry_version_number

Json = dict[str, Any]
NOW = datetime(2026, 11, 20, 9, tzinfo=UTC)
UID = "uid-of-domain"
SETTINGS = DaemonRegistrationSettings(reads_other_registry=False, has_pods=False)
IDENTITY = DaemonIdentity(
    node="n1",
    ip="10.0.0.1",
    clique="a",
    namespace="ml",
    domain="training",
    domain_uid=UID,
    pod_namespace="driver",
    pod="pod-1",
    pod_uid="uid-1",
)


def entry(node: str, index: int | None, ip: str = "", clique: str = "a", status: str = "NotReady") -> Json:
    whole = {
        "name": node,
        "ipAddress": ip or f"10.0.0.{node[1:]}",
        "cliqueID": clique,
        "index": index,
        "status": status,
    }
    return {name: value for name, value in whole.items() if value is not None and value != ""}


def domain(*entries: Json, version: int = 10, **status: Any) -> ComputeDomain:
    metadata = {"name": "training", "namespace": "ml", "uid": UID, "resourceVersion": str(version)}
    spec = {"numNodes": 1}
    return compute_domain_from_json({"metadata": metadata, "spec": spec, "status": {"nodes": list(entries), **status}})


def clique(*entries: Json, version: int = 10, name: str = "a", uid: str = UID) -> ComputeDomainClique:
    metadata = {
        "name": f"{uid}.{name}",
        "namespace": "driver",
        "uid": f"uid-of-{name}",
        "resourceVersion": str(version),
        "labels": {DOMAIN: uid, DOMAIN_CLIQUE: name},
    }
    daemons = [{"nodeName": item["name"], **{key: item[key] for key in item if key != "name"}} for item in entries]
    return domain_clique_from_json({"metadata": metadata, "daemons": daemons})


def pod(node: str, ip: str, name: str = "pod", clique: str | None = "a", **more: Any) -> DaemonPod:
    labels = {DOMAIN: UID} if clique is None else {DOMAIN: UID, DOMAIN_CLIQUE: clique}
    return replace(
        daemon_pod_from_json(
            {
                "metadata": {"name": name, "namespace": "driver", "uid": f"uid-{name}", "labels": labels},
                "spec": {"nodeName": node},
                "status": {"podIP": ip, "phase": "Running"},
            }
        ),
        **more,
    )


def context_for(registry: Any, settings: DaemonRegistrationSettings = SETTINGS, **more: Any) -> DaemonInput:
    state = {
        "pod_labelled": True,
        "observed": ObservedDaemonRegistry(registry_version_number(registry) if registry else 0, registry),
        **more.pop("state", {}),
    }
    return DaemonInput(identity=IDENTITY, settings=settings, state=RegistrationState(**state), now=NOW, **more)


def planned(found: ComputeDomain, cliques: list[ComputeDomainClique], pods: list[DaemonPod], version: int = 100) -> Any:
    return reconcile_compute_domain(compute_domain_snapshot_of(found, cliques, pods, pods_version=version, now=NOW))


def status_in(plan: Any) -> Json:
    (fields,) = [step.action.fields for step in plan.steps if isinstance(step.action, SetStatus)]
    found: Json = thaw_json(fields)
    return found
