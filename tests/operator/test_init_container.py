"""The init container: which pods it waits for, its image, and its command."""

import json
import shutil
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.resources.labels import CLIQUE
from grove_core.version import IMAGE
from grove_shell.cli.main import run_command_line
from grove_shell.init_container.__main__ import GangPodStore
from tests.property.workload.sets import clique_raw, set_raw

Json = dict[str, Any]
ROOT: Final = Path(__file__).parent.parent.parent
CLIQUES: Final = ("llm-0-a", "llm-0-b", "llm-0-c")
COMMAND: Final = "grove-initc"


def a_pod(name: str, clique: str, *, ready: bool, deleting: bool = False) -> Json:
    going = {"deletionTimestamp": "2026-11-20T09:00:00Z"} if deleting else {}
    conditions = [{"type": "Ready", "status": "True" if ready else "False"}]
    return {
        "metadata": {"name": name, "labels": CLIQUE.under_every_key(clique), **going},
        "status": {"conditions": conditions},
    }


PODS: Final = st.builds(
    a_pod,
    st.sampled_from(("p", "q", "r", "s")),
    st.sampled_from(CLIQUES),
    ready=st.booleans(),
    deleting=st.booleans(),
)
EVENTS: Final = st.lists(
    st.one_of(
        st.tuples(st.just("put"), PODS),
        st.tuples(st.just("drop"), PODS),
        st.tuples(st.just("replace"), st.lists(PODS, max_size=4, unique_by=lambda pod: pod["metadata"]["name"])),
        st.just(("lose", None)),
    ),
    max_size=12,
)


def _in_version(version: int, drawn: Any) -> Any:
    if isinstance(drawn, list):
        return [_in_version(version, pod) for pod in drawn]
    return drawn and {
        **drawn,
        "metadata": {**drawn["metadata"], "uid": drawn["metadata"]["name"], "resourceVersion": str(version)},
    }


@given(st.dictionaries(st.sampled_from(CLIQUES[:2]), st.integers(1, 3), min_size=1), EVENTS)
def test_wl084_it_is_over_when_enough_were_ready_at_once(wanted: Mapping[str, int], events: list[Any]) -> None:
    """Any event about pods, in any order; what is known is recorded apart."""
    waiting, there, over = GangPodStore(wanted), dict[str, Json](), False
    for version, (what, drawn) in enumerate(events, 1):
        reported = _in_version(version, drawn)
        if what == "put":
            there[reported["metadata"]["name"]] = reported
            waiting.put("Pod", reported)
        elif what == "drop":
            there.pop(reported["metadata"]["name"], None)
            waiting.drop("Pod", reported)
        elif what == "replace":
            there = {pod["metadata"]["name"]: pod for pod in reported}
            waiting.replace_all_of_kind("Pod", reported, str(version))
        else:
            there = {}
            waiting.mark_kind_unlisted("Pod", "pods is forbidden")
        serving = [
            pod["metadata"]["labels"][CLIQUE.primary]
            for pod in there.values()
            if pod["status"]["conditions"][0]["status"] == "True" and "deletionTimestamp" not in pod["metadata"]
        ]
        enough = all(serving.count(name) >= number for name, number in wanted.items())
        assert (waiting.cliques_with_too_few_ready_pods() == []) is enough
        over = over or enough
        assert waiting.satisfied.is_set() is over


def initc_of(capsys: pytest.CaptureFixture[str], tmp_path: Path, *options: str) -> Json:
    """The container that waits, in a plan of a set in order."""
    raw = set_raw(clique_raw("a"), clique_raw("b"), cliqueStartupType="CliqueStartupTypeInOrder")
    path = tmp_path / "set.json"
    path.write_text(json.dumps({"apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", **raw}), encoding="utf-8")
    assert run_command_line(["plan", "-f", str(path), "-o", "json", *options], "grove") == 0
    (plan,) = json.loads(capsys.readouterr().out)["plans"]
    (found,) = (
        container
        for reported in plan["rounds"]
        for step in reported["steps"]
        if step["target"]["kind"] == "Pod"
        for container in step["object"]["spec"].get("initContainers", ())
    )
    container: Json = found
    return container


def test_wl084_a_plan_has_the_image_that_the_configuration_names(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    own = initc_of(capsys, tmp_path)
    assert (own["image"], own["command"], own["args"]) == (IMAGE, [COMMAND], ["--podcliques=llm-0-a:1"])
    config = tmp_path / "config.yaml"
    config.write_text("kind: OperatorConfiguration\nstartup: {image: example.com/mirror/grove:1}\n", encoding="utf-8")
    named = initc_of(capsys, tmp_path, "--config", str(config))
    assert named == {**own, "image": "example.com/mirror/grove:1"}


def test_in030_a_configuration_with_mistakes_plans_nothing(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text("kind: OperatorConfiguration\nstartup: {image: 5, command: x}\n", encoding="utf-8")
    example = str(ROOT / "examples/degraded.yaml")
    for words in (["plan", "-f", example], ["explain", "-f", example, "pcs/qwen"]):
        assert run_command_line([*words, "--config", str(config)], "grove") == 1
        said = capsys.readouterr()
        assert said.out == ""
        assert "startup.image" in said.err
        assert "startup.command" in said.err


def test_wl084_the_command_is_in_the_package_and_in_the_image() -> None:
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]
    assert COMMAND in scripts
    assert shutil.which(COMMAND, path=str(Path(sys.executable).parent)) is not None
    lines = (ROOT / "deploy/Dockerfile").read_text(encoding="utf-8").splitlines()
    assert any("pip --python /opt/grove/bin/python install" in line for line in lines)
    assert any("$install '/source[policies]'" in line for line in lines)
    assert any(line.startswith("ENV PATH=/opt/grove/bin:") for line in lines)
