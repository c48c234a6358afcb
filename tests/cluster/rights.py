"""Roles that were applied, once the authorizer of the API server has heard of them: it follows them by a watch."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from tests.cluster.api import Api, Json, wait_until

REVIEWS: Final = "/apis/authorization.k8s.io/v1/subjectaccessreviews"


def await_rights(api: Api, applied: Iterable[Json]) -> None:
    """Wait until every subject bound to one of these roles has its rights."""
    there = list(applied)
    rules = {_key(one["kind"], one["metadata"]): one["rules"] for one in there if "rules" in one}
    for binding in (one for one in there if "roleRef" in one):
        metadata, role = binding["metadata"], binding["roleRef"]
        granted = rules.get(_key(role["kind"], metadata | {"name": role["name"]}), [])
        for subject in binding["subjects"]:
            for asked in _attributes(granted, metadata.get("namespace")):
                spec = {"user": _user(subject), "resourceAttributes": asked}
                wait_until(
                    lambda spec=spec: api.request("POST", REVIEWS, {"spec": spec})["status"],  # type: ignore[misc]  # mypy infers no type for a default of a lambda
                    lambda status: status["allowed"],
                    f"may: {spec}",
                )


def _key(kind: str, metadata: Mapping[str, Any]) -> tuple[str, str, str]:
    return kind, "" if kind == "ClusterRole" else metadata["namespace"], metadata["name"]


def _user(subject: Json) -> str:
    if subject["kind"] == "User":
        return str(subject["name"])
    return f"system:serviceaccount:{subject['namespace']}:{subject['name']}"


def _attributes(rules: Iterable[Json], namespace: str | None) -> Iterator[Json]:
    """Every verb of every rule, each for one resource: what a role says is heard of as a whole."""
    for rule in rules:
        resource, _, part = rule["resources"][0].partition("/")
        names = {"name": rule["resourceNames"][0]} if "resourceNames" in rule else {}
        asked = {"group": rule["apiGroups"][0], "resource": resource, "subresource": part, **names}
        for verb in rule["verbs"]:
            yield {"verb": verb, **asked, **({"namespace": namespace} if namespace else {})}
