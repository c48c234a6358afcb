"""Plays a situation with the Go operator, and writes down what it looked like before, what was written, and after."""

import json
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Self

from tests.beside.audit import RULES, events_of
from tests.beside.go_operator import EVICTION, TOKENS, GoOperator, install_definitions
from tests.beside.stage import Situation, Stage, fresh_namespace
from tests.cluster import binaries
from tests.cluster.api import ApiError, Json
from tests.cluster.binaries import CONTROLLERS
from tests.cluster.plane import ControlPlane

BEFORE: Final = "before.json"
EDITED: Final = "edited.json"
AUDIT: Final = "audit.json"
AFTER: Final = "after.json"
ABOUT: Final = "about.json"
OBJECTS: Final = "objects.json"
_GROVE: Final = (sys.executable, "-m", "grove_shell")
_PAUSE: Final = 0.25
_QUIETLY: Final = ("kube-root-ca.crt",)


class Recorder:
    """A control plane with the Go operator, as long as a ``with`` block lasts.

    Args:
        out: folder that gets a folder for each situation.
    """

    def __init__(self, out: Path) -> None:
        self._out = out
        self._plane = ControlPlane(binaries.find(), audit_rules=RULES, more_controllers=[TOKENS, EVICTION])
        self.operator: GoOperator

    def __enter__(self) -> Self:
        self._plane.__enter__()
        try:
            install_definitions(self._plane.api())
            self._plane.restart(CONTROLLERS)  # the garbage collector looks for new kinds when it begins
            self.operator = GoOperator(self._plane).install().start()
        except BaseException:
            self._plane.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._plane.stop()

    def record(self, name: str, situation: Situation) -> list[Json]:
        """Play one situation into the folder of its name; what was written, with the seconds."""
        folder = self._out / name
        folder.mkdir(parents=True, exist_ok=True)
        api = self._plane.api()
        namespace = fresh_namespace(name)
        api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
        stage = Stage(api, namespace, self.operator)
        offset = self._log.stat().st_size
        try:
            situation.prepare(stage)
            if situation.settle:
                self._await_quiet(namespace, offset, situation.settle, 60)
            return self._play(folder, situation, stage, offset)
        finally:
            self.operator.go_on()
            self._tidy(stage)

    def _play(self, folder: Path, situation: Situation, stage: Stage, offset: int) -> list[Json]:
        if situation.restart:
            self.operator.kill()
        else:
            self.operator.pause()
        namespace = stage.namespace
        self._dump(namespace, folder / BEFORE)
        situation.edit(stage)
        asked = self._dump(namespace, folder / EDITED)
        since = datetime.now(UTC)
        if situation.restart:
            self.operator.start()
        else:
            self.operator.go_on()
        situation.meanwhile(stage)
        quiet = self._await_quiet(namespace, offset, situation.quiet, situation.longest)
        self._dump(namespace, folder / AFTER)
        _write(folder / OBJECTS, [_plain(one) for one in stage.api.everything_in(namespace) if not _is_passing(one)])
        events = events_of(self._log, namespace, since, offset=offset)
        (folder / AUDIT).write_text("[\n" + ",\n".join(json.dumps(event) for event in events) + "\n]\n")
        about: Json = {
            "title": situation.title,
            "namespace": namespace,
            "asOf": asked.isoformat(),
            "wentOn": since.isoformat(),
            "cameToRest": quiet,
            "seconds": round((datetime.now(UTC) - since).total_seconds(), 1),
            "restarted": situation.restart,
            "scenario": situation.scenario(namespace),
        }
        _write(folder / ABOUT, about)
        return events

    @property
    def _log(self) -> Path:
        return self._plane.folder / "audit.log"

    def _await_quiet(self, namespace: str, offset: int, quiet: float, longest: float) -> bool:
        """Wait until nothing was written for so many seconds; whether that came about."""
        begun = time.monotonic()
        while time.monotonic() - begun < longest:
            time.sleep(_PAUSE)
            now = datetime.now(UTC)
            last = max((event["t"] for event in events_of(self._log, namespace, now, offset=offset)), default=-quiet)
            if -last >= quiet and time.monotonic() - begun >= quiet:
                return True
        return False

    def _dump(self, namespace: str, path: Path) -> datetime:
        """Capture the namespace as a user does; the time at which that began."""
        began = datetime.now(UTC)
        config = str(self._plane.kubeconfig())
        words = ("snapshot", "--whole", "-n", namespace, "--out", str(path), "--kubeconfig", config)
        ran = subprocess.run([*_GROVE, *words], capture_output=True, text=True, check=False, timeout=60)
        assert ran.returncode == 0, ran.stderr
        return began

    def _tidy(self, stage: Stage) -> None:
        for name in stage.names("podcliquesets"):
            try:
                stage.api.delete("podcliquesets", name, stage.namespace)
            except ApiError:
                continue
        time.sleep(2)
        stage.close()
        stage.api.delete("namespaces", stage.namespace)


def _plain(found: Json) -> Json:
    metadata = {key: value for key, value in found["metadata"].items() if key != "managedFields"}
    return {**found, "metadata": metadata}


def _is_passing(found: Json) -> bool:
    return found["kind"] in {"Lease", "Event"} or found["metadata"]["name"] in _QUIETLY


def _write(path: Path, found: Any) -> None:
    path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
