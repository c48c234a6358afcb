"""Rule sets of users, found as packages on ``sys.path``: the example, and what goes wrong (LB-010 to LB-012)."""

import ast
import json
import sys
from pathlib import Path
from typing import Any, Final

import pytest
from click.shell_completion import ShellComplete

import grove_core
import grove_shell as grove
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.actions.installed_rule_sets import InstalledRuleSetFailed, rule_set_entry_points
from grove_shell.cli.main import grove as command_group
from grove_shell.cli.main import run_command_line
from grove_shell.settings.operator_settings import parse_operator_settings
from tests.library.installed_packages import EXAMPLE, install, install_example
from tests.replay.recorded_logs import SCENARIOS, played

DUMP: Final = str(EXAMPLE / "drained-node.yaml")
DUE: Final = "2026-11-21T09:41:00Z"
MOST_LINES: Final = 40
HEAD: Final = "from grove_core import SparedReplica, rule_set, rule_set_that_spares\nfrom dataclasses import replace\n"
SPARES_ALL: Final = """
def every(snapshot):
    for clique in snapshot.cliques:
        for replica in clique.enclosing_replicas(snapshot.root.ref):
            yield SparedReplica(replica, "the demo of Friday runs on it")
"""


@pytest.fixture
def example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install_example(tmp_path / "site", monkeypatch)


def said(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    """What a command prints, on both streams."""
    assert run_command_line(list(words), "grove") == code
    shown = capsys.readouterr()
    return shown.err + shown.out


def planned(capsys: pytest.CaptureFixture[str], rules: str, code: int = 0) -> str:
    return said(capsys, "plan", "-f", DUMP, "--now", DUE, "--rules", rules, code=code)


class TestLB010:
    """A name that is no built-in rule set MUST be taken for the entry point of that name in the group
    ``grove.rule_sets``: a RuleSet, or a function without arguments that returns one. Plans show that name.
    ``grove rules`` lists entry points, and those hidden by a built-in name.
    """

    @pytest.mark.usefixtures("example")
    def test_the_example_keeps_the_replica_of_the_drained_node(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert "1 replica to terminate now" in planned(capsys, "field")
        page = planned(capsys, "careful")
        assert "nothing to terminate" in page
        assert "pod qwen-1-worker-g9b8c on node kwok-02 is being evicted" in page
        assert run_command_line(["plan", "-f", DUMP, "--now", DUE, "--rules", "careful", "-o", "json"], "grove") == 0
        assert json.loads(capsys.readouterr().out)["rules"] == "careful"

    @pytest.mark.usefixtures("example")
    def test_every_command_that_predicts_takes_it(self, capsys: pytest.CaptureFixture[str]) -> None:
        found = ("-f", DUMP, "--now", DUE)
        compared = said(capsys, "compare", *found, "--rules", "field", "--rules", "careful")
        assert "SPARED     qwen-1-router, qwen-1-worker" in compared
        assert "SparedByRuleSet LB-008" in said(capsys, "explain", *found, "--rules", "careful", "pcs/qwen")
        assert "rules 'careful'" in said(capsys, "simulate", "--from", DUMP, "--rules", "careful", "--until", "30m")
        manifest = str(EXAMPLE.parent / "edits" / "qwen-new-image.yaml")
        assert "admitted" in said(capsys, "validate", "-f", manifest, "--rules", "careful")

    @pytest.mark.usefixtures("example")
    def test_a_decision_log_is_repeated_under_it(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        log = tmp_path / "plans.jsonl"
        log.write_text(played(SCENARIOS[0]).out.getvalue(), encoding="utf-8")
        assert "careful" in said(capsys, "replay", str(log), "--rules", "careful")

    @pytest.mark.usefixtures("example")
    def test_the_library_takes_its_name_and_any_rule_set(self) -> None:
        by_name = grove.plan(grove.read(DUMP, now=DUE, rules="careful"))
        assert by_name.rules == "careful"
        assert by_name.terminations == ()

        def first(snapshot: Snapshot) -> list[grove_core.SparedReplica]:
            return [grove_core.SparedReplica(snapshot.root.ref.at_replica(1), "it is in use")]

        own = grove_core.rule_set_that_spares("own", grove_core.rule_set("field"), first)
        cluster = grove.read(DUMP, now=DUE, rules=own)
        assert cluster.rules.name == "own"
        assert grove.plan(cluster).terminations == ()
        assert grove.explain(cluster, "pcs/qwen") is not None
        assert [one.change for one in grove.compare(cluster, "field", own).differences] == ["SPARED"]
        assert grove.plan(grove.read(DUMP, now=DUE, rules="field")).terminations != ()

    @pytest.mark.parametrize("name", ["field", "design", "auto"])
    def test_a_rule_set_with_the_name_of_another_one_is_refused(self, name: str) -> None:
        own = grove_core.rule_set_that_spares(name, grove_core.rule_set("design"), lambda _: ())
        with pytest.raises(ValueError, match=f"rules is another rule set than the built-in one of its name '{name}'"):
            grove.read(DUMP, rules=own)
        if name == "design":
            assert grove.read(DUMP, rules=grove_core.rule_set("design")).rules.name == "design"

    def test_a_function_that_returns_one_is_called(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        text = f"{HEAD}{SPARES_ALL}def made(): return rule_set_that_spares('inner', rule_set('field'), every)\n"
        install(tmp_path / "site", monkeypatch, {"made_rules": text}, {"friday": "made_rules:made"}, "made-rules")
        page = planned(capsys, "friday")
        assert "rules 'friday'" in page
        assert "the demo of Friday runs on it" in page

    def test_a_built_in_name_is_the_built_in_rule_set(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        text = f"{HEAD}{SPARES_ALL}own = rule_set_that_spares('own', rule_set('field'), every)\n"
        points = {"field": "hidden_rules:own", "field@v0.1.0-alpha.99": "hidden_rules:own"}
        install(tmp_path / "site", monkeypatch, {"hidden_rules": text}, points, "hidden-rules")
        assert "1 replica to terminate now" in planned(capsys, "field")
        assert "not used: --rules field is the built-in rule set of this name" in said(capsys, "rules")
        (hidden, other) = json.loads(said(capsys, "rules", "-o", "json"))["ruleSets"][-2:]
        assert (hidden["entryPoint"], hidden["package"]) == ("hidden_rules:own", "hidden-rules 0.1.0")
        assert hidden["hiddenByBuiltIn"] is True
        assert "is not one of" in planned(capsys, other["name"], code=64)  # no package stands for a release

    @pytest.mark.usefixtures("example")
    def test_it_is_listed_completed_and_suggested(self, capsys: pytest.CaptureFixture[str]) -> None:
        line = "careful  the entry point my_rules:careful of the package my-rules 0.1.0"
        assert line in said(capsys, "rules")
        assert line in said(capsys, "rules", "careful")
        (found,) = json.loads(said(capsys, "rules", "careful", "-o", "json"))["ruleSets"]
        assert found["entryPoint"] == "my_rules:careful"
        assert 'installed: careful; did you mean "careful"?' in planned(capsys, "carefull", code=64)
        assert 'did you mean "careful"?' in said(capsys, "rules", "carefull", code=64)
        items = ShellComplete(command_group, {}, "grove", "_GROVE").get_completions(["plan", "--rules"], "ca")
        assert [one.value for one in items] == ["careful"]
        with pytest.raises(ValueError, match='did you mean "careful"'):
            grove.read(DUMP, rules="carefull")

    def test_the_example_is_short_and_uses_public_names_alone(self) -> None:
        text = (EXAMPLE / "my_rules.py").read_text(encoding="utf-8")
        lines = [*text.splitlines(), *(EXAMPLE / "pyproject.toml").read_text(encoding="utf-8").splitlines()]
        assert len(lines) < MOST_LINES
        imported = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom)]
        ours = {alias.name for node in imported if node.module == "grove_core" for alias in node.names}
        assert ours
        assert ours <= set(grove_core.__all__)


def failing(text: str, value: str = "bad_rules:bad") -> tuple[str, str]:
    return text, value


FAILURES: Final[dict[str, tuple[str, str]]] = {
    "does not load: ModuleNotFoundError: No module named 'not_there'": failing("", "not_there:bad"),
    "does not load: ModuleNotFoundError: No module named 'missing_one' (bad_rules.py, line 1)": failing(
        "import missing_one\n"
    ),
    "does not load: AttributeError: module 'bad_rules' has no attribute 'bad'": failing("good = 1\n"),
    "does not load: SystemExit: 0 (bad_rules.py, line 2)": failing("import sys\nsys.exit(0)\n"),
    "does not load: KeyError: 'TOKEN' (bad_rules.py, line 1)": failing("def bad(): return {}['TOKEN']\n"),
    "does not load: TypeError: bad() missing 1 required positional argument: 'snapshot'": failing(
        "def bad(snapshot): return ()\n"
    ),
    "is no RuleSet and no function without arguments that returns one, but int": failing("bad = 3\n"),
    "is no RuleSet and no function without arguments that returns one, but NoneType": failing("def bad(): pass\n"),
    "raised while a plan was made: ZeroDivisionError: division by zero (bad_rules.py, line 3)": failing(
        f"{HEAD}bad = rule_set_that_spares('bad', rule_set('field'), lambda seen: 1 / 0)\n"
    ),
    "raised while a plan was made: SystemExit: 0": failing(
        f"{HEAD}import sys\nbad = rule_set_that_spares('bad', rule_set('field'), lambda seen: sys.exit(0))\n"
    ),
    "raised while a plan was made: TypeError: the function of a rule set yields SparedReplica": failing(
        f"{HEAD}bad = rule_set_that_spares('bad', rule_set('field'), lambda seen: ['llm-0'])\n"
    ),
    "has a function gang_termination that returns NoneType, not TerminationResult": failing(
        f"{HEAD}bad = replace(rule_set('field'), gang_termination=lambda seen: None)\n"
    ),
}


class TestLB011:
    """An entry point that does not load, is no RuleSet, or raises while a plan is made MUST end the command with exit
    code 1 and one sentence that names the entry point, its package and the error. No decision is printed.
    """

    @pytest.mark.parametrize("words", FAILURES)
    def test_each_failure_is_one_sentence(
        self, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        text, value = FAILURES[words]
        install(tmp_path / "site", monkeypatch, {"bad_rules": text}, {"bad": value}, "bad-rules")
        begin = f"the rule set 'bad', the entry point {value} of the package bad-rules 0.1.0, {words}"
        for command in (
            ("plan", "-f", DUMP, "--now", DUE),
            ("simulate", "--from", DUMP),
            ("explain", "-f", DUMP, "pcs/qwen"),
        ):
            assert run_command_line([*command, "--rules", "bad"], "grove") == 1
            shown = capsys.readouterr()
            assert shown.out == ""
            (line,) = [one for one in shown.err.splitlines() if not one.startswith("note: ")]
            assert line.startswith(begin)
        with pytest.raises(InstalledRuleSetFailed, match=r"^the rule set 'bad', the entry point"):
            grove.plan(grove.read(DUMP, now=DUE, rules="bad"))

    def test_two_packages_with_one_name_are_refused(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        text = f"{HEAD}own = rule_set('field')\n"
        for name in ("one", "two"):
            install(
                tmp_path / name, monkeypatch, {f"{name}_rules": text}, {"own": f"{name}_rules:own"}, f"{name}-rules"
            )
        assert "has the same name as that of two-rules 0.1.0: uninstall one of them" in planned(capsys, "own", code=1)

    def test_a_long_error_is_cut(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        text = "raise ValueError('a\\nb' * 400)\n"
        install(tmp_path / "site", monkeypatch, {"bad_rules": text}, {"bad": "bad_rules:bad"}, "bad-rules")
        assert len(planned(capsys, "bad", code=1)) < 500

    def test_a_broken_package_does_not_hide_the_list(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        install(tmp_path / "site", monkeypatch, {"bad_rules": "1 / 0\n"}, {"bad": "bad_rules:bad"}, "bad-rules")
        assert "bad  the entry point bad_rules:bad of the package bad-rules 0.1.0" in said(capsys, "rules")
        assert "does not load: ZeroDivisionError" in said(capsys, "rules", "bad", code=1)
        assert "bad_rules" not in sys.modules


class TestLB012:
    """A process that writes to a cluster or admits objects MUST refuse a rule set of an entry point: the operator, the
    webhooks and ``grove apply``.
    """

    @pytest.mark.usefixtures("example")
    def test_the_configurations_of_processes_name_built_in_rule_sets_alone(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        head: dict[str, Any] = {"apiVersion": "operator.config.grove.io/v1alpha1"}
        _, problems = parse_operator_settings({**head, "kind": "OperatorConfiguration", "rules": "careful"})
        assert [one.path for one in problems] == ["rules"]
        operator = tmp_path / "operator.yaml"
        operator.write_text(json.dumps({**head, "kind": "OperatorConfiguration", "rules": "careful"}), encoding="utf-8")
        assert "rules: expected" in said(capsys, "operator", "--config", str(operator), code=1)
        webhooks = tmp_path / "webhooks.yaml"
        webhooks.write_text(
            json.dumps({**head, "kind": "WebhookConfiguration", "preview": {"rules": "careful"}}), encoding="utf-8"
        )
        assert "rules: expected" in said(capsys, "webhooks", "--config", str(webhooks), code=1)

    @pytest.mark.usefixtures("example")
    def test_a_saved_plan_of_it_is_not_applied(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        saved = str(tmp_path / "plan.json")
        said(capsys, "plan", "-f", DUMP, "--now", DUE, "--rules", "careful", "--out", saved)
        assert "rules: expected one of design, field" in said(capsys, "apply", saved, code=1)


@pytest.mark.usefixtures("example")
def test_one_package_is_found_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install_example(tmp_path / "again", monkeypatch)
    assert [(one.name, one.package) for one in rule_set_entry_points() if one.name == "careful"] == [
        ("careful", "my-rules 0.1.0")
    ]
