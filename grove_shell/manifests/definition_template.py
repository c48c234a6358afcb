"""The common parts of all custom resource definitions and their schemas."""

from collections.abc import Iterable, Mapping

from grove_shell.manifests.schemas import Json, object_type, string_schema


def object_schema(about: str, parts: Mapping[str, Json], required: Iterable[str] = ()) -> Json:
    """Return the schema of a kind's objects: its own parts after the common ones."""
    head = {"apiVersion": string_schema(), "kind": string_schema(), "metadata": {"type": "object"}}
    return {"description": about, **object_type({**head, **parts}, required)}


def definition(
    api_version: str, kind: str, parts: Json, *, plural: str = "", scope: str = "Namespaced", short: str = ""
) -> Json:
    """Return the custom resource definition of a kind.

    Args:
        api_version, kind: as its objects have them.
        parts: what its only version has, the schema among it, as it is printed.
        plural: the name of the resource in paths; empty for the kind with an s.
        scope: whether its objects are in namespaces.
        short: what people call it where it is of Grove; else empty.
    """
    group, _, version = api_version.partition("/")
    plural = plural or f"{kind.lower()}s"
    names = {"kind": kind, "listKind": f"{kind}List", "plural": plural, "singular": kind.lower()}
    ours = {"shortNames": [short], "categories": ["grove"]} if short else {}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": scope,
            "names": {**names, **ours},
            "versions": [{"name": version, "served": True, "storage": True, **parts}],
        },
    }
