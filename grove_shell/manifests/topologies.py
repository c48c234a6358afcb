"""The definition of ClusterTopology: cluster-scoped, without a status, with the rules that the API server can check."""

from typing import Final

from grove_core.resources.cluster_topology import MOST_LEVELS, RANKED, TOPOLOGY_KIND
from grove_core.resources.keys import GROVE
from grove_shell.manifests.structural import Json, fields, many, text

PLURAL: Final = "clustertopologies"
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
    level = fields(
        {
            "domain": text(
                minLength=1,
                maxLength=_LONGEST,
                pattern="^[a-z][a-z0-9-]*$",
                description="What people call it, such as zone, rack or host.",
            ),
            "key": text(
                minLength=1,
                maxLength=_LONGEST,
                pattern=_QUALIFIED,
                description="Key of the node label that tells such domains apart.",
            ),
        },
        ("domain", "key"),
    )
    levels: Json = {
        **many(level),
        "minItems": 1,
        "maxItems": MOST_LEVELS,
        "description": "From broad to narrow.",
        "x-kubernetes-validations": [{"rule": rule, "message": f"{words} (TP-080)"} for rule, words in _CHECKS],
    }
    whole = fields(
        {
            "apiVersion": text(),
            "kind": text(),
            "metadata": {"type": "object"},
            "spec": fields({"levels": levels}, ("levels",)),
        },
        ("spec",),
    )
    return {"description": "Which node labels mean what to sets that are placed by topology.", **whole}


def topology_definition() -> Json:
    """Its custom resource definition."""
    group, _, version = GROVE.partition("/")
    age = {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}
    domains = {"name": "Domains", "type": "string", "jsonPath": ".spec.levels[*].domain"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{PLURAL}.{group}"},
        "spec": {
            "group": group,
            "scope": "Cluster",
            "names": {
                "kind": TOPOLOGY_KIND,
                "listKind": f"{TOPOLOGY_KIND}List",
                "plural": PLURAL,
                "singular": TOPOLOGY_KIND.lower(),
                "shortNames": ["ct"],
                "categories": ["grove"],
            },
            "versions": [
                {
                    "name": version,
                    "served": True,
                    "storage": True,
                    "additionalPrinterColumns": [domains, age],
                    "schema": {"openAPIV3Schema": topology_schema()},
                }
            ],
        },
    }
