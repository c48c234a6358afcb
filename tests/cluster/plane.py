"""A control plane of real programs, as long as a ``with`` block lasts."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from tests.cluster import keeper, programs
from tests.cluster.api import Api, ApiError
from tests.cluster.binaries import APISERVER, COMMAND, CONTROLLERS, ETCD, KUBELET, SCHEDULER, serve_groups
from tests.cluster.programs import ADMIN, HOST, Ports
from tests.cluster.toolchain import NotBuilt
from tests.cluster.trail import Trail

OPERATORS: Final = ("operator", "operator-2")
INSTALLED: Final = "operator-installed"
REVIEWER: Final = "webhooks-installed"
READER: Final = "reader"
AUDITED: Final = (*OPERATORS, INSTALLED, REVIEWER, READER)
USERS: Final = (*AUDITED, "viewer", "nobody")
STORE: Final = (ETCD, APISERVER)
EVERYTHING: Final = (*STORE, CONTROLLERS, SCHEDULER, KUBELET)
_START_SECONDS: Final = 60.0
_TRIES: Final = 3
_TAKEN: Final = "address already in use"
_ERROR: Final = re.compile(r"^[EF]\d{4} |^(Error|error|panic|fatal)\b|\"level\":\"(error|fatal|panic)\"|level=ERROR")
_NAME: Final = re.compile(r"\blookup \S+( on \S+)?: ")  # as Go says it of a name that it could not resolve
_GATES: Final = {
    "feature-gates": ",".join(
        f"{gate}=true"
        for gate in (
            "GenericWorkload",
            "DRAWorkloadResourceClaims",
            "TopologyAwareWorkloadScheduling",
            "CompositePodGroup",
        )
    )
}
_APIS: Final = {"runtime-config": "scheduling.k8s.io/v1beta1=true,scheduling.k8s.io/v1alpha3=true"}


class NotRunning(Exception):
    """A program ended, or did not come up; the text quotes its log."""


class ControlPlane:
    """A cluster of its own: ports, folder, certificates, tokens.

    Everything ends with the block, and with the process that holds it, also one that is killed. Inside the block
    ``url`` is where the API server listens, ``folder`` where the logs are; ``pids`` has each program's process.

    Args:
        binaries: path of each program by its name.
        folder: where logs and data go, and stay; None takes a temporary folder, which is removed.
        parts: the programs to start; etcd and the API server are enough for much.
        compaction: how often the API server drops old versions, e.g. ``10s``; None leaves its default.
        gang_scheduling: whether the Workload API is served and the scheduler places gangs as a whole; None: where the
            programs can do it.
        audit_rules: rules of the audit policy; none takes every request of the users in ``AUDITED``, without bodies.
        more_controllers: names of controllers to run beside those that always run.
        admission: an AdmissionConfiguration, with what the API server shows to webhooks.

    Raises:
        NotBuilt: A program that is asked for is not there.
    """

    def __init__(
        self,
        binaries: Mapping[str, Path],
        *,
        folder: Path | None = None,
        parts: Collection[str] = EVERYTHING,
        compaction: str | None = None,
        gang_scheduling: bool | None = None,
        audit_rules: Sequence[Mapping[str, Any]] = (),
        more_controllers: Collection[str] = (),
        admission: Path | None = None,
    ) -> None:
        self._parts = [name for name in EVERYTHING if name in {*STORE, *parts}]
        if missing := [name for name in self._parts if name not in binaries]:
            raise NotBuilt(f"{', '.join(missing)} not found; '{COMMAND}' builds what is missing, or says why it cannot")
        self._binaries = binaries
        self._folder = folder
        self._compaction = compaction
        self._gang = serve_groups() if gang_scheduling is None else gang_scheduling
        self._audit_rules = audit_rules
        self._more_controllers = more_controllers
        self._admission = {} if admission is None else {"admission-control-config-file": str(admission)}
        self._keeper: subprocess.Popen[str] | None = None
        self._tokens: dict[str, str] = {}
        self._launched: dict[str, Sequence[str]] = {}
        self._ports: dict[str, int] = {}
        self.pids: dict[str, int] = {}
        self.folder: Path
        self.url: str

    def __enter__(self) -> Self:
        """Start everything; ready when each program says that it is.

        Raises:
            NotRunning: with the reason that the log gives.
        """
        for tries_left in reversed(range(_TRIES)):
            try:
                self._start()
            except NotRunning as failed:
                self.stop()
                if _TAKEN not in str(failed) or not tries_left:
                    raise
            except BaseException:
                self.stop()
                raise
            else:
                break
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        asked = self.names_asked()
        self.stop()
        if kind is None:
            assert not asked, f"a program asked a name server, outside this machine: {asked[:3]}"

    def stop(self) -> None:
        """End all programs at once. Stopping what is stopped does nothing."""
        if self._keeper is not None:
            self._keeper.communicate()  # closes its input, which is the sign, and waits
            self._keeper = None
            if self._folder is None:
                shutil.rmtree(self.folder, ignore_errors=True)  # if the keeper could not

    @property
    def authority(self) -> Path:
        """Certificate that the API server is to be trusted by."""
        return self.folder / "certs" / "apiserver.crt"

    def kubeconfig(self, user: str = ADMIN) -> Path:
        """A kubeconfig of this user."""
        return self.folder / f"{user}.kubeconfig"

    def api(self, user: str = ADMIN) -> Api:
        """The API, as this user sees it."""
        return Api(self.url, self._tokens[user], self.authority)

    def audit(self, user: str) -> list[dict[str, Any]]:
        """Every request of this operator user so far, as audit events."""
        return self._trail.of(user)

    def log(self, program: str) -> Path:
        """The log of a program."""
        return self.folder / f"{program}.log"

    def names_asked(self) -> list[str]:
        """Lines of logs that tell of a name that was to be resolved: every address of a test is a number."""
        logs = (self.log(name) for name in self._parts)
        said = (line for log in logs if log.exists() for line in log.read_text("utf-8", "replace").splitlines())
        return [line for line in said if _NAME.search(line)]

    def check(self) -> None:
        """Do nothing if all is well.

        Raises:
            NotRunning: A program ended.
        """
        ended = self._ask({"ended": None})
        if gone := [name for name in self._parts if name in ended]:
            name, code = gone[0], ended[gone[0]]
            raise NotRunning(f"{name} ended with exit code {code}:\n{_tail(self.log(name))}")

    def run(self, name: str, argv: Sequence[str]) -> int:
        """Start a program under test beside those of the control plane; it ends with them, and has a log like them.

        Returns:
            Its process id.
        """
        self.pids[name] = self._ask({"start": [name, list(argv), str(self.log(name))]})
        return self.pids[name]

    def restart(self, name: str) -> None:
        """Begin one of the control plane's own programs anew, and wait until it is up; etcd apart."""
        os.kill(self.pids[name], signal.SIGKILL)
        while self.code(name) is None:
            time.sleep(0.01)
        self._launch(name)
        self._await(name, self._ports[name])

    def code(self, name: str) -> int | None:
        """With what a program under test ended, minus a signal's number if one did it; None while it runs."""
        found: int | None = self._ask({"ended": None}).get(name)
        return found

    def _start(self) -> None:
        temporary = self._folder is None
        self.folder = (self._folder or Path(tempfile.mkdtemp(prefix="grove-cluster-"))).absolute()
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._tokens = programs.write_tokens(self.folder / "tokens.csv", USERS)
        programs.write_signing_key(self.folder / "signing.key")
        rules = self._audit_rules or programs.requests_of(AUDITED)
        programs.write_audit_policy(self.folder / "audit-policy.json", rules)
        self._trail = Trail(self.folder / "audit.log")
        with self.log("keeper").open("wb") as errors:
            self._keeper = subprocess.Popen(
                [sys.executable, "-I", keeper.__file__, *([str(self.folder)] if temporary else [])],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                start_new_session=True,
            )
        self.pids["keeper"] = self._keeper.pid
        ports = programs.free_ports()
        self.url = f"https://{HOST}:{ports.apiserver}"
        self._launched = self._commands(ports)
        self._ports = {
            APISERVER: ports.apiserver,
            CONTROLLERS: ports.controllers,
            SCHEDULER: ports.scheduler,
            KUBELET: ports.kubelet,
        }
        self._launch(ETCD)
        self._launch(APISERVER)
        self._await(APISERVER, ports.apiserver)
        self._write_kubeconfigs()
        started = [name for name in self._parts if name not in STORE]
        for name in started:
            self._launch(name)
        for name in started:
            self._await(name, self._ports[name])

    def _commands(self, ports: Ports) -> dict[str, Sequence[str]]:
        """The command line of each program that is to run."""
        path, folder, gates = self._binaries, self.folder, _GATES if self._gang else {}
        flags = self._admission | ({**gates, **_APIS} if gates else {})
        makers = {
            ETCD: lambda: programs.etcd(path[ETCD], folder, ports),
            APISERVER: lambda: programs.apiserver(
                path[APISERVER], folder, ports, compaction=self._compaction, gates=flags
            ),
            CONTROLLERS: lambda: programs.controllers(
                path[CONTROLLERS], folder, ports, more=self._more_controllers, gates=gates
            ),
            SCHEDULER: lambda: programs.scheduler(path[SCHEDULER], folder, ports, gates=gates),
            KUBELET: lambda: programs.kubelet(path[KUBELET], folder, ports),
        }
        return {name: makers[name]() for name in self._parts}

    def _write_kubeconfigs(self) -> None:
        authority = self.authority.read_bytes()
        for user, token in self._tokens.items():
            programs.write_kubeconfig(self.kubeconfig(user), url=self.url, authority=authority, user=user, token=token)
        programs.write_scheduler_configuration(self.folder / "scheduler.json", self.kubeconfig(SCHEDULER))

    def _launch(self, name: str) -> None:
        self.run(name, self._launched[name])

    def _ask(self, request: Mapping[str, Any]) -> Any:
        assert self._keeper is not None
        assert self._keeper.stdin is not None
        assert self._keeper.stdout is not None
        try:
            self._keeper.stdin.write(json.dumps(request) + "\n")
            self._keeper.stdin.flush()
            answer = self._keeper.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if not answer:
            raise NotRunning(f"the keeper of the programs ended:\n{_tail(self.log('keeper'))}")
        return json.loads(answer)

    def _await(self, name: str, port: int) -> None:
        """Wait until this program is up, and see that none of the others ended."""
        deadline = time.monotonic() + _START_SECONDS
        while not self._is_healthy(port):
            self.check()
            if time.monotonic() > deadline:
                raise NotRunning(f"{name} was not up after {_START_SECONDS:.0f} s:\n{_tail(self.log(name))}")
            time.sleep(0.05)

    def _is_healthy(self, port: int) -> bool:
        """Whether one of ours, which the certificate proves, listens there and is well."""
        if not self.authority.exists():
            return False
        try:
            asked = Api(f"https://{HOST}:{port}", self._tokens[ADMIN], self.authority, seconds=2)
            said = asked.request("GET", "/healthz")
        except (ApiError, OSError):
            return False
        return bool(said == "ok")


def _tail(log: Path, lines: int = 12) -> str:
    """The last lines of a log that tell of a fault; just the last ones if none does."""
    if not log.exists():
        return "  (no log)"
    said = log.read_text(encoding="utf-8", errors="replace").splitlines()
    errors = [line for line in said if _ERROR.search(line)] or said
    return "\n".join(f"  {line[:400]}" for line in errors[-lines:]) or "  (its log is empty)"
