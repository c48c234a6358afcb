"""`grove explain` of objects that do not exist yet, and of names that are not there."""

import json
from pathlib import Path
from typing import Any, Final

import click
import pytest

from grove_shell.cli.decision_commands import explain_command
from grove_shell.cli.main import run_command_line
from tests.golden.tracing import ROOT

MANIFEST: Final = ("-f", str(ROOT / "examples/manifests/disaggregated.yaml"))
NOW: Final = ("--now", "2026-11-20T09:00:00Z")
LEADER: Final = "llama-0-prefill-2-prefill-leader"
ALWAYS: Final = frozenset({"Role", "RoleBinding", "Secret", "Service", "ServiceAccount", "PodClique", "Pod"})
LACKS_A_POD: Final = ("-f", str(ROOT / "tests/golden/workload/wl092_a_gang_that_lacks_a_pod/given.yaml"))


def explained(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    code = run_command_line(["explain", *words, *NOW], "grove")
    printed = capsys.readouterr()
    return code, printed.out + printed.err


def as_json(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert run_command_line(["explain", *words, *NOW, "-o", "json"], "grove") == 0
    (answer,) = json.loads(capsys.readouterr().out)["answers"]
    found: dict[str, Any] = answer
    return found


@pytest.mark.req("CL-080")
class TestOfABareManifest:
    """A manifest of a set that no cluster has."""

    def test_a_gated_pod_is_found_by_its_host_name(self, capsys: pytest.CaptureFixture[str]) -> None:
        code, page = explained(capsys, f"pod/{LEADER}-0", *MANIFEST)
        assert code == 0
        lines = page.splitlines()
        assert lines[1].startswith(f"Pod inference/{LEADER}-")
        assert lines[1].endswith(", which does not exist yet: the plan creates it")
        assert lines[2:5] == [
            "  round 5: create",
            "    the pod of index 0, of 1 wanted  PodOfClique WL-020",
            "    container main: image example.com/engine:2.1",
        ]
        assert "    scheduling gate: grove.io/podgang-pending-creation" in lines
        assert "    it waits for the base gang llama-0 to be placed  BaseGangNotPlaced WL-095" in lines
        assert "  breach:" not in page

    def test_the_name_in_the_plan_is_the_name_to_explain(self, capsys: pytest.CaptureFixture[str]) -> None:
        by_host = as_json(capsys, "pod/llama-0-router-1", *MANIFEST)
        name = by_host["subject"]["name"]
        assert as_json(capsys, f"pod/{name}", *MANIFEST) == by_host
        (creation,) = by_host["planned"]
        assert (creation["round"], creation["action"], creation["target"]["name"]) == (4, "create", name)
        assert run_command_line(["plan", *MANIFEST, *NOW, "-v"], "grove") == 0
        assert f"    create        Pod {name}" in capsys.readouterr().out.splitlines()

    def test_a_pod_without_a_gate_says_so(self, capsys: pytest.CaptureFixture[str]) -> None:
        _, page = explained(capsys, "pod/llama-0-router-0", *MANIFEST, "--rules", "design")
        assert "    no scheduling gate: the scheduler may place it at once" in page.splitlines()

    def test_the_go_operator_opens_its_gate_in_a_later_round(self, capsys: pytest.CaptureFixture[str]) -> None:
        _, page = explained(capsys, "pod/llama-0-router-0", *MANIFEST, "--rules", "field")
        lines = page.splitlines()
        assert lines.index("  round 3: create") < lines.index("  round 5: apply")
        assert "    its gang llama-0 refers to it  NamedByBaseGang WF-041" in lines

    def test_a_gang_lists_what_it_needs(self, capsys: pytest.CaptureFixture[str]) -> None:
        _, page = explained(capsys, "podgang/llama-0", *MANIFEST)
        assert "    llama-0-decode: 4 pods, at least 3 placed together" in page.splitlines()

    @pytest.mark.parametrize(
        ("target", "line"),
        [("pclq/llama-0-decode", "    minAvailable: 3"), ("pcsg/llama-1-prefill", "    cliqueNames: prefill-leader, ")],
    )
    def test_cliques_and_groups(self, target: str, line: str, capsys: pytest.CaptureFixture[str]) -> None:
        code, page = explained(capsys, target, *MANIFEST)
        assert code == 0
        assert any(one.startswith(line) for one in page.splitlines())

    def test_an_object_that_exists_is_not_planned(self, capsys: pytest.CaptureFixture[str]) -> None:
        _, page = explained(capsys, "pod/chat-0-server-f52t2", *LACKS_A_POD)
        assert "does not exist yet" not in page


def test_cl080_a_required_topology_constraint_of_a_planned_gang(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    manifest = (ROOT / "examples/manifests/disaggregated.yaml").read_text(encoding="utf-8")
    changed = manifest.replace("  template:\n", "  template:\n    topologyConstraint: {packDomain: host}\n", 1)
    assert changed != manifest
    (tmp_path / "set.yaml").write_text(changed, encoding="utf-8")
    levels = "levels: [{domain: host, key: kubernetes.io/hostname}]"
    config = "apiVersion: operator.config.grove.io/v1alpha1\nkind: OperatorConfiguration\n"
    (tmp_path / "on.yaml").write_text(f"{config}topologyAwareScheduling: {{enabled: true, {levels}}}\n", "utf-8")
    topology = "apiVersion: grove.io/v1alpha1\nkind: ClusterTopology\nmetadata: {name: grove-topology}\n"
    (tmp_path / "topology.yaml").write_text(f"{topology}spec: {{{levels}}}\n", encoding="utf-8")
    files = [word for name in ("set.yaml", "topology.yaml") for word in ("-f", str(tmp_path / name))]
    code, page = explained(capsys, "podgang/llama-0", *files, "--config", str(tmp_path / "on.yaml"))
    assert code == 0, page
    assert "    all its pods, have to share one value of kubernetes.io/hostname" in page.splitlines()


@pytest.mark.req("CL-073")
class TestEveryKind:
    """Every object that a plan creates is explained, with the rule and the step."""

    @pytest.mark.parametrize(
        ("words", "kinds"),
        [
            *(
                (f"-f examples/{file} --rules {rules}", ALWAYS | more)
                for file, more in (
                    ("manifests/disaggregated.yaml", {"PodCliqueScalingGroup", "PodGang"}),
                    ("edits/qwen-new-image.yaml", {"HorizontalPodAutoscaler", "PodGang"}),
                )
                for rules in ("design", "field", "field@v0.1.0-alpha.9")
            ),
            ("-f examples/mnnvl/llama.yaml --config examples/mnnvl/operator.yaml", ALWAYS | {"ComputeDomain"}),
            (
                "-f examples/kubernetes-gangs/set.yaml --config examples/kubernetes-gangs/operator.yaml",
                ALWAYS | {"Workload", "PodGroup", "CompositePodGroup"},
            ),
            ("-f tests/golden/workload/wl019_shared_claims/given.yaml", frozenset({"ResourceClaim"})),
        ],
    )
    def test_of_the_examples(
        self,
        words: str,
        kinds: frozenset[str],
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        """One object of each kind, by the name that the plan prints."""
        monkeypatch.chdir(ROOT)
        run_command_line(["plan", *words.split(), *NOW, "-o", "json"], "grove")
        (plan,) = json.loads(capsys.readouterr().out)["plans"]
        steps = [step for one in plan["rounds"] for step in one["steps"] if step["action"] in {"create", "ensure"}]
        first = {step["target"]["kind"]: step for step in reversed(steps)}
        assert kinds <= {*first}
        for kind, step in first.items():
            answer = as_json(capsys, f"{kind}/{step['target']['name']}", *words.split())
            assert answer["subject"] == step["target"]
            done = answer.get("planned", answer["steps"])
            assert any(one["because"] == step["because"] for one in done), kind

    def test_what_it_is_made_of(self, capsys: pytest.CaptureFixture[str]) -> None:
        _, page = explained(capsys, "roles.rbac.authorization.k8s.io/grove.io:pcs:llama", *MANIFEST)
        lines = page.splitlines()
        assert lines[2:4] == [
            "  round 1: create",
            "    pods that start in order watch each other with it  PodAccess WL-011",
        ]
        assert lines[4].startswith('    rules: [{"apiGroups":[""],"resources":["pods"')
        assert lines[5:] == ["  after the last round of the plan:", "  nothing is left to do for it"]

    def test_it_is_not_terminated(self, capsys: pytest.CaptureFixture[str]) -> None:
        _, page = explained(capsys, "svc/llama-0", *MANIFEST, "--why-not", "terminate")
        assert page.endswith("  gang termination deletes PodCliques with their pods; it does not delete this object\n")

    @pytest.mark.parametrize("target", ["x/y", "pod", "pod/", "clustertopology/a"])
    def test_other_kinds_are_refused(self, target: str, capsys: pytest.CaptureFixture[str]) -> None:
        code, page = explained(capsys, target, *MANIFEST)
        assert code == 64
        assert f"{target} is not KIND/NAME with KIND one of pcs, pcsg, pclq, pg, po, svc, sa, secret, role, " in page
        assert ("grove topology list" in page) == target.startswith("cluster")

    def test_the_shell_completes_kinds(self) -> None:
        (target, *_) = explain_command.params
        context = click.Context(explain_command)
        assert [one.value for one in target.shell_complete(context, "ro")] == ["role/", "rolebinding/"]
        assert {"pcs/", "po/", "svc/", "hpa/", "cd/"} <= {one.value for one in target.shell_complete(context, "")}


@pytest.mark.req("CL-074")
class TestWhyItIsThere:
    """Objects without pods of a set in a cluster."""

    DUMP: Final = ROOT / "tests/snapshots/s2-healthy.json"
    ROLE: Final = "role/grove.io:pcs:qwen"
    CREATES: Final = (
        "  the operator creates it where it is missing:",
        "    pods that start in order watch each other with it  PodAccess WL-011",
    )

    @pytest.mark.parametrize("rules", ["design", "field"])
    def test_a_dump_without_roles(self, rules: str, capsys: pytest.CaptureFixture[str]) -> None:
        code, page = explained(capsys, self.ROLE, "-f", str(self.DUMP), "--rules", rules)
        assert code == 0
        name = next(line for line in page.splitlines() if line.startswith("Role "))
        assert name == (
            "Role llm-serving/grove.io:pcs:qwen: whether it exists is not known, because the input has not every Role"
        )
        assert tuple(page.splitlines()[page.splitlines().index(name) :][1:3]) == self.CREATES
        answer = as_json(capsys, self.ROLE, "-f", str(self.DUMP), "--rules", rules)
        assert answer["inInput"] is False
        assert [why["requirement"] for why in answer["createdBecause"]] == ["WL-011"]

    def test_a_role_that_exists(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        dump = json.loads(self.DUMP.read_text("utf-8"))
        root = next(one for one in dump["items"] if one["kind"] == "PodCliqueSet" and one["metadata"]["name"] == "qwen")
        owner = {"apiVersion": root["apiVersion"], "kind": root["kind"], "name": "qwen", "controller": True}
        meta: dict[str, Any] = {
            "name": "grove.io:pcs:qwen",
            "namespace": "llm-serving",
            "uid": "r",
            "resourceVersion": "3",
        }
        labels = {"app.kubernetes.io/managed-by": "grove-operator"}
        meta |= {"labels": labels, "ownerReferences": [{**owner, "uid": root["metadata"]["uid"]}]}
        dump["items"].append({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": meta})
        (tmp_path / "dump.json").write_text(json.dumps(dump), encoding="utf-8")
        code, page = explained(capsys, self.ROLE, "-f", str(tmp_path / "dump.json"))
        assert code == 0
        assert "Role llm-serving/grove.io:pcs:qwen\n" + "\n".join(self.CREATES) in page

    def test_a_role_of_no_set_is_not_known(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert explained(capsys, "role/grove.io:pcs:other", "-f", str(self.DUMP))[0] == 64
        assert explained(capsys, "role/qwen-0", "-f", str(self.DUMP))[0] == 64

    def test_a_pod_has_no_such_line(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert self.CREATES[0] not in explained(capsys, "pclq/qwen-0-worker", "-f", str(self.DUMP))[1]


@pytest.mark.req("CL-083")
class TestNamesThatAreNotThere:
    """The names that are there are listed."""

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (("explain", "pod/chat-0-server", *LACKS_A_POD), "Pod chat-0-server; known: chat-0-server-"),
            (("explain", "svc/x", *MANIFEST), "Service x; known: llama-0, llama-1"),
            (("explain", "pcsg/x", *LACKS_A_POD), "PodCliqueScalingGroup x; known: none"),
            (("plan", *LACKS_A_POD, "llama"), "not in the input: PodCliqueSet llama; known: ml/chat"),
            (("plan", *LACKS_A_POD, "chatt"), "PodCliqueSet chatt; did you mean ml/chat? Known: ml/chat"),
            (("plan", *LACKS_A_POD, "-n", "mk"), "namespace mk; did you mean ml? Known: ml"),
        ],
    )
    def test_they_are_named(self, words: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]) -> None:
        assert run_command_line([*words, *NOW], "grove") == 64
        assert message in capsys.readouterr().err

    def test_those_that_a_plan_would_create_too(self, capsys: pytest.CaptureFixture[str]) -> None:
        code, page = explained(capsys, "pclq/llama-0-routr", *MANIFEST)
        assert code == 64
        assert "PodClique llama-0-routr; did you mean llama-0-router? Known: llama-0-router, " in page
