"""The Go operator's configuration file: what is recognised, used, listed and refused (IN-070 to IN-073)."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from grove_core.resources.configuration import SchedulerProfiles, TopologyAwareSettings
from grove_shell.actions.configuration_files import read_operator_configuration
from grove_shell.cli.main import run_command_line
from grove_shell.settings.go_operator_settings import is_go_operator_file, unused_go_operator_fields
from grove_shell.settings.operator_settings import OperatorSettings, parse_operator_settings

FILE: Final = Path(__file__).parent / "go_operator.yaml"
WHOLE: Final[Mapping[str, Any]] = yaml.load(FILE.read_text(encoding="utf-8"), yaml.CSafeLoader)
PROFILES: Final = {"profiles": [{"name": "kai-scheduler"}]}
MANIFEST: Final = {
    "apiVersion": "grove.io/v1alpha1",
    "kind": "PodCliqueSet",
    "metadata": {"name": "web"},
    "spec": {"replicas": 1, "template": {"cliques": [{"name": "w", "spec": {"roleName": "w", "podSpec": {
        "containers": [{"name": "main", "image": "busybox"}]}}}]}},
}  # fmt: skip
NAMING: Final = {
    **MANIFEST,
    "metadata": {"name": "placed"},
    "spec": {"replicas": 1, "template": {
        "topologyConstraint": {"topologyName": "aws", "pack": {"required": "rack"}},
        "cliques": [{"name": "w", "spec": {"roleName": "w", "podSpec": {
            "schedulerName": "kai-scheduler", "containers": [{"name": "main", "image": "busybox"}]}}}]}},
}  # fmt: skip
BINDING: Final = {
    "apiVersion": "grove.io/v1alpha1",
    "kind": "ClusterTopologyBinding",
    "metadata": {"name": "aws", "uid": "u1", "resourceVersion": "1"},
    "spec": {"levels": [{"domain": "rack", "key": "example.com/rack"}]},
}
CLUSTER: Final = Path("examples/real-cluster.yaml")


def _planned(
    folder: Path, capsys: pytest.CaptureFixture[str], items: Sequence[Mapping[str, Any]], *more: str
) -> dict[str, Any]:
    """The plan of some objects with the file."""
    path = folder / "items.yaml"
    path.write_text(yaml.safe_dump_all(items), encoding="utf-8")
    assert run_command_line(["plan", "-f", str(path), "--config", str(FILE), "-o", "json", *more], "grove") == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def _steps(plan: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [step for one in plan["plans"] for round_ in one["rounds"] for step in round_["steps"]]


class TestIN070:
    """A configuration file that has a field of the Go operator's configuration, and none that only Grove's has, MUST be
    read as that operator reads it, with its defaults, and be refused where it refuses it.
    """

    @pytest.mark.parametrize(
        ("raw", "is_go"),
        [
            (WHOLE, True),
            ({"topologyAwareScheduling": {"enabled": True}}, True),
            ({"leaderElection": {"resourceName": "x"}}, True),
            ({"logLevel": "debug"}, True),
            ({"network": {"autoMNNVLEnabled": True}}, True),
            ({}, False),
            ({"topologyAwareScheduling": {"enabled": False}}, False),
            ({"topologyAwareScheduling": {"enabled": True, "levels": []}}, False),
            ({"network": {"autoMNNVLEnabled": True}, "leaderElection": {"name": "x"}}, False),
            ({**WHOLE, "rules": "design"}, False),
            ({"leaderElection": 7, "topologyAwareScheduling": []}, False),
        ],
    )
    def test_in070_which_file_is_which(self, raw: Mapping[str, Any], *, is_go: bool) -> None:
        assert is_go_operator_file(raw) is is_go

    def test_in070_the_lease_is_that_of_the_file(self) -> None:
        """Two operators with the same file never act at once."""
        election = {"enabled": True, "leaseDuration": "30s", "resourceName": "mine", "resourceNamespace": "here"}
        settings, problems = parse_operator_settings({**WHOLE, "leaderElection": election})
        found = settings.leader_election
        assert problems == ()
        assert (found.enabled, found.name, found.namespace) == (True, "mine", "here")
        assert (found.lease_duration, found.renew_deadline, found.retry_period) == (30, 10, 2)

    def test_in070_null_and_empty_are_the_default(self) -> None:
        settings, problems = parse_operator_settings({"logLevel": "", "debugging": None, "network": {}, "server": None})
        assert (settings.configuration.mnnvl.enabled, problems) == (False, ())
        assert settings.leader_election.name == OperatorSettings().leader_election.name

    def test_in070_every_problem_at_once(self, tmp_path: Path) -> None:
        path = tmp_path / "config.yaml"
        wrong = {
            **WHOLE,
            "logLevel": "loud",
            "network": {"autoMNVLEnabled": True},
            "scheduler": {"profiles": [{"name": "kube"}]},
            "controllers": {"podClique": {"concurrentSyncs": 0}},
            "topologyAwareScheduling": {"enabled": "yes"},
            "leaderElection": {"enabled": True, "leaseDuration": "5s"},
            "server": {"webhooks": {"port": "x"}},
            "authorizr": {},
        }
        path.write_text(json.dumps(wrong), encoding="utf-8")
        found = read_operator_configuration(str(path))
        assert {one.path: (one.expected, one.got) for one in found.problems} == {
            "logLevel": ("'debug', 'info' or 'error'", '"loud"'),
            "network.autoMNVLEnabled": ("unknown field; did you mean autoMNNVLEnabled?", "true"),
            "scheduler.profiles.0.name": (
                "'kai-scheduler', 'default-scheduler', 'volcano' or 'lpx-scheduler'", '"kube"'
            ),
            "controllers.podClique.concurrentSyncs": ("greater than or equal to 1", "0"),
            "topologyAwareScheduling.enabled": ("a valid boolean", '"yes"'),
            "leaderElection": ("retryPeriod < renewDeadline < leaseDuration", "an object with 2 keys"),
            "server.webhooks.port": ("a valid integer", '"x"'),
            "authorizr": ("unknown field; did you mean authorizer?", "an object with 0 keys"),
        }  # fmt: skip
        assert {one.file for one in found.problems} == {str(path)}
        assert found.note == ""


class TestIN071:
    """Of a file of the Go operator, decisions MUST use `topologyAwareScheduling.enabled`, `network.autoMNNVLEnabled`
    and `scheduler`. The levels of topologies are those of the ClusterTopologyBindings of the input; there is no default
    topology.
    """

    def test_in071_the_whole_file(self) -> None:
        found = read_operator_configuration(str(FILE))
        assert found.problems == ()
        assert found.configuration.topology == TopologyAwareSettings(enabled=True)
        assert not found.configuration.topology.has_default_topology
        assert found.configuration.mnnvl.enabled
        assert found.configuration.schedulers == SchedulerProfiles(("default-scheduler", "kai-scheduler"))

    @pytest.mark.parametrize(
        ("written", "profiles"),
        [
            ({}, SchedulerProfiles()),
            (PROFILES, SchedulerProfiles(("kai-scheduler", "default-scheduler"))),
            (
                {**PROFILES, "defaultProfileName": "kai-scheduler"},
                SchedulerProfiles(("kai-scheduler", "default-scheduler"), "kai-scheduler"),
            ),
            ({"defaultProfileName": "volcano"}, SchedulerProfiles()),
        ],
    )
    def test_in071_schedulers(self, written: Mapping[str, Any], profiles: SchedulerProfiles) -> None:
        settings, problems = parse_operator_settings({"logLevel": "info", "scheduler": written})
        assert (settings.configuration.schedulers, problems) == (profiles, ())

    @pytest.mark.parametrize(
        ("written", "expected"),
        [
            (
                {**PROFILES, "defaultProfileName": "volcano"},
                "as defaultProfileName one of kai-scheduler, default-scheduler",
            ),
            (
                {"profiles": [{"name": "volcano"}, {"name": "volcano"}]},
                "each scheduler at most once in profiles; more than once: volcano",
            ),
        ],
    )
    def test_in071_schedulers_that_are_refused(self, written: Mapping[str, Any], expected: str) -> None:
        _, problems = parse_operator_settings({"scheduler": written})
        assert [(one.path, one.expected) for one in problems] == [("scheduler", expected)]

    def test_in071_levels_are_those_of_a_binding(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        plan = _planned(tmp_path, capsys, [BINDING, NAMING])
        created = [one["object"] for one in _steps(plan) if one["action"] == "create"]
        (gang,) = [one for one in created if one["kind"] == "PodGang"]
        assert gang["spec"]["topologyConstraint"] == {"packConstraint": {"required": "example.com/rack"}}

    @pytest.mark.req("GF-137")
    @pytest.mark.parametrize("items", [[BINDING, NAMING], [BINDING], [NAMING]])
    def test_in071_no_topology_is_written(
        self, items: list[Mapping[str, Any]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        kinds = {one["target"]["kind"] for one in _steps(_planned(tmp_path, capsys, [*items, MANIFEST]))}
        assert kinds & {"ClusterTopology", "ClusterTopologyBinding"} == set()
        assert "PodClique" in kinds

    @pytest.mark.req("GF-137")
    def test_in071_the_design_keeps_the_topology(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        written = _steps(_planned(tmp_path, capsys, [BINDING, NAMING], "--rules", "design"))
        assert [one["object" if "object" in one else "fields"] for one in written if one["target"]["name"] == "aws"]


@pytest.mark.usefixtures("in_root")
class TestIN072:
    """A command that reads a file of the Go operator MUST list once, on standard error, the fields that it does not
    use. An unknown field in a part that is used is refused, and so is an unknown part.
    """

    NOT_USED: Final = (
        "the Go operator's configuration; not used: authorizer, controllers, debugging, leaderElection, logFormat, "
        "logLevel, runtimeClientConnection, server\n"
    )

    @pytest.mark.parametrize(
        "words",
        [
            ("plan", "-f", "MANIFEST"),
            ("explain", "pcs/web", "-f", "MANIFEST"),
            ("validate", "-f", "MANIFEST"),
            ("topology", "list", "-f", "MANIFEST"),
        ],
    )
    def test_in072_it_is_listed_once(
        self, words: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        manifest = tmp_path / "web.json"
        manifest.write_text(json.dumps(MANIFEST), encoding="utf-8")
        given = [str(manifest) if word == "MANIFEST" else word for word in words]
        assert run_command_line([*given, "--config", str(FILE)], "grove") == 0
        assert capsys.readouterr().err.replace("\n", " ").count(self.NOT_USED.strip()[:60]) == 1

    def test_in072_settings_of_a_scheduler_are_not_used(self) -> None:
        profile = {"name": "default-scheduler", "config": {"gangScheduling": True}}
        assert unused_go_operator_fields({"scheduler": {"profiles": [profile, 7]}, "logLevel": "info"}) == (
            "logLevel",
            "scheduler.profiles[0].config",
        )
        assert unused_go_operator_fields({"scheduler": 7, "network": {}}) == ()

    def test_in072_an_installation_of_grove_needs_levels(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert run_command_line(["manifests", "--config", str(FILE)], "grove") == 1
        assert "topologyAwareScheduling.levels: expected the levels of the default topology" in capsys.readouterr().err

    def test_in072_manifests_are_installed_with_the_file(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        path = tmp_path / "config.json"
        path.write_text(json.dumps({**WHOLE, "topologyAwareScheduling": {"enabled": False}}), encoding="utf-8")
        assert run_command_line(["manifests", "--config", str(path)], "grove") == 0
        printed = capsys.readouterr()
        assert "autoMNNVLEnabled" in printed.out
        assert "not used: authorizer" in printed.err


@pytest.mark.usefixtures("in_root")
class TestIN073:
    """Without `--rules`, a command that gets a configuration file of the Go operator MUST use the rules of the
    release that the input shows. If the input shows none, it uses the rules of the newest release.
    """

    @pytest.mark.parametrize(
        ("more", "line"),
        [
            ((), "rules 'field@v0.1.0-alpha.12-rc1': the configuration file is the Go operator's"),
            (("--rules", "design"), "rules 'design'\n"),
            (("--rules", "field@alpha.9"), "rules 'field@v0.1.0-alpha.9'\n"),
        ],
    )
    def test_in073_of_a_manifest(
        self, more: tuple[str, ...], line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        manifest = tmp_path / "web.json"
        manifest.write_text(json.dumps(MANIFEST), encoding="utf-8")
        assert run_command_line(["plan", "-f", str(manifest), "--config", str(FILE), *more], "grove") == 0
        assert line in capsys.readouterr().out

    def test_in073_of_a_cluster(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        path = tmp_path / "config.yaml"
        path.write_text("logLevel: info", encoding="utf-8")
        run_command_line(["plan", "-f", str(CLUSTER), "--config", str(path)], "grove")
        assert "the Go operator runs there, release v0.1.0-alpha.12-rc1 or newer" in capsys.readouterr().out

    @pytest.mark.parametrize(("observe", "rules"), [(True, "field@v0.1.0-alpha.12-rc1"), (False, "design")])
    def test_in073_an_observer_predicts_the_operator_of_the_file(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *, observe: bool, rules: str
    ) -> None:
        given: list[OperatorSettings] = []

        async def operate(settings: OperatorSettings, *_: object, **__: object) -> int:
            given.append(settings)
            return 0

        monkeypatch.setattr("grove_shell.actions.operator_and_webhooks._operate", operate)
        assert run_command_line(["operator", *(["--observe"] if observe else []), "--config", str(FILE)], "grove") == 0
        assert [one.rules for one in given] == [rules]
        assert "not used: authorizer" in capsys.readouterr().err


@pytest.fixture
def in_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(__file__).parent.parent.parent)
