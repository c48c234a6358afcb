"""The page of fields: what users write in Grove's objects, and what operators report there, from the definitions."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import yaml

from docs.generator.field_types import default_of, field_type
from docs.generator.markdown import code, prose, slug, table
from docs.generator.rules import areas
from grove_shell.manifests.crd_definitions import grove_crd_manifests

_POD_SPEC: Final = "https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/#PodSpec"
_SHARED: Final = {
    "topologyConstraint": "spec.template.topologyConstraint",
    "resourceSharing": "spec.template.resourceSharing",
}
"""Fields that stand in several places -> the place whose fields are shown, which has all of them."""
_SECTIONS: Final = {
    "PodCliqueSet": (
        "metadata",
        "spec",
        "spec.template",
        "spec.template.cliques[]",
        "spec.template.cliques[].spec",
        "spec.template.podCliqueScalingGroups[]",
        "status",
    ),
    "PodClique": ("spec", "status"),
    "PodCliqueScalingGroup": ("spec", "status"),
    "ClusterTopology": ("spec",),
}
"""Kind -> objects that have a table of their own; all other fields are in the table of the object around them."""
_OWN: Final = ("PodCliqueSet", "ClusterTopology")
_METADATA: Final = ("name", "namespace", "labels", "annotations")
_OPAQUE: Final = frozenset({"podSpec", "conditions", "templateSpec", "rollingUpdateProgress"})
"""Fields whose own fields are described elsewhere."""
Schema = Mapping[str, Any]


class Field(NamedTuple):
    """A field of a kind: its path, its schema, and whether an object has to have it."""

    path: str
    schema: Schema
    is_required: bool


@cache
def additions() -> Mapping[str, Any]:
    """Return what the definitions do not say of fields."""
    found: Mapping[str, Any] = yaml.load(Path(__file__).with_name("fields.yaml").read_text("utf-8"), yaml.CSafeLoader)
    return found


@cache
def _definitions() -> Mapping[str, Schema]:
    return {one["spec"]["names"]["kind"]: one for one in grove_crd_manifests()}


@cache
def fields_of_kind(kind: str) -> tuple[Field, ...]:
    """Return every field of a kind, in the order of the definition, an object before its fields."""
    schema = _definitions()[kind]["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
    texts = {"type": "object", "additionalProperties": {"type": "string"}}
    meta = {name: texts if name in {"labels", "annotations"} else {"type": "string"} for name in _METADATA}
    shown = {"metadata": {"type": "object", "properties": meta, "required": ["name"]}}
    return tuple(
        _below({"properties": shown | {name: schema[name] for name in ("spec", "status") if name in schema}}, "")
    )


def _below(schema: Schema, above: str) -> Iterator[Field]:
    for name, inner in schema.get("properties", {}).items():
        path = f"{above}.{name}".lstrip(".")
        yield Field(path, inner, name in schema.get("required", ()))
        if name not in _OPAQUE:
            yield from _below(inner, path)
            yield from _below(inner.get("items", {}), f"{path}[]")


def looked_up(part: str, path: str) -> Any:  # noqa: ANN401 - any value of the file
    """Return what the additions have for a path, by itself or by the longest end of it; None for nothing."""
    known = additions()[part]
    if path in known:
        return known[path]
    ends = [key for key in known if key.startswith("*") and path.endswith(key[1:])]
    return known[max(ends, key=len)] if ends else None


@cache
def fields_page() -> str:
    """Return the page of all fields."""
    return "\n".join(
        (
            "# Fields\n",
            "Every field of the objects of `grove.io/v1alpha1`, from the definitions that `grove manifests` prints.",
            "[Write a PodCliqueSet](../how-to/write-a-podcliqueset.md) introduces the important ones. Configuration",
            "files have [a page of their own](configuration.md).\n",
            "- **set by**: `user`, `operator`, or both. *fixed*: an update that changes it is refused. *fixed while",
            "  bound*: that is so while a pod of the set is bound to a node. *members fixed*: no item is added or",
            "  removed.",
            "- **rules**: what judges the field; `grove rules NUMBER` prints one. Every field is also judged by",
            f"  {_linked(('GT-103', 'WL-158', 'WL-159'))}: its type, its spelling, and its value.\n",
            *(_kind(kind) for kind in _SECTIONS),
            _annotations(),
        )
    )


def _kind(kind: str) -> str:
    definition = _definitions()[kind]
    names, schema = definition["spec"]["names"], definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    scope = "namespaced" if definition["spec"]["scope"] == "Namespaced" else "of the whole cluster"
    short = "".join(f", short name `{one}`" for one in names.get("shortNames", ()))
    parts = [f"## {kind}\n", f"{prose(schema['description'])} `kubectl get {names['plural']}`{short}; {scope}.\n"]
    if kind not in _OWN:
        parts.append("The operator creates and changes these objects. Edit the PodCliqueSet, or scale them.\n")
    if kind == "ClusterTopology":
        parts.append("The operator writes `grove-topology` itself, with the levels of its configuration.\n")
    for section in _SECTIONS[kind]:
        parts.append(f"### {section} {{ #{anchor_of(kind, section)} }}\n")
        parts.append(_without_empty_columns(list(_rows(kind, section))))
    return "\n".join(parts)


def anchor_of(kind: str, section: str) -> str:
    """Return the anchor of a section."""
    return f"{kind}-{slug(section.replace('.', '-'))}".lower()


def _without_empty_columns(rows: Sequence[Sequence[str]]) -> str:
    heads = ("field", "type", "default", "set by", "meaning", "rules")
    kept = [at for at in range(len(heads)) if any(row[at] for row in rows)]
    return table([heads[at] for at in kept], [[row[at] for at in kept] for row in rows])


def _rows(kind: str, section: str) -> Iterator[tuple[str, ...]]:
    """Yield a row for each field of a section that has no section of its own."""
    for field in fields_of_kind(kind):
        if section_of(kind, field.path) == section and field.path != section:
            yield _row(kind, section, field)


def section_of(kind: str, path: str) -> str:
    """Return the section in which a field is shown; empty for a field that is shown once for several places."""
    for name, shown in _SHARED.items():
        if f".{name}" in path and kind == "PodCliqueSet":
            place = path.partition(f".{name}")[0]
            if f"{place}.{name}" != shown and path != f"{place}.{name}":
                return ""
    around = [one for one in _SECTIONS[kind] if path.startswith((f"{one}.", f"{one}["))]
    return max(around, key=len) if around else ""


def _row(kind: str, section: str, field: Field) -> tuple[str, ...]:
    name = field.path.removeprefix(section).removeprefix("[]").removeprefix(".")
    default = "required" if field.is_required else looked_up("defaults", field.path) or default_of(field.schema)
    is_written = kind in _OWN and section != "status"
    return (
        code(name),
        field_type(field.schema),
        default if is_written else "",
        set_by(kind, field.path),
        meaning_of(kind, field),
        _linked(rules_of(kind, field.path)),
    )


def rules_of(kind: str, path: str) -> Sequence[str]:
    """Return the numbers of the rules that judge a field; of objects that only operators write none."""
    return (looked_up("rules", path) or ()) if kind in _OWN and not path.startswith("status") else ()


def set_by(kind: str, path: str) -> str:
    """Return what sets a field, and whether it may change."""
    if path.startswith("status"):
        return "operator"
    if kind not in _OWN:
        return "operator; user, autoscaler" if f"{kind} {path}" in additions()["scaled"] else "operator"
    fixed = additions()["fixed"]
    if path in fixed["members"]:
        return "user; members fixed"
    rules = {*rules_of(kind, path), *_inherited(kind, path)}
    if rules & set(fixed["always"]) or path in {"metadata.name", "metadata.namespace"}:
        return "user; fixed"
    return "user; fixed while bound" if rules & set(fixed["bound"]) else "user"


def _inherited(kind: str, path: str) -> Iterator[str]:
    """Yield the rules that fix a field with an object or a list around it."""
    for field in fields_of_kind(kind):
        if path.startswith((f"{field.path}.", f"{field.path}[")):
            yield from set(rules_of(kind, field.path)) & set(additions()["fixed"]["below"])


def meaning_of(kind: str, field: Field) -> str:
    """Return what a field means; where its own fields are described elsewhere, with a link to them."""
    name = field.path.rpartition(".")[2]
    if name == "podSpec":
        return f"the pod template: [PodSpec of Kubernetes]({_POD_SPEC})"
    known = additions()["meanings"].get(f"{kind} {field.path}") or looked_up("meanings", field.path)
    words = field.schema.get("description") or known or ""
    place = _SHARED.get(name, "")
    if place not in {"", field.path} and kind == "PodCliqueSet":
        return f"{prose(words)} [Its fields](#{anchor_of(kind, section_of(kind, place))})"
    return prose(words)


def _annotations() -> str:
    rows = (
        (code(key), places, values, prose(meaning), _linked(rules))
        for key, places, values, meaning, rules in additions()["annotations"]
    )
    return "\n".join(
        (
            "## Annotations\n",
            "Annotations of a PodCliqueSet and its parts that Grove reads. Users set them, and none can change later.",
            "[Share GPUs across nodes](../how-to/share-gpus-across-nodes.md) explains them.\n",
            table(("annotation", "on", "values", "meaning", "rules"), rows),
        )
    )


def _linked(numbers: Sequence[str]) -> str:
    return ", ".join(f"[{one}](rules/{areas()[one[:2]][0]}.md#{slug(one)})" for one in numbers)
