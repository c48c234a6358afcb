"""The definitions of ComputeDomain and ComputeDomainClique, made of the fields that are read (DC-110).

They normally come with NVIDIA's driver. Their lists are merged by key: server-side apply by one writer for each entry
rests on that.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from grove_core.resources.api_names import NVIDIA
from grove_core.resources.compute_domain import (
    CLIQUE_KIND,
    DAEMON_NODE_NAME,
    DOMAIN_KIND,
    NODE_NAME,
    NOT_READY,
    READY,
    DaemonEntry,
    DomainCliqueSummary,
)
from grove_shell.manifests.schemas import (
    Json,
    array_schema,
    custom_resource_definition,
    schema_of_fields,
    schema_of_objects,
    string_schema,
)

_WORDS: Final = (READY, NOT_READY)
_IMMUTABLE: Final = {"rule": "self == oldSelf", "message": "A computeDomain.spec is immutable"}


def compute_domain_crds() -> Iterator[Json]:
    """The custom resource definitions of both kinds."""
    parts = {"schema": {"openAPIV3Schema": _domain()}, "subresources": {"status": {}}}
    yield custom_resource_definition(NVIDIA, DOMAIN_KIND, parts)
    yield custom_resource_definition(NVIDIA, CLIQUE_KIND, {"schema": {"openAPIV3Schema": _clique()}})


def compute_domain_schemas() -> Mapping[str, Json]:
    """By kind: what its objects may look like."""
    return {DOMAIN_KIND: _domain(), CLIQUE_KIND: _clique()}


def _domain() -> Json:
    claim = schema_of_fields({"name": string_schema()}, ("name",))
    channel = schema_of_fields(
        {"allocationMode": string_schema(enum=["All", "Single"], default="Single"), "resourceClaimTemplate": claim},
        ("resourceClaimTemplate",),
    )
    spec = schema_of_fields(
        {"channel": channel, "numNodes": {"type": "integer", "minimum": 0, "default": 0}}, ("channel",)
    )
    parts = {"id": string_schema(), "status": string_schema(enum=list(_WORDS))}
    clique = schema_of_fields({name: parts[name] for name in DomainCliqueSummary.FIELDS}, ("id",))
    status = schema_of_fields(
        {
            "cliques": array_schema(clique, "id"),
            "nodes": _entries(NODE_NAME),
            "status": string_schema(enum=list(_WORDS), default=NOT_READY),
        }
    )
    spec["x-kubernetes-validations"] = [dict(_IMMUTABLE)]
    about = "What lets the pods of a workload share GPU memory across nodes."
    return schema_of_objects(about, {"spec": spec, "status": status})


def _clique() -> Json:
    return schema_of_objects(
        "The daemons of one NVLink clique of a ComputeDomain.", {"daemons": _entries(DAEMON_NODE_NAME)}
    )


def _entries(node: str) -> Json:
    parts = {"index": {"type": "integer"}, "status": string_schema(enum=list(_WORDS), default=NOT_READY)}
    read = {name: parts.get(name) or string_schema() for name in DaemonEntry.FIELDS}
    return array_schema(schema_of_fields({node: string_schema(), **read}, (node, "ipAddress", "cliqueID")), node)
