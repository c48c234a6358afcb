"""Alert rules, as Prometheus reads and evaluates them, against the registry and the runbooks."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest

from grove_shell.cli.main import run_command_line
from grove_shell.monitoring.alert_rules import ALERTS, OF_GROVE, prometheus_rules
from grove_shell.monitoring.alert_settings import (
    DEFAULTS,
    RUNBOOKS,
    AlertOptions,
    parse_alert_options,
    settable_alert_names,
)
from tests.monitoring.alert_stories import STORIES
from tests.monitoring.expressions import metrics_in, unknown_names

ROOT: Final = Path(__file__).parents[2]
needs_promtool = pytest.mark.skipif(
    shutil.which("promtool") is None, reason="needs promtool (on Debian: apt-get install prometheus)"
)
EXPRESSIONS: Final = {rule["alert"]: rule["expr"] for rule in prometheus_rules(AlertOptions())["groups"][0]["rules"]}


def promtool(*words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(["promtool", *words], check=False, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("alert", EXPRESSIONS)
def test_al001_an_alert_reads_only_what_is_served(alert: str) -> None:
    assert metrics_in(EXPRESSIONS[alert])
    assert unknown_names(EXPRESSIONS[alert]) == []


@pytest.mark.parametrize(
    ("expression", "unknown"),
    [
        ("sum by (set) (grove_breach) > 0", ["grove_breach"]),
        ("sum by (sets) (grove_breached) > 0", ["sets"]),
        ('grove_breached{sort="PodClique"}', ["sort"]),
        ("rate(rest_client_request_duration_seconds[5m])", ["rest_client_request_duration_seconds"]),
        ("max by (le) (rest_client_request_duration_seconds_count)", ["le"]),
    ],
)
def test_al001_a_name_that_is_not_served_is_found(expression: str, unknown: list[str]) -> None:
    assert unknown_names(expression) == unknown


@pytest.mark.parametrize("alert", EXPRESSIONS)
def test_al002_a_shared_name_counts_for_grove_alone(alert: str) -> None:
    shared = [name for name in metrics_in(EXPRESSIONS[alert]) if not name.startswith("grove_")]
    assert (OF_GROVE in EXPRESSIONS[alert]) is bool(shared)


@needs_promtool
def test_al012_prometheus_accepts_the_rules_with_any_values(tmp_path: Path) -> None:
    other = parse_alert_options(["queueDeep.above=0", "apiServerSlow.aboveSeconds=0.25", "writeRefused.for=2d"])
    for number, options in enumerate((AlertOptions(), other)):
        file = tmp_path / f"{number}.json"
        file.write_text(json.dumps(prometheus_rules(options)), encoding="utf-8")
        checked = promtool("check", "rules", "--lint-fatal", str(file))
        assert checked.returncode == 0, checked.stderr
        assert f"{len(ALERTS)} rules found" in checked.stdout


@needs_promtool
@pytest.mark.req("AL-002")
@pytest.mark.req("AL-003")
@pytest.mark.req("AL-004")
@pytest.mark.req("AL-005")
@pytest.mark.req("AL-006")
@pytest.mark.req("AL-007")
@pytest.mark.req("AL-008")
def test_al003_each_alert_fires_ends_and_is_silent_as_its_stories_say(tmp_path: Path) -> None:
    assert {story.alert for story in STORIES} == {alert.name for alert in ALERTS}
    assert all([*story.fires.values()].count(()) for story in STORIES), "each shows when it is silent"
    rules, tests = tmp_path / "rules.json", tmp_path / "tests.json"
    rules.write_text(json.dumps(prometheus_rules(AlertOptions())), encoding="utf-8")
    written = {
        "rule_files": [str(rules)],
        "evaluation_interval": "1m",
        "tests": [story.as_unit_test() for story in STORIES],
    }
    tests.write_text(json.dumps(written), encoding="utf-8")
    ran = promtool("test", "rules", str(tests))
    assert ran.returncode == 0, ran.stdout + ran.stderr


HEADINGS: Final = ("What it means", "How to look", "What to do", "When it is harmless")


def test_al010_each_alert_has_a_runbook_that_it_links_to() -> None:
    rules = prometheus_rules(AlertOptions())["groups"][0]["rules"]
    links = [rule["annotations"]["runbook_url"] for rule in rules]
    pages = sorted(path.name for path in (ROOT / "docs" / "runbooks").glob("*"))
    assert sorted(link.removeprefix(f"{RUNBOOKS}/") for link in links) == pages
    for rule in rules:
        text = (ROOT / "docs" / "runbooks" / f"{rule['alert']}.md").read_text(encoding="utf-8")
        assert text.startswith(f"# {rule['alert']}\n")
        assert tuple(re.findall(r"^## (.+)$", text, re.MULTILINE)) == HEADINGS
        assert "```sh\n" in text.partition("## How to look")[2].partition("\n## ")[0]
    moved = prometheus_rules(parse_alert_options(runbooks="https://wiki.example.com/grove/"))["groups"][0]["rules"]
    assert moved[0]["annotations"]["runbook_url"] == f"https://wiki.example.com/grove/{moved[0]['alert']}.md"


def test_al010_a_runbook_names_the_default_values_of_its_alert() -> None:
    for alert in ALERTS:
        text = (ROOT / "docs" / "runbooks" / f"{alert.name}.md").read_text(encoding="utf-8")
        for name, value in DEFAULTS[alert.key].items():
            if name != "severity" and value != "0s":
                assert f"`{alert.key}.{name}`" in text, (alert.name, name)
                assert f"{value}" in text


def test_al012_every_value_has_an_effect() -> None:
    """Each value alone, set to another one that is valid, changes its own alert and no other."""
    before = prometheus_rules(AlertOptions())["groups"][0]["rules"]
    for name in settable_alert_names():
        value = {"for": "7m", "window": "7m", "severity": "critical"}.get(name.partition(".")[2], "7.5")
        after = prometheus_rules(parse_alert_options([f"{name}={value}"]))["groups"][0]["rules"]
        changed = [new for old, new in zip(before, after, strict=True) if old != new]
        assert len(changed) == 1, name
        assert value in json.dumps(changed[0])


@pytest.mark.parametrize(
    "words",
    [
        ("--alert", "queueDeep.abov=1"),
        ("--alert", "queueDeep"),
        ("--alert", "above=1"),
        ("--alert", "queueDeep.above=many"),
        ("--alert", "queueDeep.above=-1"),
        ("--alert", "queueDeep.above=1 or vector(1)"),
        ("--alert", "queueDeep.for=10"),
        ("--alert", "predictionFailed.window=0s"),
        ("--alert", "queueDeep.severity="),
        ("--runbooks", "docs/runbooks"),
        ("--runbooks", 'https://example.com/"'),
    ],
)
def test_al012_a_value_that_is_not_valid_is_a_usage_error(
    words: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command_line(["manifests", "--only", "alerts", *words], "grove") == 64
    said = capsys.readouterr()
    assert said.out == ""
    assert f"{words[0]} {words[1]}: expected " in said.err


def test_al012_a_value_without_alerts_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["manifests", "--alert", "queueDeep.above=1"], "grove") == 64
    assert "--only alerts" in capsys.readouterr().err
