"""What a real API server does about names that two definitions ask for, and what is said about it."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from grove_shell.manifests.crd_definitions import grove_crd_manifests
from tests.cluster.api import APPLY, Api, Json, wait_until
from tests.cluster.installing import Program
from tests.cluster.operators import Operator, grove, would_start
from tests.cluster.plane import REVIEWER, ControlPlane
from tests.cluster.programs import HOST

CRDS: Final = "customresourcedefinitions"
TOPOLOGIES: Final = "clustertopologies.grove.io"
BINDINGS: Final = "clustertopologybindings.grove.io"
CONFIG: Final = "mnnvl: {enabled: false}\n"
Judged = Callable[..., "subprocess.CompletedProcess[str]"]


def defined(kind: str, plural: str, short: str, scope: str = "Namespaced") -> Json:
    """A small definition in the group of ours."""
    names = {"kind": kind, "listKind": f"{kind}List", "plural": plural, "singular": kind.lower(), "shortNames": [short]}
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    versions = [{"name": "v1alpha1", "served": True, "storage": True, "schema": schema}]
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.grove.io"},
        "spec": {"group": "grove.io", "names": names, "scope": scope, "versions": versions},
    }


BINDING: Final = defined("ClusterTopologyBinding", "clustertopologybindings", "ct", "Cluster")
"""With the names of the Go operator's."""
FORMER: Final = defined("ClusterTopology", "clustertopologies", "ct", "Cluster")
"""With the names of its older releases, and of ours."""


def apply(api: Api, *objects: Json) -> None:
    """One after the other, each when the server has judged the names of the one before."""
    for one in objects:
        name = one["metadata"]["name"]
        api.patch(CRDS, name, patch=one, media=APPLY, fieldManager="tests", force="true")
        wait_until(lambda name=name: conditions(api, name), is_judged, f"the names of {name} are judged")  # type: ignore[misc]  # mypy infers no type for a default of a lambda


def conditions(api: Api, name: str) -> Json:
    status = api.get(CRDS, name).get("status", {})
    return {one["type"]: one["status"] for one in status.get("conditions") or []}


def is_judged(found: Json) -> bool:
    """Accepted and served, or refused."""
    return found.get("NamesAccepted") == "False" or is_established(found)


def is_established(found: Json) -> bool:
    return found.get("NamesAccepted") == found.get("Established") == "True"


@pytest.fixture
def api(bare_plane: ControlPlane) -> Api:
    return bare_plane.api()


@pytest.fixture
def judged(bare_plane: ControlPlane, tmp_path: Path) -> Judged:
    """The preflight on that server, as a user."""
    config = tmp_path / "operator.yaml"
    config.write_text(CONFIG, encoding="utf-8")

    def judge(user: str = "admin") -> "subprocess.CompletedProcess[str]":
        kubeconfig = bare_plane.kubeconfig(user)
        return grove("validate", "--preflight", "--live", "--config", str(config), kubeconfig=kubeconfig)

    return judge


@pytest.mark.parametrize("first", ["ours", "theirs"])
def test_mf010_both_definitions_are_established_in_either_order(api: Api, judged: Judged, first: str) -> None:
    order = [*grove_crd_manifests(), BINDING] if first == "ours" else [BINDING, *grove_crd_manifests()]
    apply(api, *order)
    found = {one["metadata"]["name"]: conditions(api, one["metadata"]["name"]) for one in order}
    assert len(found) == 6
    assert all(map(is_established, found.values())), found
    ran = judged()
    assert (ran.returncode, ran.stdout) == (0, would_start()), ran.stderr


@pytest.mark.req("MF-010")
def test_cl032_the_former_definition_lets_go_of_the_name(api: Api, judged: Judged) -> None:
    """An installation of before keeps the Go operator's definition from being served, until it is replaced."""
    ours = list(grove_crd_manifests())
    apply(api, *(one for one in ours if one["metadata"]["name"] != TOPOLOGIES), FORMER, BINDING)
    assert conditions(api, BINDINGS) == {"NamesAccepted": "False", "Established": "False"}
    ran = judged()
    assert ran.returncode == 1, ran.stderr
    assert ran.stdout == f'name taken: {BINDINGS}: the short name "ct" is taken by {TOPOLOGIES}  CL-032\n'
    apply(api, *ours)
    wait_until(lambda: conditions(api, BINDINGS), is_established, "the one that waited is served")
    assert is_established(conditions(api, TOPOLOGIES))
    assert judged().returncode == 0


def test_cl032_before_the_first_installation(judged: Judged) -> None:
    ran = judged()
    assert (ran.returncode, ran.stdout) == (1, "no name taken: no other CRD has a name of Grove's CRDs  CL-032\n")
    assert "is Grove installed there?" in ran.stderr


@pytest.mark.parametrize("user", ["admin", "viewer"])
@pytest.mark.req("CL-032")
def test_cl032_the_object_that_takes_the_name_of_sets_is_named_everywhere(
    api: Api, judged: Judged, bare_plane: ControlPlane, tmp_path: Path, user: str
) -> None:
    """By the preflight also for a user without the right to list definitions."""
    apply(api, defined("Other", "others", "pcs"), *grove_crd_manifests())
    assert conditions(api, "podcliquesets.grove.io")["NamesAccepted"] == "False"
    sentence = 'podcliquesets.grove.io: the short name "pcs" is taken by others.grove.io'
    ran = judged(user)
    assert ran.returncode == 1
    assert ran.stdout == f"name taken: {sentence}  CL-032\n"

    operator = Operator(bare_plane)
    operator.launch()
    assert operator.await_end() == 1
    assert operator.text.endswith(f"; {sentence}\n")

    words = ["webhooks", "--kubeconfig", str(bare_plane.kubeconfig(REVIEWER)), "-n", "default", "--url-host", HOST]
    config: dict[str, Any] = {"kind": "WebhookConfiguration", "listening": {"host": HOST, "port": 0}, "farewell": "1ms"}
    program = Program(words, config, tmp_path / "webhooks.log")
    with program.running():
        (line,) = wait_until(lambda: program.said("name taken"), bool, "the webhooks log it")
    taken = {"definition": "podcliquesets.grove.io", "role": "short name", "name": "pcs", "holder": "others.grove.io"}
    assert taken.items() <= line.items()


def test_cl032_an_operator_that_can_do_without_it_logs_it_and_starts(api: Api, bare_plane: ControlPlane) -> None:
    apply(api, defined("Other", "others", "ctopo"), *grove_crd_manifests())
    assert not is_established(conditions(api, TOPOLOGIES))
    operator = Operator(bare_plane).start()
    line = operator.await_line("name taken")
    assert (line["level"], line["definition"], line["name"]) == ("warning", TOPOLOGIES, "ctopo")
    assert line["holder"] == "others.grove.io"
    assert operator.stop() == 0
