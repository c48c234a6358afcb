"""What a plan leaves open is named above its sets, and fails checks: names, manifests, kinds and rounds."""

import json
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any, Final

import pytest

import grove_shell as grove
from grove_core.document.document_reading import plan_document_from_json
from grove_core.document.document_writing import plan_document_as_json
from grove_shell.cli.main import run_command_line
from grove_shell.policies.policy_input import policy_input
from tests.docs.test_plan_schema import VALIDATOR
from tests.kubectl_yaml import items_in

ROOT: Final = Path(__file__).parent.parent.parent
REAL: Final = ROOT / "examples" / "real-cluster.yaml"
MANIFEST: Final = ROOT / "examples" / "manifests" / "disaggregated.yaml"
NOW: Final = ("--now", "2026-11-21T09:40:15Z")
Json = dict[str, Any]


def planned(capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, str, str]:
    """Return the exit code of a plan, its page, and what it prints on standard error."""
    code = run_command_line(["plan", *NOW, *options], "grove")
    said = capsys.readouterr()
    return code, said.out, said.err


def file_of(path: Path, items: list[Json]) -> str:
    """Write objects as ``kubectl get -o json`` prints them."""
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}), encoding="utf-8")
    return str(path)


def stored_set(name: str) -> Json:
    """Return a set of the recorded cluster."""
    (found,) = (one for one in items_in(REAL) if (one["kind"], one["metadata"]["name"]) == ("PodCliqueSet", name))
    return found


def manifest_of(name: str, namespace: str) -> Json:
    """Return a stored set as a manifest of a namespace; without one where that is empty."""
    stored = stored_set(name)
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": stored["apiVersion"], "kind": "PodCliqueSet", "metadata": metadata, "spec": stored["spec"]}


def two_namespaces(path: Path) -> str:
    """Write the recorded set ``qwen`` in two namespaces."""
    stored = stored_set("qwen")
    other = {**stored, "metadata": {**stored["metadata"], "namespace": "prod", "uid": "uid-in-prod"}, "status": {}}
    return file_of(path, [{**stored, "status": {}}, other])


@pytest.mark.req("IN-086")
@pytest.mark.parametrize(
    ("namespace", "options", "fails"),
    [
        ("", (), {"restart", "unknown"}),
        ("llm-servin", (), {"unknown"}),
        ("", ("-n", "new"), {"unknown"}),
    ],
    ids=["without a namespace", "misspelt", "namespace of -n"],
)
def test_in086_the_sets_of_that_name_are_named(
    namespace: str, options: tuple[str, ...], fails: set[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edited = file_of(tmp_path / "edited.json", [manifest_of("qwen", namespace)])
    given = ("-f", two_namespaces(tmp_path / "cluster.json"), "-f", edited, "--complete", "all", *options)
    is_for = namespace or "".join(options[1:]) or "default"
    _, page, _ = planned(capsys, *given)
    note = f"note: {is_for}/qwen is planned as new; sets of that name in the input: llm-serving/qwen, prod/qwen\n"
    assert note in page.partition("\n\n")[0]
    assert ("The manifest names no namespace" in page) == (is_for == "default")
    for name in ("restart", "unknown"):
        code, _, said = planned(capsys, *given, "--fail-on", name)
        assert (code, said) == ((3, "failed by --fail-on: unknown\n") if name in fails else (0, ""))
    document = _document(capsys, *given)
    assert _set_for_policies(document, is_for, "qwen")["unknown"] == (is_for == "default")
    (one,) = (one for one in document["plans"] if one["root"]["namespace"] == is_for)
    assert one["sameName"] == {
        "sets": ["llm-serving/qwen", "prod/qwen"],
        "namespaceGiven": is_for != "default",
    }


@pytest.mark.req("IN-086", "IN-041")
def test_in086_a_set_with_a_name_of_its_own_and_an_edit_have_no_note(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new = manifest_of("qwen", "llm-serving")
    new["metadata"]["name"] = "qwen-2"
    edited = file_of(tmp_path / "edited.json", [new, manifest_of("qwen", "prod")])
    given = ("-f", two_namespaces(tmp_path / "cluster.json"), "-f", edited, "--complete", "all")
    code, page, _ = planned(capsys, *given, "--fail-on", "unknown")
    assert code == 0
    assert "planned as new" not in page


def _document(capsys: pytest.CaptureFixture[str], *options: str) -> Json:
    """Return the plan as JSON, which keeps to its schema and reads back."""
    assert run_command_line(["plan", *NOW, *options, "-o", "json"], "grove") == 0
    found: Json = json.loads(capsys.readouterr().out)
    VALIDATOR.validate(found)
    assert plan_document_as_json(plan_document_from_json(found), decisions=False)["plans"] == found["plans"]
    return found


def _set_for_policies(document: Json, namespace: str, name: str) -> Any:
    """Return a set of a plan as policies see it."""
    found = policy_input(plan_document_from_json(document), ())["sets"]
    (one,) = (one for one in found if (one["namespace"], one["name"]) == (namespace, name))
    return one


@pytest.mark.req("ED-011")
def test_ed011_a_manifest_that_only_old_has(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = MANIFEST.read_text(encoding="utf-8")
    old = tmp_path / "old"
    old.mkdir()
    (old / "llama.yaml").write_text(text, encoding="utf-8")
    (old / "other.yaml").write_text(text.replace("name: llama", "name: other"), encoding="utf-8")
    given = ("--old", str(old), "-f", str(MANIFEST), "--rules", "field")
    code, page, said = planned(capsys, *given, "--fail-on", "delete")
    assert (code, said) == (3, "failed by --fail-on: delete\n")
    note = "note: in --old and not in -f: inference/other; if it is deleted too, 16 PodCliques and 42 pods go"
    assert note in page.partition("\n\n")[0]
    assert planned(capsys, *given, "--fail-on", "terminate", "--fail-on", "unknown")[0] == 0
    document = _document(capsys, *given)
    assert "delete" not in _set_for_policies(document, "inference", "llama")["classes"]
    assert "delete" in _set_for_policies(document, "inference", "other")["classes"]
    removed = [one.get("ifDeleted") for one in document["plans"]]
    assert removed == [None, {"podCliques": 16, "pods": 42, "gpus": 0}]
    both = ("--old", str(old), "-f", str(old), "--rules", "field", "--fail-on", "delete")
    assert planned(capsys, *both)[0] == 0


def _without_autoscaling(manifest: Json) -> None:
    for clique in manifest["spec"]["template"]["cliques"]:
        clique["spec"].pop("autoScalingConfig", None)


def _with_other_services(manifest: Json) -> None:
    manifest["spec"]["template"]["headlessServiceConfig"] = {"publishNotReadyAddresses": False}


def _with_another_replica(manifest: Json) -> None:
    manifest["spec"]["replicas"] += 1


def _with_another_delay(manifest: Json) -> None:
    manifest["spec"]["template"]["terminationDelay"] = "2h"


@pytest.mark.req("ED-012")
@pytest.mark.parametrize(
    ("edit", "line", "fails"),
    [
        (_without_autoscaling, "deletes 2 HorizontalPodAutoscalers", {"unknown", "delete"}),
        (_with_other_services, "changes 2 Services", {"unknown"}),
        (_with_another_replica, "creates 1 HorizontalPodAutoscaler, creates 1 Service", {"unknown"}),
        (_with_another_delay, "", set()),
    ],
)
def test_ed012_kinds_that_an_edit_touches(
    edit: Callable[[Json], None], line: str, fails: set[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    manifest = manifest_of("qwen", "llm-serving")
    edit(manifest)
    given = ("-f", str(REAL), "-f", file_of(tmp_path / "edited.json", [manifest]), "llm-serving/qwen")
    _, page, _ = planned(capsys, *given)
    notes = page.partition("\n\n")[0]
    assert ("not collected: " in notes) == bool(line)
    if line:
        assert f"  the edit of llm-serving/qwen {line}, which the plan lacks\n" in notes
        kinds = [word.rstrip("s") for word in line.replace(",", "").split() if word[0].isupper()]
        assert _document(capsys, *given)["notCollected"] == [f"{kind} in llm-serving" for kind in kinds]
        one = grove.plan(grove.read([str(REAL), str(tmp_path / "edited.json")], now=NOW[1]), sets="llm-serving/qwen")
        assert one.unknown == (f"llm-serving/qwen: the edit {line}, which the plan lacks",)
    for name in ("delete", "terminate", "unknown"):
        assert (planned(capsys, *given, "--fail-on", name)[0] == 3) == (name in fails)
    assert planned(capsys, *given, "--max-restarted-gpus", "0")[0] == 0


@pytest.mark.req("ED-012")
def test_ed012_without_an_edit_nothing_is_counted(capsys: pytest.CaptureFixture[str]) -> None:
    code, page, _ = planned(capsys, "-f", str(REAL), "--fail-on", "unknown")
    assert code == 0
    assert "not collected" not in page
    assert grove.plan(grove.read(str(REAL))).unknown == ()


@pytest.mark.req("CL-130")
def test_cl130_what_rounds_cuts_off_fails_checks(capsys: pytest.CaptureFixture[str]) -> None:
    cut = ("-f", str(REAL), "--until", "24h", "--rounds", "1")
    _, page, _ = planned(capsys, *cut)
    note = "note: --rounds ends the plan of llm-serving/deepseek, llm-serving/qwen; what the later rounds do is unknown"
    assert note in page.partition("\n\n")[0]
    for options in (("--fail-on", "unknown"), ("--fail-on", "terminate"), ("--max-terminated-gpus", "1000")):
        assert planned(capsys, *cut, *options)[0] == 3
    assert planned(capsys, *cut, "--max-restarted-gpus", "0")[0] == 0
    short = ("-f", str(REAL), "--rounds", "1", "--fail-on", "terminate")
    assert planned(capsys, *short)[0] == 0
    assert planned(capsys, "-f", str(REAL), "--rounds", "1000", "--fail-on", "unknown")[0] == 0


@pytest.mark.req("CL-131")
@pytest.mark.parametrize("output", ["human", "json", "markdown"])
def test_cl131_what_failed_stands_last_on_a_terminal(output: str) -> None:
    terminal = StringIO()
    with redirect_stdout(terminal), redirect_stderr(terminal):
        run_command_line(["plan", "-f", str(REAL), *NOW, "--fail-on", "wait", "-o", output], "grove")
    assert terminal.getvalue().endswith("\nfailed by --fail-on: wait\n")
    assert len(terminal.getvalue().splitlines()) > 10
