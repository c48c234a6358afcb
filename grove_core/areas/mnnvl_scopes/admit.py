"""Admission of what a set says of MNNVL in this mode: objections (MS-070 to MS-078)."""

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from grove_core.areas.mnnvl_scopes.rules import Refuse
from grove_core.areas.mnnvl_scopes.sharing_groups import sharing_groups_of
from grove_core.kernel.admission import Objection
from grove_core.kernel.frozen import FrozenMap, list_of
from grove_core.kernel.reasons import Fact
from grove_core.kernel.refs import Ref
from grove_core.resources.api_names import MNNVL_DEVICE_CLASS, MNNVL_ENABLED, MNNVL_SCOPE, SHARED_CLAIM
from grove_core.resources.configuration import Configuration, MnnvlMode
from grove_core.resources.domain_sharing import (
    CHOICES,
    CLAIM_SUFFIX,
    DOMAIN_SUFFIX,
    MNNVL_ANNOTATIONS,
    SCOPES,
    SharingScope,
)
from grove_core.resources.fields import shown
from grove_core.resources.manifest import Manifest
from grove_core.resources.manifest_paths import (
    CLIQUES,
    GROUPS,
    METADATA,
    TEMPLATE,
    AnnotatedElement,
    annotated_elements,
)
from grove_core.resources.name_syntax import LONGEST_LABEL, is_dns_subdomain
from grove_core.resources.names import index_from
from grove_core.resources.violation import Violation, new_violations

_ALLOWED: Final[Mapping[str, tuple[SharingScope, ...]]] = MappingProxyType(
    {
        METADATA: (SharingScope.REPLICA,),
        CLIQUES: (SharingScope.REPLICA, SharingScope.CLIQUE),
        GROUPS: (SharingScope.REPLICA, SharingScope.GROUP_REPLICA),
    }
)
_LEVEL_TEXTS: Final[Mapping[str, str]] = MappingProxyType(
    {METADATA: "on a set", CLIQUES: "on a clique", GROUPS: "on a scaling group"}
)


def objections_to(
    subject: Ref, new: Manifest, old: Manifest | None, configuration: Configuration
) -> Iterator[Objection]:
    """Every objection of this mode; what stood there before is not held against a set."""
    if not configuration.mnnvl.in_mode(MnnvlMode.ANNOTATIONS):
        return
    faults = new_violations(_violations(new), _violations(old) if old is not None else ())
    for found in (*faults, *(_changes(new, old) if old is not None else ())):
        yield found.objection(subject)


def _violations(manifest: Manifest) -> Iterator[Violation]:
    for place in annotated_elements(manifest):
        yield from _values(place)
    yield from _claim_names(manifest)
    yield from _sharing_names(manifest)
    if manifest.name:
        yield from _lengths(manifest)
        yield from _duplicate_names(manifest)


def _values(place: AnnotatedElement) -> Iterator[Violation]:
    """MS-070 to MS-073."""
    told = place.annotations
    choice, scope = told.get(MNNVL_ENABLED), told.get(MNNVL_SCOPE)
    if choice is not None and choice not in CHOICES and place.level != METADATA:  # of the set in any mode: MN-070
        yield Violation(place.at(MNNVL_ENABLED), choice, Refuse.SCOPED_VALUE_INVALID, {})
    allowed = [one.value for one in _ALLOWED[place.level]]
    if scope is not None and scope not in SCOPES:
        yield Violation(place.at(MNNVL_SCOPE), scope, Refuse.MNNVL_SCOPE_UNKNOWN, {"known": ", ".join(SCOPES)})
    elif scope is not None and scope not in allowed:
        facts = {"allowed": ", ".join(allowed), "place": _LEVEL_TEXTS[place.level]}
        yield Violation(place.at(MNNVL_SCOPE), scope, Refuse.MNNVL_SCOPE_MISPLACED, facts)
    device_class = told.get(MNNVL_DEVICE_CLASS)
    if device_class == "":
        yield Violation(place.at(MNNVL_DEVICE_CLASS), "", Refuse.DEVICE_CLASS_EMPTY, {})
    elif device_class is not None and not is_dns_subdomain(str(device_class)):
        yield Violation(place.at(MNNVL_DEVICE_CLASS), device_class, Refuse.DEVICE_CLASS_INVALID, {})


def _claim_names(manifest: Manifest) -> Iterator[Violation]:
    """MS-074."""
    joined = {index for crowd in sharing_groups_of(manifest) for index in crowd.cliques}
    for index in sorted(joined):
        pod_spec = manifest.spec.template.cliques[index].spec.pod_spec
        for place, claim in enumerate(list_of(pod_spec, "resourceClaims")):
            if isinstance(claim, FrozenMap) and claim.get("name") == SHARED_CLAIM:
                path = f"{CLIQUES}[{index}].spec.podSpec.resourceClaims[{place}].name"
                yield Violation(path, SHARED_CLAIM, Refuse.SHARED_CLAIM_RESERVED, {"name": SHARED_CLAIM})


def _sharing_names(manifest: Manifest) -> Iterator[Violation]:
    """MS-078."""
    if not any(True for _ in sharing_groups_of(manifest)):
        return
    template = manifest.spec.template
    lists = (
        (TEMPLATE, template.resource_sharing),
        *((f"{CLIQUES}[{at}]", one.resource_sharing) for at, one in enumerate(template.cliques)),
        *((f"{GROUPS}[{at}]", one.resource_sharing) for at, one in enumerate(template.pod_clique_scaling_groups)),
    )
    for path, entries in lists:
        for place, entry in enumerate(entries):
            if f"-{entry.name}".endswith(CLAIM_SUFFIX):
                facts = {"name": CLAIM_SUFFIX.removeprefix("-")}
                yield Violation(f"{path}.resourceSharing[{place}].name", entry.name, Refuse.CLAIM_NAME_RESERVED, facts)


def _lengths(manifest: Manifest) -> Iterator[Violation]:
    """MS-076: by the largest index that there is."""
    for crowd in sharing_groups_of(manifest):
        made = crowd.highest + CLAIM_SUFFIX
        excess = len(made) - LONGEST_LABEL
        if excess > 0:
            facts: dict[str, Fact] = {"excess": excess, "made": made, "most": LONGEST_LABEL}
            yield Violation(f"{crowd.path}.name", crowd.name or manifest.name, Refuse.SHARED_NAME_TOO_LONG, facts)


def _duplicate_names(manifest: Manifest) -> Iterator[Violation]:
    """MS-077 within a set: a PodClique that is called like a replica of a group; by names that end in an index."""
    crowds = tuple(sharing_groups_of(manifest))
    groups = {crowd.name: crowd for crowd in crowds if crowd.scope is SharingScope.GROUP_REPLICA}
    inside = _names_around_index(groups)
    for crowd in crowds:
        head, _, tail = crowd.name.rpartition("-")
        if crowd.scope is not SharingScope.CLIQUE or index_from(tail) is None:
            continue
        called = inside.get((crowd.group, head), ()) if crowd.group else ((0, head),)
        for index, name in called:
            if index < crowd.most and name in groups and int(tail) < groups[name].most:
                facts = {
                    "made": f"{manifest.name}-0-{name}-{tail}{DOMAIN_SUFFIX}",
                    "other": f"replica {tail} of group {name}",
                }
                yield Violation(f"{crowd.path}.name", crowd.name, Refuse.SHARED_NAME_TWICE, facts)


def _names_around_index(groups: Iterable[str]) -> Mapping[tuple[str, str], list[tuple[int, str]]]:
    """What stands before and behind an index in the name of a group -> that index, and the name."""
    found: dict[tuple[str, str], list[tuple[int, str]]] = {}
    for name in groups:
        words = name.split("-")
        for place, word in enumerate(words):
            if index_from(word) is not None:
                key = "-".join(words[:place]), "-".join(words[place + 1 :])
                found.setdefault(key, []).append((int(word), name))
    return found


def _changes(new: Manifest, old: Manifest) -> Iterator[Violation]:
    """MS-075."""
    before = {(place.level, place.name): place.annotations for place in annotated_elements(old)}
    for place in annotated_elements(new):
        told = before.get((place.level, place.name))
        for key in MNNVL_ANNOTATIONS if told is not None else ():
            is_told_elsewhere = place.level == METADATA and key == MNNVL_ENABLED  # MN-071
            if told is not None and told.get(key) != place.annotations.get(key) and not is_told_elsewhere:
                facts = {"before": shown(told[key]) if key in told else "absent"}
                yield Violation(place.at(key), place.annotations.get(key), Refuse.SCOPES_IMMUTABLE, facts)
