"""The custom resource definitions of Grove's kinds, as ``kubectl apply --server-side`` takes them."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from grove_core.resources.api_names import GROVE, MIN_AVAILABLE_BREACHED, SCHEDULER
from grove_core.resources.cluster_topology import MOST_LEVELS, RANKED, TOPOLOGY_KIND
from grove_core.resources.crd_names import CrdNames, crd_names_in
from grove_shell.manifests.schemas import (
    Json,
    array_schema,
    custom_resource_definition,
    object_meta_schema,
    schema_of_fields,
    schema_of_objects,
    string_schema,
)
from grove_shell.manifests.spec_schemas import (
    clique_spec_schema,
    gang_spec_schema,
    podcliqueset_spec_schema,
    scaling_group_spec_schema,
)
from grove_shell.manifests.status_schemas import (
    clique_status_schema,
    gang_status_schema,
    podcliqueset_status_schema,
    scaling_group_status_schema,
)

_LONGEST: Final = 63
_QUALIFIED: Final = r"^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$"
_RANKS: Final = "{" + ", ".join(f"'{domain}': {rank}" for rank, domain in enumerate(RANKED)) + "}"  # a list costs more
_CHECKS: Final = (
    ("self.all(l, self.exists_one(o, o.domain == l.domain))", "each level has a domain of its own"),
    ("self.all(l, self.exists_one(o, o.key == l.key))", "each level has a key of its own"),
    (
        f"self.filter(l, l.domain in {_RANKS}).map(l, {_RANKS}[l.domain]).isSorted()",
        "levels stand from broad to narrow",
    ),
)


def topology_schema() -> Json:
    """What its objects may look like (TP-080)."""
    level = schema_of_fields(
        {
            "domain": string_schema(
                minLength=1,
                maxLength=_LONGEST,
                pattern="^[a-z][a-z0-9-]*$",
                description="What people call it, such as zone, rack or host.",
            ),
            "key": string_schema(
                minLength=1,
                maxLength=_LONGEST,
                pattern=_QUALIFIED,
                description="Key of the node label that tells such domains apart.",
            ),
        },
        ("domain", "key"),
    )
    levels: Json = {
        **array_schema(level),
        "minItems": 1,
        "maxItems": MOST_LEVELS,
        "description": "From broad to narrow.",
        "x-kubernetes-validations": [{"rule": rule, "message": f"{words} (TP-080)"} for rule, words in _CHECKS],
    }
    about = "Which node labels mean what to sets that are placed by topology."
    return schema_of_objects(about, {"spec": schema_of_fields({"levels": levels}, ("levels",))}, ("spec",))


def topology_crd() -> Json:
    """Its custom resource definition."""
    age = {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}
    domains = {"name": "Domains", "type": "string", "jsonPath": ".spec.levels[*].domain"}
    parts = {"additionalPrinterColumns": [domains, age], "schema": {"openAPIV3Schema": topology_schema()}}
    return custom_resource_definition(
        GROVE, TOPOLOGY_KIND, parts, plural="clustertopologies", scope="Cluster", short="ctopo"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PrinterColumn:
    """What ``kubectl get`` prints: a heading, where it stands, and whether only ``-o wide`` shows it."""

    name: str
    path: str
    type: str = "integer"
    wide: bool = False

    @property
    def as_json(self) -> Json:
        """As a definition has it."""
        column: Json = {"name": self.name, "type": self.type, "jsonPath": self.path}
        return {**column, "priority": 1} if self.wide else column


@dataclass(frozen=True, slots=True, kw_only=True)
class GroveKind:
    """One of Grove's kinds.

    Attributes:
        api_version: group and version.
        about: what ``kubectl explain`` says.
        selector: field of the status that holds the selector of the pods; empty where nothing can be scaled.
    """

    kind: str
    api_version: str
    short: str
    about: str
    spec: Callable[[], Json]
    status: Callable[[], Json]
    columns: tuple[PrinterColumn, ...]
    selector: str = ""


_REPLICAS: Final = PrinterColumn(name="Replicas", path=".spec.replicas")
_MINIMUM: Final = PrinterColumn(name="MinAvail", path=".spec.minAvailable")
_AVAILABLE: Final = PrinterColumn(name="Available", path=".status.availableReplicas")
_SCHEDULED: Final = PrinterColumn(name="Scheduled", path=".status.scheduledReplicas")
_UPDATED: Final = PrinterColumn(name="Updated", path=".status.updatedReplicas")
_BREACHED: Final = PrinterColumn(
    name="MinBreached",
    type="string",
    path=f'.status.conditions[?(@.type=="{MIN_AVAILABLE_BREACHED}")].status',
    wide=True,
)
_AGE: Final = PrinterColumn(name="Age", type="date", path=".metadata.creationTimestamp")


def _progress(short: str, kind: str) -> tuple[PrinterColumn, ...]:
    """How far an update of the parts of some kind is."""
    return tuple(
        PrinterColumn(name=f"{short}-{word.capitalize()}", path=f".status.updateProgress.{word}{kind}Count")
        for word in ("updated", "total")
    )


KINDS: Final = (
    GroveKind(
        kind="PodCliqueSet",
        api_version=GROVE,
        short="pcs",
        about="A workload of cliques of pods that are scheduled, scaled and ended together.",
        spec=podcliqueset_spec_schema,
        status=podcliqueset_status_schema,
        columns=(
            _REPLICAS,
            _AVAILABLE,
            _UPDATED,
            *_progress("PCLQs", "PodCliques"),
            *_progress("PCSGs", "PodCliqueScalingGroups"),
            _AGE,
        ),
        selector="hpaPodSelector",
    ),
    GroveKind(
        kind="PodClique",
        api_version=GROVE,
        short="pclq",
        about="A clique of equal pods; made from the template of a PodCliqueSet.",
        spec=clique_spec_schema,
        status=clique_status_schema,
        columns=(
            _MINIMUM,
            _REPLICAS,
            PrinterColumn(name="Ready", path=".status.readyReplicas"),
            _SCHEDULED,
            _UPDATED,
            PrinterColumn(name="Gated", path=".status.scheduleGatedReplicas", wide=True),
            _BREACHED,
            _AGE,
        ),
        selector="hpaPodSelector",
    ),
    GroveKind(
        kind="PodCliqueScalingGroup",
        api_version=GROVE,
        short="pcsg",
        about="Cliques that scale together; made from the template of a PodCliqueSet.",
        spec=scaling_group_spec_schema,
        status=scaling_group_status_schema,
        columns=(
            _MINIMUM,
            _REPLICAS,
            _AVAILABLE,
            _SCHEDULED,
            _UPDATED,
            *_progress("PCLQs", "PodCliques"),
            _BREACHED,
            _AGE,
        ),
        selector="selector",
    ),
    GroveKind(
        kind="PodGang",
        api_version=SCHEDULER,
        short="pg",
        about="Pods that the scheduler places as one.",
        spec=gang_spec_schema,
        status=gang_status_schema,
        columns=(PrinterColumn(name="Phase", type="string", path=".status.phase"), _AGE),
    ),
)


def custom_resource_definitions() -> Iterator[Json]:
    """The custom resource definitions, one for each kind; no part is shared, or YAML would name it and refer to it."""
    for kind in KINDS:
        yield json.loads(json.dumps(_definition(kind)))
    yield json.loads(json.dumps(topology_crd()))


@cache
def grove_crd_names() -> tuple[CrdNames, ...]:
    """Return the names that these definitions ask for; no schema of a PodSpec is made for it."""
    heads = (custom_resource_definition(kind.api_version, kind.kind, {}, short=kind.short) for kind in KINDS)
    return tuple(names for head in (*heads, topology_crd()) if (names := crd_names_in(head)) is not None)


@cache
def schema_for(api_version: str, kind: str) -> Json | None:
    """What an object of a kind may look like, its metadata included; None where the kind is not ours."""
    for known in KINDS:
        if (known.api_version, known.kind) == (api_version, kind):
            schema = _schema(known)
            schema["properties"] |= {
                "apiVersion": string_schema(enum=[api_version]),
                "kind": string_schema(enum=[kind]),
                "metadata": object_meta_schema(),
            }
            return {**schema, "required": ["apiVersion", "kind", "metadata", "spec"]}
    return None


def _definition(kind: GroveKind) -> Json:
    scale = {
        "scale": {
            "specReplicasPath": ".spec.replicas",
            "statusReplicasPath": ".status.replicas",
            "labelSelectorPath": f".status.{kind.selector}",
        }
    }
    parts = {
        "subresources": {"status": {}, **(scale if kind.selector else {})},
        "additionalPrinterColumns": [column.as_json for column in kind.columns],
        "schema": {"openAPIV3Schema": _schema(kind)},
    }
    return custom_resource_definition(kind.api_version, kind.kind, parts, short=kind.short)


def _schema(kind: GroveKind) -> Json:
    return schema_of_objects(kind.about, {"spec": kind.spec(), "status": kind.status()}, ("spec",))
