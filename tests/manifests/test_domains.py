"""The definitions of ComputeDomains: printed only when asked for, and as they are reviewed."""

import json
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from grove_core.resources.compute_domain import DAEMON_NODE_NAME, NODE_NAME, READY, DaemonEntry
from grove_shell.cli.main import run_command_line
from grove_shell.manifests.crd_definitions import compute_domain_crd_manifests

GOLDEN: Final = Path(__file__).parent / "domains.yaml"


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> list[dict[str, Any]]:
    assert run_command_line(["manifests", "-o", "json", *words], "grove") == 0
    items: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["items"]
    return items


def test_dc110_they_are_printed_only_when_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    plain = printed(capsys)
    asked = printed(capsys, "--with", "compute-domains")
    assert asked == [*compute_domain_crd_manifests(), *plain]
    assert not [one for one in plain if "nvidia" in one["metadata"]["name"]]
    assert printed(capsys, "--only", "crds", "--with", "compute-domains")[:2] == list(compute_domain_crd_manifests())


def test_dc110_they_are_as_blessed(*, bless: bool) -> None:
    text = "".join(f"---\n{yaml.safe_dump(one, sort_keys=False)}" for one in compute_domain_crd_manifests())
    if bless:
        GOLDEN.write_text(text, encoding="utf-8")
    assert GOLDEN.read_text(encoding="utf-8") == text


def test_dc110_the_definitions_have_exactly_the_fields_of_an_entry() -> None:
    domain, clique = (
        {**one["spec"]["versions"][0]["schema"]["openAPIV3Schema"]} for one in compute_domain_crd_manifests()
    )
    entry = DaemonEntry("node-a", "10.0.0.1", "c", 0, READY)
    for entries, node in (
        (domain["properties"]["status"]["properties"]["nodes"], NODE_NAME),
        (clique["properties"]["daemons"], DAEMON_NODE_NAME),
    ):
        assert entries["items"]["properties"].keys() == entry.as_json(node).keys()
        assert entries["x-kubernetes-list-map-keys"] == [node]


def test_dc110_status_and_immutability_are_as_in_the_existing_definitions() -> None:
    domain, clique = compute_domain_crd_manifests()
    (served,) = domain["spec"]["versions"]
    schema = served["schema"]["openAPIV3Schema"]["properties"]
    assert served["subresources"] == {"status": {}}
    assert schema["spec"]["x-kubernetes-validations"][0]["rule"] == "self == oldSelf"
    assert schema["status"]["properties"]["cliques"]["x-kubernetes-list-map-keys"] == ["id"]
    assert "subresources" not in clique["spec"]["versions"][0]
    assert domain["metadata"]["name"] == "computedomains.resource.nvidia.com"
    assert clique["metadata"]["name"] == "computedomaincliques.resource.nvidia.com"
