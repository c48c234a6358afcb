"""`grove rules` and `grove compare` as people call them, and the names of rule sets wherever they are given."""

import json
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from grove_core.kernel.reasons import FORMER_CODES
from grove_core.rule_sets.rule_set_by_name import rule_sets
from grove_shell.catalogue.specification_rules import (
    RetiredRule,
    reason_codes_by_rule_number,
    retired_rules,
    specification_rules_by_number,
)
from grove_shell.cli.main import run_command_line
from grove_shell.settings.operator_settings import parse_operator_settings
from tests.golden.tracing import ROOT, trace_of

SNAPSHOTS: Final = ROOT / "tests" / "snapshots"
BREACHED: Final = (str(SNAPSHOTS / "s4d-pcsg-breached-both-replicas.yaml"), "2026-11-21T09:46:42.582Z")
EARLY: Final = "2026-11-20T09:00:00Z"
QWEN: Final = (str(SNAPSHOTS / "s3a-breach-standalone-notready.yaml"), "2026-11-21T09:39:04.239Z")
CONFIGURATION: Final = {"apiVersion": "operator.config.grove.io/v1alpha1", "kind": "OperatorConfiguration"}
Json = dict[str, Any]


def spoken(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    assert run_command_line(list(words), "grove") == code
    shown = capsys.readouterr()
    return shown.out if code != 64 else shown.err


def manifest_of_qwen() -> Json:
    """The set ``qwen`` of the dump as a manifest: what its user wrote, and no status."""
    stored = next(
        one
        for one in yaml.load(Path(QWEN[0]).read_text("utf-8"), yaml.CSafeLoader)["items"]
        if one["metadata"]["name"] == "qwen"
    )
    new: Json = {key: stored[key] for key in ("apiVersion", "kind", "spec")}
    return {**new, "metadata": {"name": "qwen", "namespace": "llm-serving"}}


class TestRules:
    """What there is."""

    def test_cl040_the_catalogue_is_what_the_specs_say(self) -> None:
        trace = trace_of()
        assert [*specification_rules_by_number()] == sorted(rule.id for rule in trace.rules)
        assert {one.id: one.code for one in trace.members} == reason_codes_by_rule_number()
        assert {
            one.replaced_rule_number for one in specification_rules_by_number().values() if one.replaced_rule_number
        } <= specification_rules_by_number().keys()

    def test_cl040_every_rule_set_with_what_it_has_instead(self, capsys: pytest.CaptureFixture[str]) -> None:
        shown = spoken(capsys, "rules")
        assert "short name field (generation F3)" in shown
        part = shown.partition("(generation F2)")[2].partition("(generation")[0]
        assert "  GF-104  " in part
        printed: Json = json.loads(spoken(capsys, "rules", "-o", "json"))
        assert {one["name"] for one in printed["ruleSets"]} == {rules.name for rules in rule_sets().values()}
        assert all(one["differences"] for one in printed["ruleSets"] if one["generation"])

    @pytest.mark.parametrize(
        "name", ["field", "field@v0.1.0-alpha.11", "field@alpha.10", "field@0.1.0-alpha.9", "design"]
    )
    def test_one_rule_set(self, capsys: pytest.CaptureFixture[str], name: str) -> None:
        assert spoken(capsys, "rules", name).startswith("design" if name == "design" else "field@v0.1.0-alpha.")
        printed: Json = yaml.load(spoken(capsys, "rules", name, "-o", "yaml"), yaml.CSafeLoader)
        assert [one["name"].partition("@")[0] for one in printed["ruleSets"]] == [name.partition("@")[0]]

    def test_cl040_a_rule_by_number_and_by_code(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert "The whole replica is deleted" in spoken(capsys, "rules", "gf-073")
        assert "in generations F3 of the Go operator" in spoken(capsys, "rules", "GF-051")
        shown = spoken(capsys, "rules", "DelayExpired")
        assert all(number in shown for number in ("GT-033", "GT-050", "GF-060", "GF-072"))
        printed: Json = json.loads(spoken(capsys, "rules", "GF-002", "-o", "json"))
        (rule,) = printed["rules"]
        assert (rule["code"], rule["insteadOf"], rule["kind"]) == ("DelayMissing", "GT-031", "decision")

    @pytest.mark.parametrize(("former", "code"), sorted(FORMER_CODES.items()))
    def test_cl040_an_earlier_code_leads_to_its_rule(
        self, former: str, code: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        codes = reason_codes_by_rule_number().values()
        assert (code in codes, former in codes) == (True, False)
        assert spoken(capsys, "rules", former) == spoken(capsys, "rules", code)

    @pytest.mark.parametrize(
        ("number", "printed"),
        [
            ("cl-042", "CL-042  A name that is meant: given up; CL-009 has it now\nCL-009  Wrong usage is explained"),
            ("XX-001", "XX-001  No more: given up; no rule states it any more\n"),
            ("XX-002", "XX-002  Never: given up; docs/explanation/known-limits.md says what is not promised\n"),
        ],
    )
    def test_cl040_a_number_that_was_given_up(
        self, number: str, printed: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        more = [RetiredRule("XX-001", "No more", "gone", ""), RetiredRule("XX-002", "Never", "known limits", "")]
        known = {**retired_rules(), **{one.id: one for one in more}}
        monkeypatch.setattr("grove_shell.actions.rules.retired_rules", lambda: known)
        assert spoken(capsys, "rules", number).startswith(printed)
        document: Json = json.loads(spoken(capsys, "rules", number, "-o", "json"))
        assert [one["id"] for one in document["retired"]] == [number.upper()]
        assert [one["id"] for one in document["rules"]] == (["CL-009"] if number == "cl-042" else [])

    def test_gf100_the_main_branch_has_a_name(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert spoken(capsys, "rules", "field@main").startswith("field@main  the Go operator, generation F3\n")
        shown = spoken(capsys, "plan", "-f", QWEN[0], "--rules", "field@main")
        assert "rules 'field@main'\n" in shown
        assert "predicts it" not in shown

    def test_cl009_an_unknown_rule_or_rule_set_is_a_usage_error(
        self, capsys: pytest.CaptureFixture[str], tmp_path: Path
    ) -> None:
        shown = spoken(capsys, "rules", "feild", "DelayExpird", "qqq", code=64)
        assert 'did you mean "field"?' in shown
        assert 'did you mean "DelayExpired"?' in shown
        assert "'qqq' is no rule set, rule number or reason code\n" in shown
        for command in ("plan", "explain", "compare"):
            words = [command, *(["pcs/qwen"] if command == "explain" else []), "-f", QWEN[0]]
            shown = spoken(capsys, *words, "--rules", "field@alfa.9", code=64)
            assert 'did you mean "field@v0.1.0-alpha.9"?' in shown
            for newer in ("alpha.12", "v0.1.0-alpha.13"):
                shown = spoken(capsys, *words, "--rules", f"field@{newer}", code=64)
                assert "; a newer one is not predicted yet, and plain field has the rules of the newest one" in shown
            for older in ("v0.1.0-alpha.3", "alpha.8"):
                shown = spoken(capsys, *words, "--rules", f"field@{older}", code=64)
                assert "to v0.1.0-alpha.12-rc1, field@main; older ones are not predicted" in shown
        assert "'' is no rule set" in spoken(capsys, "rules", "", code=64)
        settings, problems = parse_operator_settings({**CONFIGURATION, "rules": "feild"})
        assert settings.rules == "design"
        known = "design, field, or field@RELEASE from v0.1.0-alpha.9 to v0.1.0-alpha.12-rc1, field@main"
        assert [(one.path, one.expected) for one in problems] == [
            (
                "rules",
                f'{known}; did you mean "field"?',
            )
        ]

    def test_gf100_an_operator_is_configured_with_its_rules(self) -> None:
        settings, problems = parse_operator_settings({**CONFIGURATION, "rules": "field@alpha.11"})
        assert not problems
        assert settings.rules == "field@v0.1.0-alpha.11"


class TestPlans:
    """By other rules."""

    def test_gf111_whose_cluster_it_is(self, capsys: pytest.CaptureFixture[str]) -> None:
        words = ("plan", "-f", BREACHED[0], "--now", BREACHED[1])
        printed = (
            "note: the Go operator runs there, release v0.1.0-alpha.12-rc1 or newer (no wasAvailable in the status of"
        )
        assert printed in spoken(capsys, *words, "--rules", "design")
        shown = spoken(capsys, *words, "--rules", "field@alpha.11")
        assert printed in shown
        assert "--rules field@v0.1.0-alpha.12-rc1 predicts it" in shown
        assert "note: the Go operator" not in spoken(capsys, *words, "--rules", "field")
        assert "note: the Go operator" not in spoken(capsys, *words)
        assert "Go operator" not in spoken(capsys, "plan", "-f", str(ROOT / "examples" / "degraded.yaml"))

    @pytest.mark.parametrize("command", ["plan", "explain"])
    def test_cl055_the_operator_that_runs_there_is_predicted(
        self, command: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        words = (command, *(("pcs/deepseek",) if command == "explain" else ()), "-f", BREACHED[0], "--now", BREACHED[1])
        shown = spoken(capsys, *words)
        line = next(line for line in shown.splitlines() if line.startswith("as of "))
        assert "rules 'field@v0.1.0-alpha.12-rc1': the Go operator runs there" in line
        assert "the delay of 1m ends at 2026-11-21T09:47:22Z" in shown
        assert spoken(capsys, *words, "--rules", "auto") == shown
        printed: Json = json.loads(spoken(capsys, *words, "-o", "json"))
        assert printed["rules"] == "field@v0.1.0-alpha.12-rc1"
        assert printed["rulesFrom"]["kind"] == "cluster"
        assert "wasAvailable" in printed["rulesFrom"]["because"]
        printed = json.loads(spoken(capsys, *words, "-o", "json", "--rules", "design"))
        assert (printed["rules"], printed["rulesFrom"]) == ("design", {"kind": "option"})

    def test_cl055_a_check_without_rules_is_met(self, capsys: pytest.CaptureFixture[str]) -> None:
        """The dump in which the operator that runs there terminates a replica in 14 seconds."""
        words = ("plan", "-f", QWEN[0], "--now", QWEN[1], "--until", "1m", "--fail-on", "terminate")
        spoken(capsys, *words, code=3)
        spoken(capsys, *words, "--rules", "design")

    def test_cl055_a_configuration_that_names_no_rules_leaves_it_open(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        config = tmp_path / "operator.yaml"
        config.write_text(yaml.safe_dump(CONFIGURATION), encoding="utf-8")
        words = ("plan", "-f", QWEN[0], "--now", QWEN[1], "-o", "json", "--config", str(config))
        assert json.loads(spoken(capsys, *words))["rulesFrom"]["kind"] == "cluster"
        config.write_text(yaml.safe_dump({**CONFIGURATION, "rules": "design"}), encoding="utf-8")
        assert json.loads(spoken(capsys, *words))["rulesFrom"] == {"kind": "configuration"}
        assert json.loads(spoken(capsys, *words, "--rules", "auto"))["rules"].startswith("field@")

    def test_cl055_a_manifest_shows_no_operator(self, capsys: pytest.CaptureFixture[str]) -> None:
        manifest = str(ROOT / "examples" / "manifests" / "disaggregated.yaml")
        printed: Json = json.loads(spoken(capsys, "plan", "-f", manifest, "--now", QWEN[1], "-o", "json"))
        because = "no object shows which operator runs there"
        assert (printed["rules"], printed["rulesFrom"]) == ("design", {"kind": "default", "because": because})

    def test_cl055_validate_judges_an_update_by_the_operator_that_runs_there(
        self, capsys: pytest.CaptureFixture[str], tmp_path: Path
    ) -> None:
        new = manifest_of_qwen()
        (tmp_path / "new.yaml").write_text(yaml.safe_dump(new), encoding="utf-8")
        words = ("validate", "-f", str(tmp_path / "new.yaml"))
        assert "a reboot may terminate a whole replica" in spoken(capsys, *words, "--old", QWEN[0])
        assert "a reboot may terminate a whole replica" not in spoken(capsys, *words)

    def test_gf001_a_new_set_gets_the_delay_of_its_operator(
        self, capsys: pytest.CaptureFixture[str], tmp_path: Path
    ) -> None:
        raw = next(
            yaml.load_all(
                (ROOT / "examples" / "manifests" / "disaggregated.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader
            )
        )
        for part in (raw["spec"]["template"], *raw["spec"]["template"]["podCliqueScalingGroups"]):
            part.pop("terminationDelay", None)
        (tmp_path / "set.yaml").write_text(yaml.safe_dump(raw), encoding="utf-8")
        words = ("plan", "-f", str(tmp_path / "set.yaml"), "--now", QWEN[1], "--decisions")
        assert "DelayMissing" not in spoken(capsys, *words, "--rules", "field")

    def test_gf100_a_saved_plan_names_the_release(self, capsys: pytest.CaptureFixture[str]) -> None:
        printed: Json = json.loads(
            spoken(capsys, "plan", "-f", QWEN[0], "--now", QWEN[1], "--rules", "field", "-o", "json")
        )
        assert printed["rules"] == "field@v0.1.0-alpha.12-rc1"

    def test_gf120_validate_warns(self, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
        raw = next(
            yaml.load_all((ROOT / "examples" / "manifests" / "disaggregated.yaml").read_text("utf-8"), yaml.CSafeLoader)
        )
        raw["spec"]["template"]["terminationDelay"] = "30s"
        (tmp_path / "set.yaml").write_text(yaml.safe_dump(raw), encoding="utf-8")
        words = ("validate", "-f", str(tmp_path / "set.yaml"))
        assert "a reboot may terminate a whole replica" not in spoken(capsys, *words)
        assert "a reboot may terminate a whole replica" in spoken(capsys, *words, "--rules", "field")

    def test_gf122_explain_warns(self, capsys: pytest.CaptureFixture[str]) -> None:
        snapshot, now = str(SNAPSHOTS / "s9a-termination-without-capacity.yaml"), "2026-11-21T09:49:39.161Z"
        shown = spoken(capsys, "explain", "pcsg/deepseek-0-decode", "-f", snapshot, "--now", now, "--rules", "field")
        assert "its pods cannot be scheduled; once terminated, it is terminated again every 1m" in shown

    def test_explain_goes_by_them(self, capsys: pytest.CaptureFixture[str]) -> None:
        words = ("explain", "pcs/deepseek", "-f", BREACHED[0], "--now", BREACHED[1], "--why-not", "terminate")
        assert "no record says that it ever had that many" in spoken(capsys, *words, "--rules", "design")
        assert "the delay of 1m ends at 2026-11-21T09:47:22Z" in spoken(capsys, *words, "--rules", "field")

    def test_simulate_goes_by_them(self, capsys: pytest.CaptureFixture[str]) -> None:
        scenario = str(ROOT / "examples" / "scenarios" / "node-loss.yaml")
        shown = spoken(capsys, "simulate", scenario, "--rules", "field", code=3)
        assert "ScheduledReplicasBelowMinAvailable" in shown
        assert "terminates" not in shown, "a pod of a lost node counts as healthy there (GF-012)"

    @pytest.mark.parametrize("more", [["--check"], ["--seeds", "2"]])
    def test_cl009_the_designs_promises_are_not_watched(
        self, capsys: pytest.CaptureFixture[str], more: list[str]
    ) -> None:
        scenario = str(ROOT / "examples" / "scenarios" / "node-loss.yaml")
        assert "promises of the design" in spoken(capsys, "simulate", scenario, "--rules", "field", *more, code=64)


class TestCompare:
    """Two rule sets on one cluster."""

    def test_cl043_spared_cliques_and_the_reason(self, capsys: pytest.CaptureFixture[str]) -> None:
        shown = spoken(capsys, "compare", "-f", BREACHED[0], "--now", BREACHED[1], "--until", "4m")
        first, *_ = shown.splitlines()
        assert first.endswith("13 PodCliques would be kept that are terminated today")
        assert (
            "terminated 09:47:22Z (in 40s), 4 times in all: replica 0, 13 PodCliques, 22 pods (18 ready) and 128 GPUs"
            in shown
        )
        assert "PodClique deepseek-0-prefill-0-pw: 1 ready, at least 2 needed; no record says" in shown
        assert "no termination under either rule set: llm-serving/embed, llm-serving/qwen" in shown
        assert "deletes: deepseek-0-decode-0-dl" in spoken(
            capsys, "compare", "-f", BREACHED[0], "--now", BREACHED[1], "--until", "4m", "-v"
        )

    def test_cl043_the_other_way_round_comes_first(self, capsys: pytest.CaptureFixture[str]) -> None:
        words = ("compare", "-f", QWEN[0], "--now", QWEN[1], "--until", "1m", "--rules", "design", "--rules", "field")
        assert spoken(capsys, *words).startswith("2 PodCliques would be terminated that are kept today\n")
        printed: Json = json.loads(spoken(capsys, *words, "-o", "json"))
        (found,) = (one for one in printed["sets"] if one["differences"])
        (difference,) = found["differences"]
        assert difference["change"] == "ends"
        assert difference["before"] is None
        assert difference["after"]["at"] == "2026-11-21T09:39:19Z"
        assert difference["after"]["deletes"] == ["qwen-0-router", "qwen-0-worker"]
        assert difference["after"]["takes"] == {"pods": 5, "ready": 3, "gpus": 8}

    def test_cl043_the_same_is_the_same(self, capsys: pytest.CaptureFixture[str]) -> None:
        words = ("upgrade-check", "-f", QWEN[0], "--now", QWEN[1], "--until", "1m")
        shown = spoken(capsys, *words, "--rules", "field@alpha.11", "--rules", "field", "--detailed-exitcode")
        assert shown.startswith(
            "same terminations at the same time in 1 PodCliqueSet; no termination under either rule set in 2 Pod"
        )

    def test_cl043_without_until_what_waits_is_not_compared(self, capsys: pytest.CaptureFixture[str]) -> None:
        first, *_ = spoken(capsys, "compare", "-f", QWEN[0], "--now", QWEN[1]).splitlines()
        assert first == "no termination now under either rule set in 3 PodCliqueSets (--until compares later ones)"

    def test_cl043_alike_is_not_nothing(self, capsys: pytest.CaptureFixture[str]) -> None:
        words = ("compare", "-f", QWEN[0], "--now", QWEN[1], "--until", "1m", "--rules", "field", "--rules", "field")
        assert (
            spoken(capsys, *words, "embed").splitlines()[0] == "no termination under either rule set in 1 PodCliqueSet"
        )
        assert spoken(capsys, *words, "qwen").splitlines()[0] == "same terminations at the same time in 1 PodCliqueSet"
        shown = spoken(capsys, *words).splitlines()
        assert shown[-2:] == [
            "same terminations: llm-serving/qwen",
            "no termination under either rule set: llm-serving/deepseek, llm-serving/embed",
        ]

    @pytest.mark.req("CL-060")
    @pytest.mark.req("WF-091")
    def test_cl043_what_the_upgrade_restarts(self, capsys: pytest.CaptureFixture[str]) -> None:
        words = ("upgrade-check", "-f", QWEN[0], "--now", QWEN[1], "--rules", "field@alpha.9", "--rules", "field")
        shown = spoken(capsys, *words)
        first, *_ = shown.splitlines()
        assert first == "the upgrade alone restarts 29 pods (27 ready) and 99 GPUs in 3 PodCliqueSets, without any edit"
        assert "RESTART    16 pods (16 ready) and 80 GPUs: an update of all replicas begins" in shown
        assert "one of its 2 replicas at a time  WF-004" in shown
        assert "deepseek-0-decode, deepseek-0-prefill: one replica of the group at a time" in shown
        printed: Json = json.loads(spoken(capsys, *words, "-o", "json"))
        assert [one["restart"]["takes"]["pods"] for one in printed["sets"]] == [16, 3, 10]
        spoken(capsys, *words, "--fail-on", "ends", code=0)
        spoken(capsys, *words, "--detailed-exitcode", code=2)
        spoken(capsys, *words, "--fail-on", "restart", code=3)
        same = (*words[:-4], "--rules", "field@alpha.10", "--rules", "field")
        assert "restart" not in spoken(capsys, *same, "--fail-on", "restart", "--detailed-exitcode")
        assert {one["restart"] for one in json.loads(spoken(capsys, *same, "-o", "json"))["sets"]} == {None}
        assert "restart" not in spoken(capsys, *words[:-4], "--fail-on", "restart")

    @pytest.mark.parametrize(
        ("leave_out", "strategy", "said", "code"),
        [
            ("Pod", "RollingRecreate", "restarts all pods of 3 PodCliqueSets, not counted", 3),
            ("", "OnDelete", "KEEP       all pods: the strategy is OnDelete", 0),
        ],
    )
    @pytest.mark.req("CL-060")
    def test_wf092_on_delete_restarts_nothing_and_missing_pods_are_not_none(
        self, capsys: pytest.CaptureFixture[str], tmp_path: Path, leave_out: str, strategy: str, said: str, code: int
    ) -> None:
        items = [
            one
            for one in yaml.load(Path(QWEN[0]).read_text("utf-8"), yaml.CSafeLoader)["items"]
            if one["kind"] != leave_out
        ]
        for one in items:
            if one["kind"] == "PodCliqueSet":
                one["spec"]["updateStrategy"] = {"type": strategy}
        (tmp_path / "given.yaml").write_text(yaml.safe_dump_all(items), encoding="utf-8")
        words = ("compare", "-f", str(tmp_path / "given.yaml"), "--now", QWEN[1])
        rules = ("--rules", "field@alpha.9", "--rules", "field")
        assert said in spoken(capsys, *words, *rules)
        spoken(capsys, *words, *rules, "--fail-on", "restart", code=code)

    def test_wf091_a_set_without_pods(self, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
        items = yaml.load(Path(QWEN[0]).read_text("utf-8"), yaml.CSafeLoader)["items"]
        for one in items:
            if one["kind"] == "Pod":
                one["metadata"]["deletionTimestamp"] = "2026-11-21T09:38:00Z"
        (tmp_path / "given.yaml").write_text(yaml.safe_dump_all(items), encoding="utf-8")
        words = ("compare", "-f", str(tmp_path / "given.yaml"), "--now", QWEN[1], "--fail-on", "restart")
        shown = spoken(capsys, *words, "--rules", "field@alpha.9", "--rules", "field")
        assert "KEEP       no pod exists that would be restarted" in shown

    def test_cl003_the_other_name_of_it_is_reported(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert "(also: upgrade-check)" in " ".join(spoken(capsys, "--help").split())
        for name in ("compare", "upgrade-check"):
            assert "Also available as grove upgrade-check" in " ".join(spoken(capsys, name, "--help").split())

    @pytest.mark.parametrize(
        ("more", "code"),
        [
            ([], 0),
            (["--detailed-exitcode"], 2),
            (["--fail-on", "spared"], 3),
            (["--fail-on", "ends"], 0),
            (["--fail-on", "ends", "--fail-on", "spared", "--detailed-exitcode"], 3),
        ],
    )
    def test_cl002_exit_codes(self, capsys: pytest.CaptureFixture[str], more: list[str], code: int) -> None:
        spoken(capsys, "compare", "-f", BREACHED[0], "--now", BREACHED[1], "--until", "2m", *more, code=code)

    @pytest.mark.parametrize(
        ("rules", "said"),
        [
            (("field@alpha.11", "field"), "would be terminated more often"),
            (("field", "field@alpha.11"), "would be terminated less often"),
        ],
    )
    def test_cl043_again_and_again_is_another_end(
        self, capsys: pytest.CaptureFixture[str], rules: tuple[str, str], said: str
    ) -> None:
        """F2 ends it once, for nothing of it is placed afterwards; F3 goes on (GF-086)."""
        given = str(ROOT / "tests" / "command_line" / "crashing-group.yaml")
        words = ("compare", "-f", given, "--now", "2026-11-20T09:00:00Z", "--until", "10m")
        shown = spoken(capsys, *words, "--rules", rules[0], "--rules", rules[1], "--detailed-exitcode", code=2)
        assert said in shown

    def test_cl043_a_part_that_ends_with_the_whole_is_not_spared(self, capsys: pytest.CaptureFixture[str]) -> None:
        given = str(ROOT / "tests" / "command_line" / "part-and-whole.yaml")
        words = ("compare", "-f", given, "--now", "2026-11-20T09:00:00Z")
        shown = spoken(capsys, *words, "--rules", "field@alpha.11", "--rules", "field", "--fail-on", "ends")
        assert shown.startswith("3 PodCliques would be kept that are terminated today\n")
        assert "ENDS" not in shown

    def test_cl002_what_cannot_be_said_passes_no_check(
        self, capsys: pytest.CaptureFixture[str], tmp_path: Path
    ) -> None:
        items = [
            one
            for one in yaml.load(Path(QWEN[0]).read_text("utf-8"), yaml.CSafeLoader)["items"]
            if one["kind"] != "Pod"
        ]
        (tmp_path / "podless.yaml").write_text(yaml.safe_dump_all(items), encoding="utf-8")
        words = ("compare", "-f", str(tmp_path / "podless.yaml"), "--now", QWEN[1])
        assert spoken(capsys, *words).startswith("3 PodCliqueSets undecided\n")
        spoken(capsys, *words, "--detailed-exitcode", code=2)
        spoken(capsys, *words, "--fail-on", "ends", code=3)
        assert run_command_line([*words, "--fail-on", "ends"], "grove") == 3
        assert capsys.readouterr().err.endswith("failed by --fail-on: unknown\n")

    def test_bad_input(self, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
        (tmp_path / "broken.yaml").write_text("kind: [", encoding="utf-8")
        spoken(capsys, "compare", "-f", str(tmp_path / "broken.yaml"), code=1)
        assert "twice" in spoken(capsys, "compare", "-f", QWEN[0], "--rules", "field", code=64)
        assert "not in the input" in spoken(capsys, "compare", "nobody", "-f", QWEN[0], "--now", QWEN[1], code=64)
        (tmp_path / "empty.yaml").write_text("apiVersion: v1\nkind: List\nitems: []\n", encoding="utf-8")
        shown = spoken(capsys, "compare", "-f", str(tmp_path / "empty.yaml"), code=3)
        assert shown.startswith("nothing was decided: the input holds no PodCliqueSet")

    def test_cl009_two_sides_that_are_the_same(self, capsys: pytest.CaptureFixture[str]) -> None:
        words = ("compare", "-f", str(ROOT / "examples" / "degraded.yaml"), "--now", "2026-11-20T09:00:00Z")
        assert "both sides are 'design': PodClique statuses record wasAvailable; give --rules twice" in spoken(
            capsys, *words, code=64
        )
        spoken(capsys, *words, "--rules", "design", "--rules", "design")
        printed: Json = json.loads(spoken(capsys, "compare", "-f", QWEN[0], "--now", QWEN[1], "-o", "json"))
        assert printed["rules"] == ["field@v0.1.0-alpha.12-rc1", "design"]
        assert [one["kind"] for one in printed["rulesFrom"]] == ["cluster", "option"]

    def test_cl055_so_does_an_operator_that_is_configured_with_them(
        self, capsys: pytest.CaptureFixture[str], tmp_path: Path
    ) -> None:
        (tmp_path / "operator.yaml").write_text(yaml.safe_dump({**CONFIGURATION, "rules": "field"}), encoding="utf-8")
        there = ("-f", QWEN[0], "--now", QWEN[1])
        printed = ("--config", str(tmp_path / "operator.yaml"))
        for words in (("plan", *there), ("explain", "pcs/qwen", *there)):
            by_name = spoken(capsys, *words, "--rules", "field")
            assert spoken(capsys, *words, *printed) == by_name
            assert spoken(capsys, *words, *printed, "--rules", "design") != by_name
        raw = next(
            yaml.load_all((ROOT / "examples" / "manifests" / "disaggregated.yaml").read_text("utf-8"), yaml.CSafeLoader)
        )
        raw["spec"]["template"]["terminationDelay"] = "30s"
        (tmp_path / "set.yaml").write_text(yaml.safe_dump(raw), encoding="utf-8")
        assert "a reboot may terminate" in spoken(capsys, "validate", "-f", str(tmp_path / "set.yaml"), *printed)


class TestEdits:
    """Edits under the rules of the Go operator."""

    EDITED = ("plan", "-f", QWEN[0], "-f", str(ROOT / "examples/edits/qwen-new-image.yaml"), "--now", QWEN[1])

    def test_wf012_an_edit_is_predicted(self, capsys: pytest.CaptureFixture[str]) -> None:
        shown = spoken(capsys, *self.EDITED, "-v", "--fail-on", "unknown")
        assert "NOT PREDICTED" not in shown
        assert "it is of an old template and started and not ready: it is deleted at once" in shown
        assert "2 pods are ready and 3 needed, so 2 old ready pods stay" in shown
        printed: Json = json.loads(spoken(capsys, *self.EDITED, "-o", "json"))
        assert not any("notPredicted" in plan for plan in printed["plans"])

    @pytest.mark.parametrize("change", [{"replicas": 3}, {"terminationDelay": "5m"}])
    def test_gf001_scaling_and_another_delay_are_predicted(
        self, change: Json, capsys: pytest.CaptureFixture[str], tmp_path: Path
    ) -> None:
        new = manifest_of_qwen()
        part = new["spec"] if "replicas" in change else new["spec"]["template"]
        part.update(change)
        (tmp_path / "new.yaml").write_text(yaml.safe_dump(new), encoding="utf-8")
        words = ("plan", "-f", QWEN[0], "-f", str(tmp_path / "new.yaml"), "--now", QWEN[1], "--fail-on", "unknown")
        lacks_services = "replicas" in change  # the dump has none, and a new replica gets one (ED-012)
        shown = spoken(capsys, *words, code=3 if lacks_services else 0)
        assert "planned as if the manifest" in shown
        assert "NOT PREDICTED" not in shown
        assert ("not collected: " in shown) == lacks_services

    @pytest.mark.parametrize("command", ["plan", "explain", "compare"])
    def test_wf004_an_update_in_progress_is_predicted(self, command: str, capsys: pytest.CaptureFixture[str]) -> None:
        dump = str(SNAPSHOTS / "s5a-rolling-update-early.yaml")
        target = {"explain": ("pcs/qwen",), "plan": ("qwen",), "compare": ()}[command]
        words = (command, *target, "-f", dump, "--now", "2026-11-21T09:43:53.756Z")
        more = () if command == "explain" else ("--fail-on", "unknown")
        assert "NOT PREDICTED" not in spoken(capsys, *words, *more)

    def test_wf002_a_set_at_rest_has_no_update(self, capsys: pytest.CaptureFixture[str]) -> None:
        dump = str(SNAPSHOTS / "s2-healthy.json")
        shown = spoken(capsys, "plan", "-f", dump, "--now", "2026-11-21T09:38:48.202Z", "--fail-on", "unknown")
        assert "PREDICTED" not in shown
        assert "\nno termination pending: llm-serving/deepseek, llm-serving/embed, llm-serving/qwen" in shown

    def test_wf060_a_deletion(self, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
        dump = yaml.load(Path(QWEN[0]).read_text("utf-8"), yaml.CSafeLoader)
        for one in dump["items"]:
            if (one["kind"], one["metadata"]["name"]) == ("PodCliqueSet", "qwen"):
                one["metadata"]["deletionTimestamp"] = "2026-11-21T09:39:00Z"
        (tmp_path / "deleted.yaml").write_text(yaml.safe_dump(dump), encoding="utf-8")
        shown = spoken(capsys, "plan", "-f", str(tmp_path / "deleted.yaml"), "--now", QWEN[1], "--fail-on", "unknown")
        assert "DELETE     round 1: PodCliqueSet qwen: it is being deleted and goes at once" in shown
        assert "then deletes its 4 PodCliques with 10 pods (8 ready) and " in shown

    def test_gf136_an_older_release(self, capsys: pytest.CaptureFixture[str]) -> None:
        dump = ROOT / "tests" / "golden" / "gang_termination_field" / "gf136_an_older_release" / "given.yaml"
        words = ("plan", "-f", str(dump), "--now", EARLY)
        shown = spoken(capsys, *words)
        assert shown.startswith("NOT PREDICTED: ")
        assert "a release older than v0.1.0-alpha.9, the oldest known here, runs there" in shown
        spoken(capsys, *words, "--fail-on", "unknown", code=3)
        assert "--rules field@v0.1.0-alpha.9 is the nearest" in spoken(capsys, *words, "--rules", "design")
