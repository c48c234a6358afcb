"""Every alert fires in a cluster: a Prometheus scrapes an operator and an observer, and a story is played for each."""

import re
import time
from typing import Final

import pytest

from grove_shell.monitoring.alert_rules import ALERTS
from grove_shell.monitoring.alert_settings import parse_alert_options
from grove_shell.monitoring.dashboard import grafana_dashboard
from tests.cluster.api import wait_until
from tests.cluster.operators import Starting
from tests.cluster.plane import ControlPlane
from tests.cluster.prometheus import Prometheus, needs_prometheus
from tests.cluster.proxy import Asked, Fault, Proxy, faultless
from tests.cluster.scenes import Scene, light
from tests.cluster.test_operator_refusals import forbid

SHORT: Final = parse_alert_options(
    (
        *("writeRefused.for=2s", "queueDeep.for=1s", "queueDeep.above=3"),
        *("apiServerSlow.for=1s", "apiServerSlow.aboveSeconds=2.5"),
    )
)
SLOW: Final = 2.6
"""Seconds that the proxy waits before it passes a request on; a busy server is not as slow as that."""
MANY: Final = 8
VARIABLE: Final = re.compile(r"\$(\w+)")
INSTEAD: Final = {"job": ".*", "namespace": ".*", "set": ".*", "__rate_interval": "1m", "__range": "5m"}
WITHOUT_VALUES: Final = {"controller_runtime_reconcile_errors_total"}
"""No round fails in these stories."""


def slowly(_asked: Asked) -> Fault:
    time.sleep(SLOW)
    return Fault.NONE


@needs_prometheus
@pytest.mark.req("AL-003")
@pytest.mark.req("AL-004")
@pytest.mark.req("AL-005")
@pytest.mark.req("AL-006")
@pytest.mark.req("AL-007")
@pytest.mark.req("AL-008")
@pytest.mark.req("AL-011")
def test_al001_every_alert_fires_in_its_story(scene: Scene, starting: Starting, grove_plane: ControlPlane) -> None:
    """The acting operator has one worker and a proxy before its server; the observer predicts by the same rules."""
    with Proxy(grove_plane) as proxy:
        operator, observer = starting(server=proxy.url), starting("operator-2", options=("--observe",))
        operator.workers = 1
        for each in (operator, observer):
            each.start()
        with Prometheus(grove_plane, (operator.port, observer.port), SHORT) as prometheus:
            forbid(scene, "pods", "!object.metadata.name.startsWith('bad-')", "no bad pods here")
            for name, delay in (("waits", "30m"), ("ends", "3s"), ("kept", "30m"), ("bad", "30m")):
                scene.api.create(scene.set_of(light("worker"), name=name, terminationDelay=delay))
            for name in ("waits", "ends", "kept"):
                scene.await_ready(1, f"{name}-0-worker")
                scene.await_status(name, availableReplicas=1)
            prometheus.await_targets()
            expected = {("GroveWriteRefused", "bad")}
            wait_until(prometheus.firing, lambda firing: firing == expected, "nothing fires but the refused write")

            for name in ("waits", "ends"):
                scene.annotate_pods(f"{name}-0-worker", not_ready="true")
            scene.api.delete("podcliques", "kept-0-worker", scene.namespace)
            expected |= {("GroveGangTerminationPending", "waits"), ("GroveGangTerminated", "ends")}
            expected |= {("GrovePredictionFailed", "")}
            wait_until(prometheus.firing, lambda firing: firing == expected, f"{expected} fire")
            (failed,) = prometheus.query("grove_predictions_total{outcome='notPredicted'} > 0")
            assert failed["value"][1] == "1", "the termination that the operator made was predicted"
            both = "count(grove_gang_termination_timestamp_seconds{set='ends'} > 0) == 2"
            wait_until(lambda: prometheus.query(both), bool, "the operator and the observer give the time of the end")
            for alert in prometheus.alerts("firing"):
                assert alert["labels"].get("namespace", scene.namespace) == scene.namespace, "not that of the operator"
                assert "<no value>" not in str(alert["annotations"])
            wait_until(lambda: empty_panels(prometheus), WITHOUT_VALUES.__eq__, "every other panel has values")

            scene.annotate_pods("waits-0-worker", not_ready=None)
            scene.api.delete("validatingadmissionpolicybindings", f"{scene.namespace}-policy")
            proxy.policy = slowly
            for number in range(MANY):
                scene.api.create(scene.set_of(light("worker"), name=f"many-{number}"))
            late = {("GroveQueueDeep", ""), ("GroveApiServerSlow", "")}
            wait_until(prometheus.firing, lambda firing: firing >= late, f"{late} fire")
            assert {name for name, _ in expected | late} == {alert.name for alert in ALERTS}
            proxy.policy = faultless
            ended = {"GroveGangTerminationPending", "GroveWriteRefused", "GroveQueueDeep"}
            wait_until(prometheus.firing, lambda firing: not {name for name, _ in firing} & ended, f"{ended} end")


def empty_panels(prometheus: Prometheus) -> set[str]:
    """The panels about the operator whose queries have no value, each query with values for its variables."""
    panels = grafana_dashboard()["panels"]
    webhooks = next(number for number, panel in enumerate(panels) if panel["title"] == "Webhooks")
    found = {
        panel["title"]: [
            prometheus.query(VARIABLE.sub(lambda match: INSTEAD[match[1]], target["expr"]))
            for target in panel.get("targets", [])
        ]
        for panel in panels[:webhooks]
    }
    return {title for title, answers in found.items() if not all(answers)}
