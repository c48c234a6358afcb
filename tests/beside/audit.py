"""What was written, by the audit log: short events with the seconds since the operator went on."""

import json
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from tests.cluster.api import Json

KINDS: Final[Mapping[str, str]] = {
    "podcliquesets": "PodCliqueSet",
    "podcliquescalinggroups": "PodCliqueScalingGroup",
    "podcliques": "PodClique",
    "podgangs": "PodGang",
    "pods": "Pod",
    "services": "Service",
    "serviceaccounts": "ServiceAccount",
    "secrets": "Secret",
    "roles": "Role",
    "rolebindings": "RoleBinding",
    "horizontalpodautoscalers": "HorizontalPodAutoscaler",
    "resourceclaims": "ResourceClaim",
    "resourceclaimtemplates": "ResourceClaimTemplate",
    "computedomains": "ComputeDomain",
    "nodes": "Node",
}
OPERATOR: Final = "operator"
COLLECTOR: Final = "garbage collector"
_READING: Final = ["get", "list", "watch"]
_PASSING: Final = [
    {"group": "", "resources": ["events", "nodes/status"]},
    {"group": "events.k8s.io"},
    {"group": "coordination.k8s.io"},
    {"group": "authentication.k8s.io"},
    {"group": "authorization.k8s.io"},
]
RULES: Final[list[Json]] = [
    {"level": "None", "verbs": _READING},
    {"level": "None", "resources": _PASSING},
    {"level": "RequestResponse", "omitStages": ["RequestReceived"], "omitManagedFields": True},
]
_USERS: Final = {"kube-scheduler": "scheduler", "kwok": "kubelet", "kube-controller-manager": "controllers"}
_AGENT: Final = {"generic-garbage-collector": COLLECTOR, "node-lifecycle-controller": "node controller"}
_HEX: Final = re.compile(r"system:serviceaccount:kube-system:")


def events_of(log: Path, namespace: str, since: datetime, *, offset: int = 0) -> list[Json]:
    """Writes in a namespace in their order.

    Args:
        log: of the API server.
        namespace: of the situation; writes to nodes are kept too.
        since: from when the seconds are counted; earlier writes have a negative number.
        offset: where to begin in the log.
    """
    with log.open("rb") as file:
        file.seek(offset)
        whole = file.read().rpartition(b"\n")[0]
    found = [shown for line in whole.splitlines() for shown in _shown(json.loads(line), namespace, since)]
    return sorted(found, key=lambda event: event["t"])


def _shown(event: Json, namespace: str, since: datetime) -> Iterator[Json]:
    target = event.get("objectRef", {})
    kind = KINDS.get(target.get("resource", ""), "")
    here = target.get("namespace", "") == namespace or kind == "Node"
    code = event.get("responseStatus", {}).get("code", 0)
    if not kind or not here or event["stage"] != "ResponseComplete":
        return
    asked, answered = event.get("requestObject") or {}, event.get("responseObject") or {}
    at = datetime.fromisoformat(event["requestReceivedTimestamp"])
    name = target.get("name") or (answered.get("metadata") or {}).get("name", "")
    user = _user(event)
    shown: Json = {
        "t": round((at - since).total_seconds(), 3),
        "user": user,
        "verb": event["verb"],
        "kind": kind,
        "name": name,
        "code": code,
    }
    if target.get("subresource"):
        shown["subresource"] = target["subresource"]
    if code >= HTTPStatus.BAD_REQUEST:
        shown["error"] = answered.get("message", "")
    elif event["verb"] == "deletecollection":
        query = parse_qs(urlsplit(event["requestURI"]).query)
        shown["selector"] = query.get("labelSelector", [""])[0]
        shown["items"] = [item["metadata"]["name"] for item in answered.get("items", [])]
    elif event["verb"] == "delete":
        if options := {key: value for key, value in asked.items() if key not in {"kind", "apiVersion"}}:
            shown["options"] = options
    elif user == OPERATOR and event["verb"] == "create":
        shown["body"] = answered
    elif user in {OPERATOR, "admin"}:
        shown["body"] = asked
    elif user == "kubelet":
        shown["says"] = _pod_state(asked)
    yield shown


def _user(event: Json) -> str:
    user, agent = event["user"]["username"], event.get("userAgent", "")
    last = agent.rpartition("/")[2]
    return str(_AGENT.get(last, _USERS.get(user, _HEX.sub("", user))))


def _pod_state(patch: Json) -> str:
    """Phase and readiness that a kubelet's status patch says."""
    status: Any = patch.get("status", {})
    ready = [one["status"] for one in status.get("conditions") or [] if one.get("type") == "Ready"]
    return " ".join([status.get("phase", ""), *(f"Ready={each}" for each in ready)]).strip()
