"""Plans of a live cluster: pods without a label count, and an illegal plan is not applied."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import pytest
import yaml

from grove_core.kernel.refs import Guard
from grove_core.kernel.steps import Delete
from grove_core.kernel.structs import replace
from grove_core.plan.plan import Plan
from grove_core.reconcile import reconcile
from grove_core.resources.api_names import MANAGED_BY
from grove_core.resources.labels import GROUP_REPLICA, SET
from grove_core.rule_sets.rule_set import RuleSet
from grove_shell.actions.apply import apply_saved_plan
from grove_shell.apply.planned_round import plan_for_root
from grove_shell.cache.cache_view import Observation
from grove_shell.cache.cluster_cache import ClusterCache
from grove_shell.cli.main import run_command_line
from grove_shell.client.api_kinds import KINDS
from tests.operator.list_server import ListingServer

Json = dict[str, Any]
DEGRADED: Final = Path(__file__).parent.parent.parent / "examples/degraded.yaml"
NOW: Final = "2026-11-20T09:00:00Z"
PODS: Final = "/api/v1/namespaces/inference/pods?"


@pytest.fixture
def server() -> Iterator[ListingServer]:
    with ListingServer(yaml.load(DEGRADED.read_text(encoding="utf-8"), yaml.CSafeLoader)["items"]) as running:
        yield running


def planned(server: ListingServer, tmp_path: Path, capsys: pytest.CaptureFixture[str], *options: str) -> Json:
    asked = ["plan", "--live", "--kubeconfig", str(server.kubeconfig(tmp_path)), "--now", NOW, "-o", "json"]
    assert run_command_line([*asked, *options], "grove") == 0
    found: Json = json.loads(capsys.readouterr().out)
    return found


def lose_labels(server: ListingServer, *keys: str) -> None:
    for item in server.items:
        if item["kind"] == "Pod":
            item["metadata"]["labels"] = {
                key: text for key, text in item["metadata"]["labels"].items() if key not in keys
            }


@pytest.mark.parametrize("keys", [(MANAGED_BY,), (MANAGED_BY, *SET.keys)], ids=["managed-by", "both"])
@pytest.mark.parametrize("options", [(), ("-A",), ("--until", "12h")], ids=" ".join)
def test_op053_pods_without_their_label_are_there(
    keys: tuple[str, ...],
    options: tuple[str, ...],
    server: ListingServer,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = planned(server, tmp_path, capsys, *options)
    lose_labels(server, *keys)
    foreign = {"kind": "Pod", "metadata": {"name": "s", "namespace": "inference", "uid": "s"}, "spec": {}}
    server.items.append(foreign)
    assert planned(server, tmp_path, capsys, *options) == before


def test_op053_nothing_is_asked_twice_where_all_pods_are_ready(
    server: ListingServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.items = [item for item in server.items if item["metadata"]["name"].startswith("gemma")]
    planned(server, tmp_path, capsys)
    assert [one for one in server.asked if one.startswith(PODS)] == [PODS + KINDS["Pod"].selector]


def test_op053_what_may_not_be_listed_is_not_asked_for_twice(
    server: ListingServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Pods are short there, so that what is judged is listed again."""
    server.refused = {"podcliquescalinggroups"}
    reported = planned(server, tmp_path, capsys)
    assert "PodCliqueScalingGroup" in json.dumps(reported["notCollected"])
    assert sum("podcliquescalinggroups" in one for one in server.asked) == 1
    assert sum("/podcliques?" in one for one in server.asked) == 2


@pytest.mark.parametrize(
    ("versions", "listed", "lacks"),
    [
        (("v1", "v1beta1"), "v1", False),
        (("v1beta2", "v1beta1"), "v1beta2", False),
        ((), "v1", False),
        (("v1alpha3",), "v1", True),
    ],
    ids=["1.34", "1.33", "no group", "alpha"],
)
def test_cl108_claims_in_the_served_version(
    versions: tuple[str, ...],
    listed: str,
    *,
    lacks: bool,
    server: ListingServer,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    server.claims = versions
    found = planned(server, tmp_path, capsys)["notCollected"]
    kinds = ["ResourceClaim in inference", "ResourceClaimTemplate in inference"]
    assert [kind for kind in found if kind in kinds] == (kinds if lacks else [])
    asked = {one.partition("?")[0] for one in server.asked}
    assert f"/apis/resource.k8s.io/{listed}/namespaces/inference/resourceclaims" in asked


def saved(server: ListingServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> tuple[str, str]:
    """A plan that was reviewed, and ends gangs."""
    path = tmp_path / "plan.json"
    found = planned(server, tmp_path, capsys, "--out", str(path))
    steps = [step for plan in found["plans"] for step in plan["rounds"][0]["steps"]]
    assert any(step["action"] == "delete" for step in steps)
    return str(path), str(tmp_path / "kubeconfig")


@pytest.mark.req("OP-052")
def test_op053_a_gang_that_serves_without_labels_is_not_ended(
    server: ListingServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Since the review all its pods became ready, and lost their labels."""
    options = saved(server, tmp_path, capsys)
    for item in server.items:
        if item["kind"] == "Pod":
            item["status"] |= {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    lose_labels(server, MANAGED_BY)
    assert apply_saved_plan(*options) == 4
    assert "was Delete" in capsys.readouterr().err
    assert server.writes == []


def test_op052_what_breaks_a_law_is_reported_and_not_begun(
    server: ListingServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A planner that aims its deletions at what is not there any more."""
    aimed: list[str] = []

    def decide(seen: Observation, rules: RuleSet) -> Plan:
        plan = plan_for_root(seen, rules)
        aimed.extend(step.target.short for step in plan.steps if isinstance(step.action, Delete))
        steps = (
            replace(step, action=replace(step.action, guard=Guard("of last year", "1")))
            if isinstance(step.action, Delete)
            else step
            for step in plan.steps
        )
        return replace(plan, steps=tuple(steps))

    path, kubeconfig = saved(server, tmp_path, capsys)
    with patch.dict(apply_saved_plan.__kwdefaults__, decide=decide):
        assert run_command_line(["apply", path, "--kubeconfig", kubeconfig], "grove") == 1
    said = capsys.readouterr().err
    assert "a plan made now breaks laws of planning" in said
    assert aimed
    assert [name for name in aimed if f"{name}: expected" not in said] == []
    assert server.writes == []


def a_foreign_object(**owner: str) -> Json:
    owners = {"ownerReferences": [{"controller": True, **owner}]} if owner else {}
    meta = {"name": "gemma-9-router", "namespace": "inference", "uid": "u", "resourceVersion": "1", **owners}
    containers = [{"name": "main"}]
    spec = {"roleName": "router", "replicas": 1, "podSpec": {"containers": containers}}
    return {"apiVersion": "grove.io/v1alpha1", "kind": "PodClique", "metadata": meta, "spec": spec}


@pytest.mark.parametrize(
    ("owner", "words"),
    [
        ({}, "PodClique inference/gemma-9-router has no controller owner; it is of no PodCliqueSet, and left alone"),
        (
            {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "theirs", "uid": "r"},
            "PodClique inference/gemma-9-router is of ReplicaSet theirs, which is not there; it is left alone",
        ),
    ],
)
def test_in033_a_foreign_holder_of_a_name_is_reported_and_skipped(
    owner: dict[str, str], words: str, server: ListingServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = planned(server, tmp_path, capsys)
    server.items.append(a_foreign_object(**owner))
    where = ["--live", "--kubeconfig", str(server.kubeconfig(tmp_path)), "--now", NOW]
    assert run_command_line(["plan", *where, "-o", "json"], "grove") == 0
    said = capsys.readouterr()
    assert (json.loads(said.out), said.err) == (before, f"warning: {words}\n")
    assert run_command_line(["plan", *where], "grove") == 0
    assert f"warning: {words}\n" in capsys.readouterr().out
    assert run_command_line(["explain", *where, "pcs/gemma"], "grove") == 0
    assert capsys.readouterr().err == f"warning: {words}\n"


def test_in033_a_capture_is_a_cluster_and_a_file_is_none(
    server: ListingServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.items.append(a_foreign_object())
    capture, file = tmp_path / "capture.json", tmp_path / "file.json"
    assert (
        run_command_line(["snapshot", "--kubeconfig", str(server.kubeconfig(tmp_path)), "--out", str(capture)], "grove")
        == 0
    )
    capsys.readouterr()
    assert run_command_line(["plan", "-f", str(capture), "--now", NOW], "grove") == 0
    assert "warning: PodClique inference/gemma-9-router has no controller owner" in capsys.readouterr().out
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": server.items}), encoding="utf-8")
    assert run_command_line(["plan", "-f", str(file), "--now", NOW], "grove") == 1
    assert "PodClique inference/gemma-9-router" in capsys.readouterr().err


@pytest.mark.req("OP-052")
def test_wl027_what_would_be_refused_is_held_back_in_both(
    server: ListingServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One clique of a healthy set has a foreign owner now: a plan does not make it, and its review does not get old."""
    name, words = "gemma-0-router", "an object with that name exists, and is without a controller"
    for item in server.items:
        if item["metadata"]["name"] == name:
            del item["metadata"]["ownerReferences"]
    path, where = tmp_path / "plan.json", ["--kubeconfig", str(server.kubeconfig(tmp_path))]
    (plan,) = (
        plan
        for plan in planned(server, tmp_path, capsys, "--out", str(path), "inference/gemma")["plans"]
        if plan["root"]["name"] == "gemma"
    )
    held = [one for one in plan["rounds"][0]["withheld"] if one["target"]["name"] == name]
    assert [one["because"][0]["sentence"] for one in held] == [words]
    assert not any(step["action"] == "create" and step["target"]["name"] == name for step in plan["rounds"][0]["steps"])
    assert run_command_line(["explain", "--live", *where, "--now", NOW, f"pclq/{name}"], "grove") == 0
    assert words in capsys.readouterr().out
    run_command_line(["apply", "--dry-run", str(path), *where], "grove")
    assert f"PodClique/{name}: step" not in capsys.readouterr().err


@pytest.mark.req("WL-231")
def test_in033_a_clique_whose_scaling_group_is_gone_holds_its_set(
    server: ListingServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As the operator sees it; the collector of garbage has yet to come to it."""
    left = []
    for item in server.items:
        meta = item["metadata"]
        if meta["name"] == "gemma":
            meta["deletionTimestamp"] = NOW
        if meta["name"] == "gemma-0-router":
            meta["ownerReferences"][0] |= {"kind": "PodCliqueScalingGroup", "name": "gemma-0-pool", "uid": "gone"}
            meta["labels"][GROUP_REPLICA.primary] = "0"
        if meta["name"] in {"gemma", "gemma-0-router"}:
            left.append(item)
    server.items[:] = left
    (plan,) = planned(server, tmp_path, capsys, "--until", "1h")["plans"]
    cache = ClusterCache()
    for kind in KINDS:
        cache.replace_all_of_kind(kind, [item for item in left if item["kind"] == kind], "1")
    seen = cache.snapshot_of_set(("inference", "gemma"), datetime(2026, 11, 20, 9, tzinfo=UTC))
    assert seen is not None
    reported = [(held.target.name, [why.sentence for why in held.because]) for held in reconcile(seen).withheld]
    for round_ in plan["rounds"]:
        said = [(one["target"]["name"], [why["sentence"] for why in one["because"]]) for one in round_["withheld"]]
        assert (round_["steps"], said) == ([], reported)
    assert any("PodCliques, scaling groups and pods are gone: 1" in words for _, (words, *_) in reported)


def test_wl255_events_say_why_a_pod_is_missing(
    server: ListingServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    clique = next(one for one in server.items if one["metadata"]["name"] == "gemma-0-router")
    server.items = [one for one in server.items if not one["metadata"]["name"].startswith("gemma-0-router-")]
    about = {key: clique["metadata"][key] for key in ("namespace", "name", "uid")}
    about |= {"apiVersion": clique["apiVersion"], "kind": clique["kind"]}
    meta = {"name": "e", "namespace": "inference", "creationTimestamp": NOW}
    words = {"reason": "PodCreateFailed", "message": "exceeded quota: gpus"}
    server.items.append({"kind": "Event", "metadata": meta, "involvedObject": about, **words})
    where = ["--live", "--kubeconfig", str(server.kubeconfig(tmp_path)), "--now", NOW]
    for command in (["plan", "gemma"], ["explain", "pclq/gemma-0-router"]):
        server.refused = set()
        assert run_command_line([*command, *where], "grove") == 0
        assert "exceeded quota: gpus" in capsys.readouterr().out
        server.refused = {"events"}
        assert run_command_line([*command, *where], "grove") == 0, "they are not needed for a decision"
        assert "exceeded quota" not in capsys.readouterr().out
    asked = [one for one in server.asked if "/events?" in one]
    assert run_command_line(["snapshot", *where[1:3], "--out", str(tmp_path / "s.json")], "grove") == 0
    assert [one for one in server.asked if "/events?" in one] == asked, (
        "a snapshot has none, as their texts are not redacted"
    )
