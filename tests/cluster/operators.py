"""The operator as a process under test: start, pause, kill, and its log."""

import contextlib
import io
import json
import os
import secrets
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import yaml

from grove_shell.cli.main import run_command_line
from grove_shell.exit_codes import CHANGES
from tests.cluster.api import APPLY, Api, ApiError, Json, wait_until
from tests.cluster.binaries import serve_groups
from tests.cluster.image import UNPACKED, image_command
from tests.cluster.plane import ControlPlane

GROVE: Final = image_command("grove") if os.environ.get(UNPACKED) else (sys.executable, "-m", "grove_shell")
NO_OTHER: Final[Mapping[str, Any]] = {"enabled": False}
SHORT: Final[Mapping[str, Any]] = {"leaseDuration": "3s", "renewDeadline": "2s", "retryPeriod": "300ms"}
READING: Final = frozenset({"get", "list", "watch"})
_RBAC: Final = "rbac.authorization.k8s.io"


def install_definitions(api: Api, program: Sequence[str] = GROVE) -> None:
    """Have the server know Grove's kinds, from what ``grove manifests`` prints."""
    printed = subprocess.run([*program, "manifests", "--only", "crds"], check=True, capture_output=True, text=True)
    definitions = list(yaml.load_all(printed.stdout, yaml.CSafeLoader))
    for definition in definitions:
        name = definition["metadata"]["name"]
        api.patch("customresourcedefinitions", name, patch=definition, media=APPLY, fieldManager="tests", force="true")
    names = [definition["spec"]["names"]["plural"] for definition in definitions]

    def unserved() -> list[str]:
        return [name for name in names if not is_served(api, name)]

    wait_until(unserved, lambda left: not left, "all kinds of Grove are served")


def is_served(api: Api, plural: str) -> bool:
    """Whether objects of a kind can be listed; discovery alone shows it too early."""
    with contextlib.suppress(KeyError, ApiError):
        api.all_of(plural)
        return True
    return False


def let(api: Api, user: str, role: str = "cluster-admin", namespace: str | None = None) -> None:
    """Give a user the rights of a ClusterRole: everywhere, or in one namespace; and wait until they are known."""
    kind = "RoleBinding" if namespace else "ClusterRoleBinding"
    metadata: Json = {"name": f"{user}-{role}"} | ({"namespace": namespace} if namespace else {})
    api.create(
        {
            "apiVersion": f"{_RBAC}/v1",
            "kind": kind,
            "metadata": metadata,
            "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": role},
            "subjects": [{"apiGroup": _RBAC, "kind": "User", "name": user}],
        }
    )


class Operator:
    """One ``grove operator`` after another, with one user, one namespace and one configuration.

    Args:
        plane: the control plane it works for; it ends with it.
        user: its user there, under which its requests are in the audit log.
        namespace: to look after; empty for all.
        election: of the configuration; without another wish it is alone, and begins at once.
        client: of the configuration, e.g. ``inFlight``.
        server: to go to instead of the API server itself, e.g. a proxy.
        options: further ones of the command line.
        mnnvl: of the configuration; may be set anew for its next life, as ``topology``, ``rules``, ``backend``,
            ``workers``, ``init_image`` and ``program`` may.
    """

    def __init__(
        self,
        plane: ControlPlane,
        user: str = "operator",
        *,
        namespace: str = "",
        election: Mapping[str, Any] = NO_OTHER,
        client: Mapping[str, Any] = MappingProxyType({}),
        server: str = "",
        options: tuple[str, ...] = (),
        mnnvl: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        self.plane = plane
        self.user = user
        self.namespace = namespace
        self._election = election
        self._client = client
        self._server = server
        self._options = options
        self.mnnvl = mnnvl
        self.topology: Mapping[str, Any] = {}
        self.rules = "design"
        self.backend = "podgang"
        self.workers = 16
        self.init_image = ""
        self.program: Sequence[str] = GROVE
        self._name = ""
        self._before: list[Json] = []

    def start(self) -> "Operator":
        """Start it, again if need be, and wait until its caches are filled."""
        self.launch()
        self.await_line("caches are filled")
        return self

    def launch(self) -> None:
        """Start it and wait for nothing."""
        if self._name:
            self._before += self._own_lines()
        self._name = f"{self.user}-{secrets.token_hex(4)}"
        self.configure()
        inside = ("--namespace", self.namespace) if self.namespace else ()
        where = ("--kubeconfig", str(self._kubeconfig()), "--config", str(self.config))
        self.plane.run(self._name, [*self.program, "operator", *where, *inside, *self._options])

    def configure(self) -> None:
        """Write its configuration, which others may read too."""
        config = {
            "apiVersion": "operator.config.grove.io/v1alpha1",
            "kind": "OperatorConfiguration",
            "rules": self.rules,
            "workers": self.workers,
            "serving": {"host": "127.0.0.1", "port": 0},
            "leaderElection": {"namespace": self.namespace or "default", **self._election},
            "client": dict(self._client),
            "mnnvl": dict(self.mnnvl),
            "topologyAwareScheduling": dict(self.topology),
            "scheduling": {"backend": self.backend},
            **({"startup": {"image": self.init_image}} if self.init_image else {}),
        }
        self.config.write_text(yaml.safe_dump(config), encoding="utf-8")

    @property
    def name(self) -> str:
        """Of the program of this life."""
        return self._name

    @property
    def config(self) -> Path:
        """The configuration of this life, for other commands."""
        return self.plane.folder / f"{self._name}.yaml"

    @property
    def lines(self) -> list[Json]:
        """Everything it said so far, in all its lives."""
        return [*self._before, *self._own_lines()]

    def said(self, message: str) -> list[Json]:
        """Its lines with this message."""
        return [line for line in self.lines if line["msg"] == message]

    def await_line(self, message: str, *, seconds: float = 60, **fields: Any) -> Json:
        """Wait until this life of it says something, and give the line."""

        def look() -> list[Json]:
            alike = [line for line in self._own_lines() if line["msg"] == message]
            if not alike and self.code is not None:
                raise AssertionError(f"it ended with {self.code}:\n{self.text[-3000:]}")
            return [line for line in alike if all(line.get(key) == value for key, value in fields.items())]

        return wait_until(look, bool, f"the operator says '{message}'", seconds=seconds)[0]

    @property
    def text(self) -> str:
        """What this life of it wrote, as it stands there."""
        log = self.plane.log(self._name)
        return log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""

    @property
    def port(self) -> int:
        """Where it serves health and metrics."""
        port: int = self.await_line("operator starts")["port"]
        return port

    def get(self, path: str) -> str:
        """A page that it serves."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=10) as answer:
            text: str = answer.read().decode()
            return text

    @property
    def code(self) -> int | None:
        """With what it ended; None while it runs."""
        return self.plane.code(self._name)

    def stop(self) -> int:
        """Ask it to end, and wait for it."""
        self._signal(signal.SIGTERM)
        return self.await_end()

    def kill(self) -> None:
        """End it between two instructions; nothing where it never lived."""
        if self._name:
            self._signal(signal.SIGKILL)
            self.await_end()

    def pause(self) -> None:
        """Let it stand still."""
        self._signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """Let it go on as if nothing had been."""
        self._signal(signal.SIGCONT)

    def await_end(self, *, seconds: float = 30) -> int:
        """Wait until it ended by itself; with what it did."""
        code = wait_until(lambda: self.code, lambda found: found is not None, "the operator ends", seconds=seconds)
        assert code is not None
        return code

    def await_rest(self, *, seconds: float = 60) -> None:
        """Wait until nothing is left to do for an operator that starts in its namespace now.

        The command runs in this process: to start one takes a second of the processor, and there are many.
        """
        asked = ["plan", "--live", "-n", self.namespace, "--detailed-exitcode", "--config", str(self.config)]
        asked += ["--kubeconfig", str(self.plane.kubeconfig())]

        def look() -> tuple[int, str]:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as errors:
                code = run_command_line(asked, "grove")
            return code, errors.getvalue()

        code, said = wait_until(look, lambda ran: ran[0] != CHANGES, "nothing is left to do", seconds=seconds)
        assert code == 0, said

    @property
    def requests(self) -> list[Json]:
        """What it asked for in its namespace, as audit events in their order; its Lease and Events apart."""
        return [event for event in self._audited if event["objectRef"]["resource"] not in {"leases", "events"}]

    @property
    def reported(self) -> list[Json]:
        """Its Events in its namespace, as audit events of their creation."""
        return [event for event in self._audited if event["objectRef"]["resource"] == "events"]

    @property
    def _audited(self) -> list[Json]:
        here = self.namespace
        return [each for each in self.plane.audit(self.user) if each.get("objectRef", {}).get("namespace", "") == here]

    def writes(self, resource: str | None = None, verb: str | None = None) -> list[Json]:
        """What it wrote in its namespace and was let; those of one resource, or with one verb."""
        return [event for event in self.asked(resource, verb) if event["responseStatus"]["code"] < 300]

    def asked(self, resource: str | None = None, verb: str | None = None) -> list[Json]:
        """What it asked to be written, whatever the answer: a killed one does not hear what became of its last."""
        return [
            event
            for event in self.requests
            if event["verb"] not in READING
            and resource in {None, event["objectRef"]["resource"]}
            and verb in {None, event["verb"]}
        ]

    def _own_lines(self) -> list[Json]:
        """Those that are whole: it may be writing one just now."""
        found = (line for line in self.text.splitlines(keepends=True) if line.startswith("{") and line.endswith("\n"))
        return [json.loads(line) for line in found]

    def _kubeconfig(self) -> Path:
        given = self.plane.kubeconfig(self.user)
        if not self._server:
            return given
        raw = json.loads(given.read_text(encoding="utf-8"))
        raw["clusters"][0]["cluster"] = {"server": self._server}
        path = self.plane.folder / f"{self._name}.kubeconfig"
        path.write_text(json.dumps(raw), encoding="utf-8")
        return path

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.plane.pids[self._name], number)


def would_start() -> str:
    """What ``grove validate --preflight --live`` prints where an operator would start, with the back end ``auto``."""
    found, follows = (
        ("CompositePodGroups", "groups")
        if serve_groups()
        else ("no CompositePodGroups", "PodGangs, which need a scheduler such as KAI")
    )
    notice = f"scheduling.backend is auto, and the server serves {found}: new gangs have {follows}  SC-008"
    return f"would start\n{notice}\n"


def grove(
    *arguments: str, kubeconfig: Path | None = None, seconds: float = 60, program: Sequence[str] = GROVE
) -> "subprocess.CompletedProcess[str]":
    """Run ``grove`` to its end, as the user of this kubeconfig."""
    where = ("--kubeconfig", str(kubeconfig)) if kubeconfig else ()
    return subprocess.run([*program, *arguments, *where], check=False, capture_output=True, text=True, timeout=seconds)


Starting = Callable[..., Operator]
