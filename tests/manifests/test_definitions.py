"""Custom resource definitions: structural, made of the models, no narrower than what is stored (MF-001)."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from types import UnionType
from typing import Any, Final, Union, get_args, get_origin

import pytest
import yaml
from pydantic import BaseModel

from grove_core.areas.workload.admission.manifest_defaults import podcliqueset_with_defaults
from grove_core.resources.podclique import CliqueStatus
from grove_core.resources.podcliqueset import PodCliqueSetStatus
from grove_core.resources.podcliqueset_spec import SetSpec
from grove_core.resources.scaling_group import GroupStatus
from grove_shell.cli.main import run_command_line
from grove_shell.manifests.crd_definitions import grove_crd_manifests, schema_of_kind
from grove_shell.manifests.schema_validation import schema_violations_in
from grove_shell.reading.input_sources import input_items_in_path, standard_input_bytes
from tests.manifests.invalid_sets import sound

Json = dict[str, Any]

ROOT: Final = Path(__file__).parents[2]
GOLDEN: Final = Path(__file__).parent / "definitions.yaml"
STORED: Final = (
    *sorted(str(path) for path in (ROOT / "tests" / "snapshots").glob("*.yaml")),
    str(ROOT / "examples" / "real-cluster.yaml"),
    str(ROOT / "examples" / "degraded.yaml"),
)
ALLOWED: Final = frozenset(
    {
        "additionalProperties",
        "default",
        "description",
        "enum",
        "format",
        "items",
        "maxItems",
        "maxLength",
        "minItems",
        "minLength",
        "minimum",
        "pattern",
        "properties",
        "required",
        "type",
        "x-kubernetes-int-or-string",
        "x-kubernetes-list-map-keys",
        "x-kubernetes-list-type",
        "x-kubernetes-map-type",
        "x-kubernetes-preserve-unknown-fields",
        "x-kubernetes-validations",
    }
)


def schemas() -> Iterator[tuple[str, Json]]:
    for definition in grove_crd_manifests():
        yield definition["spec"]["names"]["kind"], definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]


def parts_of(schema: Json, path: str) -> Iterator[tuple[str, Json]]:
    yield path, schema
    for name, part in schema.get("properties", {}).items():
        yield from parts_of(part, f"{path}.{name}")
    for key in ("items", "additionalProperties"):
        if key in schema:
            yield from parts_of(schema[key], f"{path}.{key}")


KINDS: Final = ("PodCliqueSet", "PodClique", "PodCliqueScalingGroup", "PodGang")
PARTS: Final = tuple(part for kind, schema in schemas() for part in parts_of(schema, kind))


def test_mf005_every_part_has_a_type() -> None:
    for path, part in PARTS:
        assert ("type" in part) != part.get("x-kubernetes-int-or-string", False), path
        assert part.keys() <= ALLOWED, path
        assert ("items" in part) == (part.get("type") == "array"), path
        assert not {"properties", "additionalProperties"} <= part.keys(), path
        assert set(part.get("required", ())) <= part.get("properties", {}).keys(), path
        if part.get("type") == "object":
            open_ended = part.get("x-kubernetes-preserve-unknown-fields") or path.endswith(".metadata")
            assert open_ended or "properties" in part or "additionalProperties" in part, path


def test_mf005_defaults_fit_and_are_not_required() -> None:
    for path, part in PARTS:
        if "default" in part:
            assert not list(schema_violations_in(part, part["default"])), path
            parent = next(above for name, above in PARTS if name == path.rpartition(".")[0])
            assert path.rpartition(".")[2] not in parent.get("required", ()), path


@pytest.mark.req("MF-005")
def test_mf003_items_are_merged_by_what_they_must_have() -> None:
    for path, part in PARTS:
        keys = part.get("x-kubernetes-list-map-keys", ())
        assert bool(keys) == (part.get("x-kubernetes-list-type") == "map"), path
        for key in keys:
            item = part["items"]
            assert key in item.get("required", ()) or "default" in item["properties"][key], path
    lists = {path: part.get("x-kubernetes-list-map-keys") for path, part in PARTS if part.get("type") == "array"}
    assert lists["PodCliqueSet.spec.template.cliques"] == ["name"]
    for kind in KINDS:
        assert lists[f"{kind}.status.conditions"] == ["type"]


def fields_of(model: type[BaseModel], path: str) -> Iterator[tuple[str, Any]]:
    for field in model.model_fields.values():
        place = f"{path}.{field.alias}"
        yield place, field
        annotation = field.annotation
        while get_origin(annotation) in {Union, UnionType, tuple}:
            place += ".items" if get_origin(annotation) is tuple else ""
            annotation = get_args(annotation)[0]
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            yield from fields_of(annotation, place)


def test_mf001_every_field_of_the_model_is_in_the_definition() -> None:
    parts = dict(PARTS)
    out_of_place = (".cliques.items.resourceSharing.items.filter", ".filter.childScalingGroupNames")
    places = [place for place, _ in fields_of(SetSpec, "PodCliqueSet.spec")]
    missing = [place for place in places if place not in parts]
    assert len(places) > 40
    assert all(any(known in place for known in out_of_place) for place in missing)
    startup = parts["PodCliqueSet.spec.template.cliqueStartupType"]
    assert startup["enum"] == [f"CliqueStartupType{word}" for word in ("AnyOrder", "InOrder", "Explicit")]


def test_mf001_every_field_of_the_model_is_explained() -> None:
    for place, part in PARTS:
        name = place.removeprefix("PodCliqueSet.spec.")
        inside = (
            ".podSpec." in name or ".topologyConstraint." in name or name.endswith(("items", "additionalProperties"))
        )
        if name != place and not inside:
            assert part["description"].endswith("."), name


@pytest.mark.parametrize(
    ("kind", "stored"),
    [("PodClique", CliqueStatus), ("PodCliqueScalingGroup", GroupStatus), ("PodCliqueSet", PodCliqueSetStatus)],
)
def test_mf001_every_field_of_a_status_is_in_the_definition(kind: str, stored: Any) -> None:
    assert stored.FIELDS.keys() <= dict(PARTS)[f"{kind}.status"]["properties"].keys()


def test_mf003_what_is_stored_is_admitted_whole() -> None:
    judged = Counter[str]()
    for item in (item for path in STORED for item in input_items_in_path(path, [], standard_input_bytes())):
        kind = str(item.value.get("kind"))
        schema = schema_of_kind(str(item.value.get("apiVersion")), kind)
        if schema is not None:
            judged[kind] += 1
            assert list(schema_violations_in(schema, item.value)) == [], (item.file, item.value["metadata"]["name"])
    assert min(judged[kind] for kind in KINDS) > 20


def test_mf003_what_we_store_is_admitted_whole(capsys: pytest.CaptureFixture[str]) -> None:
    source = str(ROOT / "examples" / "manifests" / "disaggregated.yaml")
    assert run_command_line(["plan", "-f", source, "-o", "json", "--now", "2026-11-20T09:00:00Z"], "grove") == 0
    (plan,) = json.loads(capsys.readouterr().out)["plans"]
    steps = [step for turn in plan["rounds"] for step in turn["steps"]]
    kinds = set()
    for step in steps:
        target, written = step["target"], step["object"]
        schema = schema_of_kind(target["apiVersion"], target["kind"])
        if schema is not None and step["action"] == "create":
            kinds.add(target["kind"])
            assert list(schema_violations_in(schema, written)) == [], target
        elif schema is not None and step["action"] == "setStatus":
            status = {key: value for key, value in written.items() if key != "removedConditions"}
            assert list(schema_violations_in(schema["properties"]["status"], status)) == [], target
    assert kinds == {"PodClique", "PodCliqueScalingGroup", "PodGang"}


def defaulted(schema: Json, value: Any) -> Any:
    """What a server makes of a value before any reader sees it."""
    if isinstance(value, list) and "items" in schema:
        return [defaulted(schema["items"], item) for item in value]
    if not isinstance(value, dict):
        return value
    known = schema.get("properties", {})
    whole = {
        **value,
        **{name: part["default"] for name, part in known.items() if "default" in part and name not in value},
    }
    return {name: defaulted(known[name], item) if name in known else item for name, item in whole.items()}


def bare() -> Json:
    containers = [{"name": "main", "ports": [{"containerPort": 80}, {"containerPort": 53, "protocol": "UDP"}]}]
    pod = {"containers": containers, "initContainers": [{"name": "init", "ports": [{"containerPort": 1}]}]}
    clique = {"name": "a", "spec": {"roleName": "a", "podSpec": pod, "autoScalingConfig": {"maxReplicas": 3}}}
    group = {"name": "g", "cliqueNames": ["a"], "scaleConfig": {"maxReplicas": 3}}
    template = {"cliques": [clique], "podCliqueScalingGroups": [group]}
    return {"metadata": {"name": "llm"}, "spec": {"updateStrategy": {}, "template": template}}


@pytest.mark.req("WL-190")
def test_mf001_a_server_fills_in_what_we_fill_in() -> None:
    for raw in (bare(), sound(), {"metadata": {"name": "x"}, "spec": {"template": {"cliques": []}}}):
        schema = dict(schemas())["PodCliqueSet"]
        assert podcliqueset_with_defaults(defaulted(schema, raw)) == podcliqueset_with_defaults(raw)
    own = defaulted(dict(schemas())["PodCliqueSet"], bare())
    webhook = podcliqueset_with_defaults(own)
    assert own["spec"]["replicas"] == webhook["spec"]["replicas"] == 0
    clique = own["spec"]["template"]["cliques"][0]["spec"]
    assert clique.keys() ^ webhook["spec"]["template"]["cliques"][0]["spec"].keys() == {"minAvailable"}


def test_mf003_subresources_and_names() -> None:
    found = {}
    for definition in grove_crd_manifests():
        spec = definition["spec"]
        version = spec["versions"][0]
        names, subresources = spec["names"], version.get("subresources", {})
        assert definition["metadata"]["name"] == f"{names['plural']}.{spec['group']}"
        scale = subresources.get("scale", {}).get("labelSelectorPath")
        found[names["kind"]] = (spec["group"], names["plural"], names["shortNames"], scale, "status" in subresources)
        schema = version["schema"]["openAPIV3Schema"]
        for path in subresources.get("scale", {}).values():
            part = schema
            for step in path.lstrip(".").split("."):
                part = part["properties"][step]
        columns = {column["jsonPath"].lstrip(".").partition("[")[0] for column in version["additionalPrinterColumns"]}
        for path in columns - {"metadata.creationTimestamp"}:
            part = schema
            for step in path.split("."):
                part = part["properties"][step]
    assert found == {
        "PodCliqueSet": ("grove.io", "podcliquesets", ["pcs"], ".status.hpaPodSelector", True),
        "PodClique": ("grove.io", "podcliques", ["pclq"], ".status.hpaPodSelector", True),
        "PodCliqueScalingGroup": ("grove.io", "podcliquescalinggroups", ["pcsg"], ".status.selector", True),
        "PodGang": ("scheduler.grove.io", "podgangs", ["pg"], None, True),
        "ClusterTopology": ("grove.io", "clustertopologies", ["ctopo"], None, False),
    }


def test_mf001_the_pod_spec_is_whole() -> None:
    for kind, path in (("PodCliqueSet", ".spec.template.cliques.items.spec"), ("PodClique", ".spec")):
        pod = dict(PARTS)[f"{kind}{path}.podSpec"]
        assert pod["required"] == ["containers"]
        container = pod["properties"]["containers"]["items"]["properties"]
        assert container["imagePullPolicy"]["enum"] == ["Always", "IfNotPresent", "Never"]
        assert container["resources"]["properties"]["limits"]["additionalProperties"]["x-kubernetes-int-or-string"]
        published = json.loads(files("grove_shell.manifests").joinpath("pod_spec.json").read_text(encoding="utf-8"))
        assert pod["properties"].keys() == published["PodSpec"]["properties"].keys()
        assert {"nodeSelector", "tolerations", "resourceClaims", "schedulingGates"} <= pod["properties"].keys()


def without_pod_specs(value: Any) -> Any:
    """Definitions as a reviewer reads them: pod_spec.json is a file of its own."""
    if isinstance(value, list):
        return [without_pod_specs(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: "the PodSpec of pod_spec.json" if key == "podSpec" else without_pod_specs(item)
        for key, item in value.items()
    }


def test_mf001_the_definitions_are_as_blessed(capsys: pytest.CaptureFixture[str], *, bless: bool) -> None:
    assert run_command_line(["manifests", "--only", "crds"], "grove") == 0
    documents = list(yaml.load_all(capsys.readouterr().out, yaml.CSafeLoader))
    text = yaml.safe_dump_all([without_pod_specs(one) for one in documents], sort_keys=False, width=120)
    if bless:
        GOLDEN.write_text(text, encoding="utf-8")
    assert GOLDEN.read_text(encoding="utf-8") == text


@pytest.mark.req("PL-001")
def test_mf025_parts_and_formats_say_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["manifests"], "grove") == 0
    text = capsys.readouterr().out
    assert not re.search(r"[&*]id\d", text)
    assert run_command_line(["manifests", "-o", "json"], "grove") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["kind"] == "List"
    assert list(yaml.load_all(text, yaml.CSafeLoader)) == document["items"]
    assert run_command_line(["manifests", "-o", "json", "--only", "crds"], "grove") == 0
    assert json.loads(capsys.readouterr().out)["items"] == list(grove_crd_manifests()) == document["items"][:5]
    assert run_command_line(["manifests", "--only", "everything"], "grove") == 64
