"""Rules of admission that the API server enforces itself, as keywords of the schema or in CEL.

Each line names the rule it enforces. All other rules are checked by ``grove validate`` and the webhook only: they need
more than the API server sees, or exceed its cost limit. Size limits exist because the cost of CEL is estimated for the
worst case.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from grove_shell.manifests.schemas import Json

TEMPLATE: Final = "template"
CLIQUE: Final = "template.cliques[]"
GROUP: Final = "template.podCliqueScalingGroups[]"
SAME: Final = "self == oldSelf"

ORDERED_LISTS: Final[Mapping[str, tuple[str, ...]]] = {
    "template.cliques": ("name",),
    "template.podCliqueScalingGroups": ("name",),
    "template.resourceClaimTemplates": ("name",),
    "template.resourceSharing": ("name",),
    f"{CLIQUE}.resourceSharing": ("name",),
    f"{GROUP}.resourceSharing": ("name",),
}
"""Lists whose items have a name of their own (GT-099, WL-141, WL-144)."""

REQUIRED: Final[Mapping[str, tuple[str, ...]]] = {f"{CLIQUE}.spec": ("podSpec", "roleName")}
"""Fields that older sets may lack and new sets need."""


@dataclass(frozen=True, slots=True)
class ValidationRule:
    """One rule of admission at one place of a set's spec.

    Attributes:
        path: of the part of the schema, as ``structural.part_at`` takes it; empty for the spec itself.
        requirement: the rule's number in ``specs/``; empty for a limit of size.
        keywords: of the schema.
        cel: an expression that is true if the rule is met; empty if keywords express it.
        sentence: the message if it is not.
    """

    path: str
    requirement: str
    keywords: Mapping[str, Any] = field(default_factory=dict)
    cel: str = ""
    sentence: str = ""

    def add_to_schema(self, part: Json) -> None:
        """Add the rule to its part of the schema."""
        part.update(self.keywords)
        if self.cel:
            message = f"{self.sentence} ({self.requirement})"
            part.setdefault("x-kubernetes-validations", []).append({"rule": self.cel, "message": message})


_LIMITS: Final = (
    ValidationRule("template.cliques", "", {"maxItems": 100}),
    ValidationRule("template.podCliqueScalingGroups", "", {"maxItems": 32}),
    ValidationRule(f"{CLIQUE}.name", "WL-110", {"maxLength": 45}),
    ValidationRule(f"{CLIQUE}.spec.roleName", "", {"maxLength": 253}),
    ValidationRule(f"{CLIQUE}.spec.startsAfter", "", {"maxItems": 100}),
    ValidationRule(f"{CLIQUE}.spec.startsAfter[]", "", {"maxLength": 63}),
    ValidationRule(f"{CLIQUE}.spec.podSpec.schedulerName", "", {"maxLength": 63}),
    ValidationRule(f"{GROUP}.name", "", {"maxLength": 63}),
    ValidationRule(f"{GROUP}.cliqueNames", "", {"maxItems": 100}),
    ValidationRule(f"{GROUP}.cliqueNames[]", "", {"maxLength": 45}),
    ValidationRule("template.resourceSharing", "", {"maxItems": 50}),
    ValidationRule(f"{GROUP}.resourceSharing", "", {"maxItems": 50}),
    ValidationRule("template.terminationDelay", "", {"maxLength": 63}),
    ValidationRule("template.clusterTopologyName", "", {"maxLength": 253}),
    ValidationRule(f"{GROUP}.terminationDelay", "", {"maxLength": 63}),
)

_KEYWORDS: Final = (
    ValidationRule("replicas", "GT-096", {"minimum": 0}),
    ValidationRule(f"{CLIQUE}.spec.replicas", "GT-096", {"minimum": 1}),
    ValidationRule(f"{GROUP}.replicas", "GT-096", {"minimum": 1}),
    ValidationRule(f"{CLIQUE}.spec.minAvailable", "GT-094", {"minimum": 1}),
    ValidationRule(f"{GROUP}.minAvailable", "GT-095", {"minimum": 1}),
    ValidationRule("template.cliques", "GT-100", {"minItems": 1}),
    ValidationRule(f"{CLIQUE}.name", "WL-107", {"minLength": 1}),
    ValidationRule(f"{GROUP}.name", "WL-108", {"minLength": 1}),
    ValidationRule("template.resourceClaimTemplates[].name", "WL-140", {"minLength": 1}),
    *(
        ValidationRule(f"{level}.resourceSharing[].name", "WL-143", {"minLength": 1, "maxLength": 253})
        for level in (TEMPLATE, CLIQUE, GROUP)
    ),
)

_DELAY: Final = "duration(self) > duration('0s')"
_SOME: Final = "(has(self.{0}) && size(self.{0}) > 0)"
_FLOOR: Final = "!has(self.{0}) || !has(self.{0}.minReplicas) || self.{0}.minReplicas >= self.minAvailable"

_TOGETHER: Final = (
    ValidationRule(f"{TEMPLATE}.terminationDelay", "GT-091", cel=_DELAY, sentence="must be greater than 0"),
    ValidationRule(f"{GROUP}.terminationDelay", "GT-093", cel=_DELAY, sentence="must be greater than 0"),
    ValidationRule(
        TEMPLATE,
        "GT-092",
        cel="has(self.terminationDelay) || !has(self.podCliqueScalingGroups)"
        " || self.podCliqueScalingGroups.all(g, !has(g.terminationDelay))",
        sentence="a scaling group has a terminationDelay only if the template has one",
    ),
    ValidationRule(
        f"{CLIQUE}.spec",
        "GT-094",
        cel="!has(self.minAvailable) || self.minAvailable <= self.replicas",
        sentence="minAvailable must not be above replicas",
    ),
    ValidationRule(
        GROUP,
        "GT-095",
        cel="self.minAvailable <= self.replicas",
        sentence="minAvailable must not be above replicas",
    ),
    ValidationRule(
        TEMPLATE,
        "GT-097",
        cel="!has(self.podCliqueScalingGroups) || self.podCliqueScalingGroups.all(g,"
        " g.cliqueNames.all(n, self.cliques.exists(c, c.name == n)))",
        sentence="a scaling group names cliques of the template",
    ),
    ValidationRule(
        TEMPLATE,
        "WL-128",
        cel="self.cliques.all(c, c.spec.roleName == '' ||"
        " self.cliques.exists_one(d, d.spec.roleName == c.spec.roleName))",
        sentence="each clique has a roleName of its own",
    ),
    ValidationRule(
        f"{CLIQUE}.spec",
        "WL-135",
        cel="!has(self.minAvailable) || " + _FLOOR.format("autoScalingConfig"),
        sentence="minReplicas must not be below minAvailable",
    ),
    ValidationRule(
        GROUP,
        "WL-135",
        cel=_FLOOR.format("scaleConfig"),
        sentence="minReplicas must not be below minAvailable",
    ),
    ValidationRule(
        f"{CLIQUE}.spec",
        "WL-136",
        cel="!has(self.autoScalingConfig) || (self.autoScalingConfig.maxReplicas >= self.replicas &&"
        " self.autoScalingConfig.maxReplicas >= self.autoScalingConfig.?minReplicas.orValue(0))",
        sentence="maxReplicas must not be below minReplicas or replicas",
    ),
    ValidationRule(
        f"{GROUP}.scaleConfig",
        "WL-137",
        cel="self.maxReplicas >= self.?minReplicas.orValue(0)",
        sentence="maxReplicas must not be below minReplicas",
    ),
    ValidationRule(
        f"{TEMPLATE}.resourceSharing[].filter",
        "WL-147",
        cel=f"{_SOME.format('childCliqueNames')} || {_SOME.format('childScalingGroupNames')}",
        sentence="a filter names who takes part",
    ),
    ValidationRule(
        f"{GROUP}.resourceSharing[].filter",
        "WL-147",
        cel=_SOME.format("childCliqueNames"),
        sentence="a filter names who takes part",
    ),
)

_NAMES_STAY: Final = "size(self) == size(oldSelf) && self.all(c, oldSelf.exists(o, o.name == c.name))"

_UNCHANGED: Final = (
    ValidationRule("template.cliques", "GT-101", cel=_NAMES_STAY, sentence="cliques neither come nor go"),
    ValidationRule(
        "template.podCliqueScalingGroups", "GT-101", cel=_NAMES_STAY, sentence="scaling groups neither come nor go"
    ),
    ValidationRule(
        TEMPLATE,
        "GT-101",
        cel="has(self.podCliqueScalingGroups) == has(oldSelf.podCliqueScalingGroups)",
        sentence="scaling groups neither come nor go",
    ),
    ValidationRule(f"{CLIQUE}.spec.minAvailable", "GT-101", cel=SAME, sentence="minAvailable must not change"),
    ValidationRule(f"{GROUP}.minAvailable", "GT-101", cel=SAME, sentence="minAvailable must not change"),
    ValidationRule(f"{GROUP}.cliqueNames", "GT-101", cel=SAME, sentence="cliqueNames must not change"),
    ValidationRule(f"{CLIQUE}.spec.roleName", "WL-150", cel=SAME, sentence="roleName must not change"),
    ValidationRule(
        f"{CLIQUE}.spec",
        "WL-151",
        cel="(has(self.startsAfter) ? self.startsAfter : []) == (has(oldSelf.startsAfter) ? oldSelf.startsAfter : [])",
        sentence="startsAfter must not change",
    ),
    ValidationRule(
        f"{CLIQUE}.spec",
        "WL-152",
        cel="(has(self.podSpec.schedulerName) ? self.podSpec.schedulerName : '')"
        " == (has(oldSelf.podSpec.schedulerName) ? oldSelf.podSpec.schedulerName : '')",
        sentence="schedulerName must not change",
    ),
    ValidationRule("template.cliqueStartupType", "WL-155", cel=SAME, sentence="cliqueStartupType must not change"),
    ValidationRule(
        TEMPLATE,
        "WL-156",
        cel="oldSelf.cliqueStartupType == 'CliqueStartupTypeAnyOrder' || size(self.cliques) != size(oldSelf.cliques)"
        " || self.cliques.map(c, c.name) == oldSelf.cliques.map(c, c.name)",
        sentence="cliques that start in order keep their order",
    ),
)

RULES: Final = (*_LIMITS, *_KEYWORDS, *_TOGETHER, *_UNCHANGED)
