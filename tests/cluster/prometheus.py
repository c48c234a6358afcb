"""A Prometheus that scrapes operators under test and evaluates the alert rules, every second."""

import contextlib
import json
import os
import secrets
import shutil
import signal
import socket
import urllib.parse
import urllib.request
from collections.abc import Iterable, Mapping
from typing import Any, Final, Self

import pytest

from grove_shell.monitoring.alert_rules import prometheus_rules
from grove_shell.monitoring.alert_settings import AlertOptions
from tests.cluster.api import wait_until
from tests.cluster.plane import ControlPlane
from tests.cluster.programs import HOST

Json = dict[str, Any]
needs_prometheus = pytest.mark.skipif(
    shutil.which("prometheus") is None, reason="needs prometheus (on Debian: apt-get install prometheus)"
)
JOB: Final = "grove"
_EVERY: Final = "1s"


class Prometheus:
    """One that runs as long as a ``with`` block lasts, beside the programs of a control plane.

    Args:
        plane: whose folder has its log and its data.
        ports: of the processes that it scrapes.
        alerts: values of the alerts.
    """

    def __init__(self, plane: ControlPlane, ports: Iterable[int], alerts: AlertOptions) -> None:
        name = f"prometheus-{secrets.token_hex(4)}"
        folder = plane.folder / name
        folder.mkdir()
        rules, config = folder / "rules.json", folder / "config.json"
        rules.write_text(json.dumps(prometheus_rules(alerts)), encoding="utf-8")
        targets = [f"{HOST}:{port}" for port in ports]
        scraped = {"job_name": JOB, "honor_labels": True, "static_configs": [{"targets": targets}]}
        every = {"scrape_interval": _EVERY, "evaluation_interval": _EVERY}
        said = {"global": every, "rule_files": [str(rules)], "scrape_configs": [scraped]}
        config.write_text(json.dumps(said), encoding="utf-8")
        self._port = _free_port()
        self._targets = len(targets)
        options = {
            "config.file": str(config),
            "storage.tsdb.path": str(folder / "data"),
            "web.listen-address": f"{HOST}:{self._port}",
        }
        self._pid = plane.run(name, ["prometheus", *(f"--{key}={value}" for key, value in options.items())])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)

    def await_targets(self) -> None:
        """Wait until it has scraped all targets."""
        wait_until(
            lambda: self.query(f'up{{job="{JOB}"}} == 1'), lambda up: len(up) == self._targets, "all are scraped"
        )

    def query(self, expression: str) -> list[Json]:
        """The time series that an expression has now; none while it does not listen yet."""
        asked = f"/api/v1/query?{urllib.parse.urlencode({'query': expression})}"
        try:
            found: list[Json] = self._get(asked)["result"]
        except ConnectionError:
            return []
        return found

    def alerts(self, state: str) -> list[Json]:
        """The alerts that are ``pending`` or ``firing``."""
        return [alert for alert in self._get("/api/v1/alerts")["alerts"] if alert["state"] == state]

    def firing(self) -> set[tuple[str, str]]:
        """The name and the set of each alert that fires; no set where it is about none."""
        return {(labels["alertname"], labels.get("set", "")) for labels in map(_labels, self.alerts("firing"))}

    def _get(self, path: str) -> Json:
        try:
            with urllib.request.urlopen(f"http://{HOST}:{self._port}{path}", timeout=10) as answer:
                found: Json = json.loads(answer.read())["data"]
        except urllib.error.HTTPError as refused:
            raise AssertionError(refused.read().decode()) from refused
        except urllib.error.URLError as silent:
            raise ConnectionError(str(silent)) from silent
        return found


def _labels(alert: Json) -> Mapping[str, str]:
    found: Mapping[str, str] = alert["labels"]
    return found


def _free_port() -> int:
    with socket.socket() as found:
        found.bind((HOST, 0))
        port: int = found.getsockname()[1]
        return port
