"""The definition of ClusterTopology: cluster-scoped, without a status, with the rules that the API server can check."""

from typing import Final

from grove_core.resources.api_names import GROVE
from grove_core.resources.cluster_topology import MOST_LEVELS, RANKED, TOPOLOGY_KIND
from grove_shell.manifests.definition_template import definition, object_schema
from grove_shell.manifests.schemas import Json, array_schema, object_type, string_schema

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
    level = object_type(
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
    return object_schema(about, {"spec": object_type({"levels": levels}, ("levels",))}, ("spec",))


def topology_definition() -> Json:
    """Its custom resource definition."""
    age = {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}
    domains = {"name": "Domains", "type": "string", "jsonPath": ".spec.levels[*].domain"}
    parts = {"additionalPrinterColumns": [domains, age], "schema": {"openAPIV3Schema": topology_schema()}}
    return definition(GROVE, TOPOLOGY_KIND, parts, plural="clustertopologies", scope="Cluster", short="ctopo")
