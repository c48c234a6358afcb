"""`grove watch --live` in a real terminal: a breach runs down, the end comes, and the terminal is left as it was."""

import json
import re
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import pytest

from grove_core.resources.api_names import MANAGED_BY
from tests.cluster.api import MERGE, SELDOM, wait_until
from tests.cluster.operators import Operator, grove
from tests.cluster.plane import ControlPlane
from tests.cluster.proxy import Proxy
from tests.cluster.scenes import Scene, clique, condition
from tests.cluster.terminal import Terminal
from tests.command_line.process import GROVE, ROOT

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
BREACH: Final = "MinAvailableBreached"
DELAY: Final = 10
LEFT: Final = re.compile(r"in 0:00:(\d\d)")


def kubeconfig_by(proxy: Proxy, plane: ControlPlane) -> Path:
    """The administrator's kubeconfig, by way of a proxy."""
    raw = json.loads(plane.kubeconfig("admin").read_text(encoding="utf-8"))
    raw["clusters"][0]["cluster"] = {"server": proxy.url}
    path = plane.folder / "watch.kubeconfig"
    path.write_text(json.dumps(raw), encoding="utf-8")
    return path


@pytest.mark.req("WA-002")
@pytest.mark.req("WA-003")
@pytest.mark.req("WA-006")
@pytest.mark.req("WA-009")
@pytest.mark.req("WA-010")
def test_wa001_a_breach_runs_down_and_ends_on_the_screen(
    scene: Scene, grove_plane: ControlPlane, operator: Operator, tmp_path: Path
) -> None:
    scene.api.create(scene.set_of(clique("router"), clique("worker", 2), terminationDelay=f"{DELAY}s"))
    edit = tmp_path / "edit.json"
    edited = scene.set_of(clique("router", image="new:2"), clique("worker", 2), terminationDelay=f"{DELAY}s")
    edit.write_text(json.dumps(edited), encoding="utf-8")
    scene.await_ready(3)
    operator.await_rest()
    with Terminal(scene.namespace) as terminal:
        with Proxy(grove_plane) as proxy:
            where = ("-n", scene.namespace, "--kubeconfig", str(kubeconfig_by(proxy, grove_plane)))
            terminal.start(*GROVE, "watch", "--live", "-f", str(edit), *where, PYTHONPATH=str(ROOT))
            terminal.await_text("nothing to terminate in 1 PodCliqueSet")
            watched_end(scene, operator, terminal)
            terminal.await_text("nothing to terminate in 1 PodCliqueSet")
            terminal.await_text("new:2")  # the edit, beside the cluster
            shows_pods_without_label(scene, operator, terminal, grove_plane)
            assert {asked.method for asked, _ in proxy.asked} == {"GET"}
        terminal.await_text("CONNECTION LOST")
        with Proxy(grove_plane, port=proxy.port):
            wait_until(terminal.text, lambda shown: "CONNECTION" not in shown, "it is connected again")
            terminal.press("q")
            wait_until(lambda: terminal.ask("#{alternate_on}"), lambda shown: shown == "0", "the terminal is as it was")
            terminal.start("echo", "left", "with")
            assert "Traceback" not in terminal.await_text("left with\n")


def watched_end(scene: Scene, operator: Operator, terminal: Terminal) -> None:
    """Break a gang, and see on the screen how its time runs down, and its end, before the operator brings it."""
    scene.annotate_pods("llama-0-worker", not_ready="true")
    breach = scene.await_condition("podcliques", "llama-0-worker", BREACH, "True")
    end = datetime.fromisoformat(condition(breach, BREACH)["lastTransitionTime"]) + timedelta(seconds=DELAY)
    operator.pause()
    first = int(LEFT.findall(terminal.await_text("in 0:00:"))[0])
    wait_until(terminal.text, lambda shown: any(int(left) < first for left in LEFT.findall(shown)), "a clock runs down")
    terminal.resize(240, 40)
    terminal.await_text("ends in 0:00:")
    shown = terminal.await_text("to terminate now")
    late = (datetime.now(UTC) - end).total_seconds()
    assert 0 <= late < 1 + SELDOM
    assert "will end" in shown
    operator.go_on()


def shows_pods_without_label(scene: Scene, operator: Operator, terminal: Terminal, plane: ControlPlane) -> None:
    """A pod without the label by which pods are watched still counts, as for ``grove plan --live``."""
    operator.await_rest()
    operator.pause()
    (pod,) = scene.pods("llama-0-router")
    scene.patch("pods", pod["metadata"]["name"], {"metadata": {"labels": {MANAGED_BY: None}}}, media=MERGE)

    def headline() -> str:
        ran = grove("plan", "--live", "-n", scene.namespace, kubeconfig=plane.kubeconfig("admin"))
        return ran.stdout.partition("\n")[0]

    expected = headline()
    assert "create" not in expected
    wait_until(terminal.text, lambda shown: shown.partition("\n")[0].strip() == expected, f"it shows {expected}")
    operator.go_on()
