"""The workflow for pull requests: its own scripts, in a repository, with comments and exit status compared."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest

from tests.integrations.workflow import ROOT, WORKFLOW, PullRequest, read_workflow, steps_by_name

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="the workflow compares two commits with git")

COMMENTS: Final = WORKFLOW.with_name("comments.md")
INTRODUCTION: Final = """\
# What the workflow says on a pull request

Each of these is a whole comment, made by its scripts from files in `examples/`. Written by
`pytest --bless tests/integrations`; a test holds it up to date.
"""
LLAMA: Final = (ROOT / "examples/manifests/disaggregated.yaml").read_text(encoding="utf-8")
REFUSED: Final = (ROOT / "examples/manifests/refused.yaml").read_text(encoding="utf-8")
QWEN: Final = (ROOT / "examples/edits/qwen-new-image.yaml").read_text(encoding="utf-8")
CLUSTER: Final = (ROOT / "examples/real-cluster.yaml").read_text(encoding="utf-8")
FOREIGN: Final = {"values.yaml": "a: 1\n", "manifests/kustomization.yaml": "resources: [llama.yaml]\n"}
RUNS: Final = {
    "MANIFESTS": "manifests",
    "CLUSTER": "-f cluster.yaml --now 2026-11-21T09:40:15Z",
    "PLAN": "--until 2m --fail-on terminate --fail-on delete",
}
EMPTY: Final = {"CLUSTER": "--now 2026-11-20T09:00:00Z"}


def restarting(home: Path) -> PullRequest:
    """A newer image for workers that run, in a set whose gangs are ended after 30 seconds."""
    request = PullRequest(home, RUNS)
    before = QWEN.replace("vllm-runtime:0.7.0", "vllm-runtime:0.6.1")
    assert before != QWEN
    request.open({"manifests/qwen.yaml": before, "cluster.yaml": CLUSTER}, {"manifests/qwen.yaml": QWEN})
    return request


def refused(home: Path) -> PullRequest:
    request = PullRequest(home, EMPTY)
    request.open({"manifests/llama.yaml": LLAMA}, {"manifests/llama-wrong.yaml": REFUSED})
    return request


def good(home: Path) -> PullRequest:
    request = PullRequest(home, EMPTY)
    request.open({"README.md": "Manifests.\n"}, {"manifests/llama.yaml": LLAMA, **FOREIGN})
    return request


def test_comments_and_status_are_as_blessed(tmp_path: Path, *, bless: bool) -> None:
    page = INTRODUCTION
    for title, make, status in (
        ("An edit that restarts pods, and a delay that is too short", restarting, 3),
        ("A manifest that would be refused", refused, 1),
        ("A new set", good, 0),
    ):
        home = tmp_path / make.__name__
        home.mkdir()
        request = make(home)
        assert request.ask() == status
        assert (home / "temp/summary.md").read_text(encoding="utf-8") == request.comment
        page += f"\n## {title}\n\nThe job ends with {status}.\n\n{request.comment.strip()}\n"
    if bless:
        COMMENTS.write_text(page, encoding="utf-8")
    assert COMMENTS.read_text(encoding="utf-8") == page


def test_an_edit_without_a_cluster_is_compared_with_the_base_branch(tmp_path: Path) -> None:
    request = PullRequest(tmp_path, EMPTY | {"PLAN": "--fail-on restart"})
    edit = LLAMA.replace("engine:2.1", "engine:2.2")
    request.open({"manifests/llama.yaml": LLAMA}, {"manifests/llama.yaml": edit})
    assert request.ask() == 3
    assert "restarts 38 pods" in request.comment


def test_one_comment_is_posted_and_then_kept_up_to_date(tmp_path: Path) -> None:
    request = PullRequest(tmp_path, EMPTY, {"github.event.pull_request.number": "12", **PullRequest(tmp_path).contexts})
    request.open({"README.md": "Manifests.\n"}, {"manifests/llama.yaml": REFUSED})
    assert request.ask() == 1
    request.tell()
    assert request.posted == {"7": request.comment}
    request.push({"manifests/llama.yaml": LLAMA})
    assert request.ask() == 0
    request.tell()
    assert request.posted == {"7": request.comment}
    assert "refused" not in request.comment
    assert request.requests == [
        "GET repos/o/r/issues/12/comments",
        "POST repos/o/r/issues/12/comments",
        "GET repos/o/r/issues/12/comments",
        "PATCH repos/o/r/issues/comments/7",
    ]


def test_a_pull_request_about_something_else_gets_no_comment(tmp_path: Path) -> None:
    request = PullRequest(tmp_path, EMPTY, {"github.event.pull_request.number": "12", **PullRequest(tmp_path).contexts})
    request.open({"manifests/llama.yaml": LLAMA}, {"README.md": "Manifests.\n", **FOREIGN})
    assert request.ask() == 0
    request.tell()
    assert request.comment == "<!-- grove plan -->\nNo manifest of Grove is changed.\n"
    assert request.posted == {}


def test_a_change_is_judged_beside_what_it_replaces(tmp_path: Path) -> None:
    request = PullRequest(tmp_path, EMPTY)
    request.open({"manifests/llama.yaml": LLAMA}, {"manifests/llama.yaml": LLAMA.replace("router", "gate")})
    assert request.ask() == 1
    assert "--old=../before/manifests/llama.yaml" in request.comment
    assert "grove plan" not in request.comment.removeprefix("<!-- grove plan -->")


def test_only_the_sets_that_are_changed_are_planned(tmp_path: Path) -> None:
    """One says no namespace, and one is beside a topology, which is no set."""
    request = PullRequest(tmp_path, EMPTY)
    topology = (ROOT / "examples/edits/aws-p5-zone-ids.yaml").read_text(encoding="utf-8")
    other, third = (LLAMA.replace("name: llama", f"name: {name}") for name in ("mixtral", "phi"))
    third = third.replace("  namespace: inference\n", "")
    request.open({"a.yaml": LLAMA}, {"b.yaml": f"{other}---\n{topology}", "c.yaml": third})
    assert request.ask() == 0
    assert " inference/mixtral default/phi\n" in request.comment
    assert request.comment.count("replicas available") == 2


def test_without_a_set_nothing_is_planned(tmp_path: Path) -> None:
    request = PullRequest(tmp_path, EMPTY)
    topology = (ROOT / "examples/edits/aws-p5-zone-ids.yaml").read_text(encoding="utf-8")
    request.open({"a.yaml": LLAMA}, {"topology.yaml": topology})
    assert request.ask() == 0
    assert "$ grove validate" in request.comment
    assert "$ grove plan" not in request.comment


def test_a_name_with_spaces_and_text_like_markup_stay_what_they_are(tmp_path: Path) -> None:
    request = PullRequest(tmp_path, EMPTY)
    wrong = LLAMA.replace("replicas: 2", "replicas: '</pre><b>&'", 1)
    request.open({"README.md": "Manifests.\n"}, {"manifests/a llama.yaml": wrong})
    assert request.ask() == 1
    assert "--filename=manifests/a llama.yaml" in request.comment
    assert "&lt;/pre>&lt;b>&amp;" in request.comment
    assert request.comment.count("</pre>") == 1


def test_a_long_page_fits_into_a_comment(tmp_path: Path) -> None:
    request = PullRequest(tmp_path, EMPTY)
    request.open({"README.md": ""}, {f"{i}.yaml": LLAMA.replace("name: llama", f"name: l{i}") for i in range(40)})
    assert request.ask() == 0
    assert "... the rest is in the log" in request.comment
    assert len(request.comment) < 65_536


@pytest.mark.skipif(shutil.which("jq") is None, reason="gh brings a jq of its own, and here there is none")
def test_the_comment_that_is_looked_for_is_ours() -> None:
    said = [("github-actions[bot]", "other"), ("somebody", "<!-- grove plan -->"), ("github-actions[bot]",) * 2]
    comments = [{"id": at, "user": {"login": who}, "body": body} for at, (who, body) in enumerate(said)]
    comments.append({"id": 9, "user": {"login": "github-actions[bot]"}, "body": "<!-- grove plan -->\n..."})
    query = steps_by_name()["Tell"]["run"].split("ours='")[1].split("'\n")[0]
    found = subprocess.run(["jq", query], input=json.dumps(comments), capture_output=True, text=True, check=True)
    assert found.stdout == "9\n"


def test_scripts_hold_no_expressions_and_only_what_has_to_may_be_written() -> None:
    """What a pull request says reaches scripts as values, never as text of theirs."""
    workflow = read_workflow()
    assert workflow["permissions"] == {"contents": "read", "pull-requests": "write"}
    assert list(workflow["on"]) == ["pull_request"]
    assert workflow["defaults"]["run"]["shell"] == "bash"
    scripts = {name: step["run"] for name, step in steps_by_name().items()}
    assert list(scripts) == ["Install", "Ask", "Tell", "Judge"]
    assert not [name for name, script in scripts.items() if "${{" in script]
