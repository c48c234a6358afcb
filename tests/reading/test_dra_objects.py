"""What an input says of ComputeDomains, and what a configuration beside it changes."""

import io
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from grove_core.resources.configuration import ComputeDomainFormatName, MnnvlMode, ServedApis
from grove_shell.actions.configuration_files import read_operator_configuration
from grove_shell.reading.cluster_reading import load_input_files
from grove_shell.reading.input_completeness import CollectedObjects, LoadedInput, snapshot_header_item

Json = dict[str, Any]


def domain(name: str, **metadata: object) -> Json:
    meta = {"namespace": "ml", "name": name, "uid": f"uid of {name}", "resourceVersion": "7", **metadata}
    return {"apiVersion": "resource.nvidia.com/v1beta1", "kind": "ComputeDomain", "metadata": meta, "spec": {}}


def definition(*channel: str) -> Json:
    schema: Json = {"properties": {"spec": {"properties": {"channel": {"properties": {key: {} for key in channel}}}}}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "computedomains.resource.nvidia.com", "uid": "crd"},
        "spec": {"versions": [{"name": "v1beta1", "schema": {"openAPIV3Schema": schema}}]},
    }


def claim(version: str, name: str) -> Json:
    return {
        "apiVersion": f"resource.k8s.io/{version}",
        "kind": "ResourceClaim",
        "metadata": {"name": name, "uid": name},
    }


def loaded(tmp_path: Path, *items: Json) -> LoadedInput:
    path = tmp_path / "input.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}), encoding="utf-8")
    return load_input_files([str(path)], io.BytesIO(), raising=False)


@pytest.mark.parametrize(
    ("channel", "shape"),
    [
        (("resourceClaimTemplate", "allocationMode"), ComputeDomainFormatName.NVIDIA),
        (("resourceClaimTemplateName",), ComputeDomainFormatName.DESIGN),
        ((), ComputeDomainFormatName.DESIGN),
    ],
)
def test_in047_the_definition_shows_the_shape(
    tmp_path: Path, channel: tuple[str, ...], shape: ComputeDomainFormatName
) -> None:
    assert loaded(tmp_path, definition(*channel)).cluster.served.domains is shape


def test_in047_claims_show_their_version(tmp_path: Path) -> None:
    assert loaded(tmp_path).cluster.served == ServedApis()
    assert loaded(tmp_path, claim("v1beta1", "a")).cluster.served.claims == "resource.k8s.io/v1beta1"
    both = (claim("v1beta1", "a"), claim("v1", "b"), claim("v1beta2", "c"))
    assert loaded(tmp_path, *both).cluster.served.claims == "resource.k8s.io/v1"


@pytest.mark.parametrize(
    "served",
    [
        ServedApis(domains=ComputeDomainFormatName.NVIDIA, claims="resource.k8s.io/v1"),
        ServedApis(domains=ComputeDomainFormatName.DESIGN, claims="resource.k8s.io/v1beta1"),
        ServedApis(without_domains=True, claims="resource.k8s.io/v1"),
        ServedApis(),
    ],
)
def test_in047_a_capture_says_what_was_offered(tmp_path: Path, served: ServedApis) -> None:
    taken = snapshot_header_item(CollectedObjects(origin="here", served=served), datetime(2026, 11, 20, tzinfo=UTC))
    read = loaded(tmp_path, taken)
    assert (read.cluster.served, read.faults) == (served, ())


def test_in047_a_capture_with_an_unknown_shape_is_a_fault(tmp_path: Path) -> None:
    taken = snapshot_header_item(
        CollectedObjects(origin="here", served=ServedApis()), datetime(2026, 11, 20, tzinfo=UTC)
    )
    (fault,) = loaded(tmp_path, {**taken, "offers": {"computeDomains": "round"}}).faults
    assert fault.path == "offers.computeDomains"


def test_in033_domains_are_known_by_name(tmp_path: Path) -> None:
    owned = {"apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "name": "a", "uid": "a", "controller": True}
    mine, foreign = domain("a-cd-0", ownerReferences=[owned]), domain("a-cd-1")
    cluster = loaded(tmp_path, mine, foreign).cluster
    assert set(cluster.domains) == {("ml", "a-cd-0"), ("ml", "a-cd-1")}
    assert [one.ref.name for one in cluster.domains_of["a"]] == ["a-cd-0"]


def test_in033_a_domain_that_does_not_read_is_a_gap(tmp_path: Path) -> None:
    read = loaded(tmp_path, domain("a-cd-0", deletionTimestamp="yesterday"))
    assert [fault.path for fault in read.faults] == ["metadata.deletionTimestamp"]
    assert ("ComputeDomain", "ml") in read.cluster.gaps


def test_cl055_the_configuration_is_that_of_the_operator(tmp_path: Path) -> None:
    path = tmp_path / "operator.yaml"
    path.write_text("mnnvl: {enabled: true, mode: annotations, computeDomainShape: nvidia}", encoding="utf-8")
    reported, rules, _, faults, *_ = read_operator_configuration(str(path))
    assert (reported.mnnvl.is_enabled_in_mode(MnnvlMode.ANNOTATIONS), reported.mnnvl.shape, faults) == (
        True,
        ComputeDomainFormatName.NVIDIA,
        (),
    )
    assert rules is None, "it names none (CL-055)"
    path.write_text("network: {autoMNNVLEnabled: true}", encoding="utf-8")
    assert read_operator_configuration(str(path)).configuration.mnnvl.is_enabled_in_mode(MnnvlMode.OPERATOR)
    path.write_text("network: {autoMNNVLEnabled: true}\nmnnvl: {enabled: false}", encoding="utf-8")
    assert not read_operator_configuration(str(path)).configuration.mnnvl.enabled


@pytest.mark.parametrize(
    ("text", "got"),
    [
        ("kind: OperatorConfiguration\nrules: design\n---\nkind: OperatorConfiguration\nrules: field\n", "2"),
        ("kind: List\nitems: []\n", "none"),
    ],
)
def test_cl055_a_file_is_one_configuration(tmp_path: Path, text: str, got: str) -> None:
    """The second one would decide which gangs end, and the dropped one would not be reported."""
    path = tmp_path / "operator.yaml"
    path.write_text(text, encoding="utf-8")
    (fault,) = read_operator_configuration(str(path)).problems
    assert (fault.file, fault.expected, fault.got) == (str(path), "one configuration", got)


def test_cl055_every_mistake_in_it_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "operator.yaml"
    path.write_text("mnnvl: {enabled: perhaps, mode: both, shape: nvidia}", encoding="utf-8")
    faults = read_operator_configuration(str(path)).problems
    assert sorted(fault.path for fault in faults) == [
        "mnnvl.enabled",
        "mnnvl.mode",
        "mnnvl.shape",
    ]
