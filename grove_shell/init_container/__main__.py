"""``grove-initc``: wait until the PodCliques that a pod starts after have enough ready pods."""

import asyncio
import os
import signal
import ssl
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

import click

from grove_core.resources.api_names import CORE, POD_GANG
from grove_core.resources.labels import CLIQUE, label_value_in
from grove_core.resources.object_metadata import metadata_in
from grove_shell.client.api_kinds import ApiKind
from grove_shell.client.api_session import ApiSession, NoServerResponse
from grove_shell.client.connection_settings import ConnectionSettings
from grove_shell.client.object_store import ObjectStore, Raw, StoresByKind
from grove_shell.client.reflector import Reflector
from grove_shell.exit_codes import DONE, ERROR, INTERRUPTED, USAGE

_POD: Final = "Pod"
_READY: Final = ("Ready", "True")


class GangPodStore(StoresByKind):
    """The pods of one gang.

    Attributes:
        satisfied: set once every PodClique has the wanted number of ready pods.
    """

    def __init__(self, wanted: Mapping[str, int]) -> None:
        """Start empty; ``wanted`` is the number of ready pods by the name of their PodClique."""
        self.satisfied = asyncio.Event()
        self._wanted = dict(wanted)
        self.stores = {_POD: ObjectStore(_clique_if_ready, lambda *_: self._check())}

    def cliques_with_too_few_ready_pods(self) -> list[str]:
        """Return the PodCliques with too few ready pods, sorted: ``llama-0-router: 0 of 1 pods ready``."""
        ready = Counter(self.stores[_POD].readable_objects.values())
        return [
            f"{name}: {ready[name]} of {number} pods ready"
            for name, number in sorted(self._wanted.items())
            if ready[name] < number
        ]

    def replace_all_of_kind(self, kind: str, items: Iterable[Raw], version: str) -> None:
        """Replace the pods by those of a complete list, and set ``satisfied`` if enough of them are ready."""
        super().replace_all_of_kind(kind, items, version)
        self._check()

    def _check(self) -> None:
        if not self.cliques_with_too_few_ready_pods():
            self.satisfied.set()


def _clique_if_ready(raw: Raw) -> str:
    """Return the PodClique in the label of a ready pod; empty for any other pod."""
    meta, conditions = metadata_in(raw), (raw.get("status") or {}).get("conditions") or ()
    ready = any((one.get("type"), one.get("status")) == _READY for one in conditions)
    return label_value_in(meta.labels, CLIQUE) if ready and not meta.deleting else ""


ACCOUNT: Final = "/var/run/secrets/kubernetes.io/serviceaccount"
POD_INFO: Final = "/var/grove/pod-info"
_HOST: Final = "KUBERNETES_SERVICE_HOST"
_PORT: Final = "KUBERNETES_SERVICE_PORT"
_TERMINATED: Final = 128 + signal.SIGTERM


class _NotInPod(Exception):
    """A file or variable of a container is missing; the message names it."""


class RequiredReadyPods(click.ParamType[tuple[str, int]]):
    """The name of a PodClique and the number of its pods that must be ready, such as ``llama-0-router:1``."""

    name = "clique"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, int]:
        """Parse the text; fail with an example if it has another form."""
        name, _, number = str(value).rpartition(":")
        if not name or not number.isdecimal():
            self.fail(f"{value!r} is not a name and a number such as llama-0-router:1", param, ctx)
        return name, int(number)


@click.command("grove-initc")
@click.option(
    "--podcliques",
    type=RequiredReadyPods(),
    multiple=True,
    metavar="NAME:PODS",
    help="PodClique to wait for, and its ready pods; repeatable.",
)
@click.option("--account", type=Path, default=ACCOUNT, show_default=True, help="Directory with token and certificate.")
@click.option(
    "--pod-info", type=Path, default=POD_INFO, show_default=True, help="Directory with the names of namespace and gang."
)
def wait_for_ready_pods(podcliques: Sequence[tuple[str, int]], account: Path, pod_info: Path) -> int:
    """Wait until each PodClique has this many ready pods, then end, so that the next container of the pod starts.

    \b
    grove-initc --podcliques=llama-0-router:1 --podcliques=llama-0-leader:2
    """  # noqa: D301 - \b keeps click from wrapping
    try:
        namespace, gang = (_text(pod_info / name) for name in ("namespace", "podgangname"))
        return asyncio.run(_wait(_connection(account), namespace, gang, dict(podcliques)))
    except _NotInPod as fault:
        _print(str(fault))
        return ERROR


async def _wait(connection: ConnectionSettings, namespace: str, gang: str, wanted: dict[str, int]) -> int:
    store, last_message, stop = GangPodStore(wanted), "", asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(
        signal.SIGTERM, stop.set
    )  # process 1 of a container has no default handler
    kind = ApiKind("Pod", CORE, "pods", f"{POD_GANG}={gang}")
    async with ApiSession(connection, user_agent="grove-initc") as api:
        reflector = Reflector(api, kind, store, namespace=namespace, report=lambda _kind, message: _print(message))
        tasks = [asyncio.ensure_future(one) for one in (reflector.run(), store.satisfied.wait(), stop.wait())]
        while not any(task.done() for task in tasks):
            message = "; ".join(store.cliques_with_too_few_ready_pods())
            if message != last_message:
                last_message = message
                _print(f"waits for {message}")
            await asyncio.wait(tasks, timeout=1, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
    for result in results:
        if isinstance(result, Exception):
            raise result
    if not store.satisfied.is_set():
        return _TERMINATED
    _print("all are ready")
    return DONE


def _connection(account: Path) -> ConnectionSettings:
    """The connection of the pod's service account; its token is read for every request, because tokens are rotated."""
    host, port = os.environ.get(_HOST), os.environ.get(_PORT, "443")
    if not host:
        raise _NotInPod(f"{_HOST} is not set: this runs in a pod")
    _text(account / "token")
    try:
        tls = ssl.create_default_context(cafile=account / "ca.crt")
    except (OSError, ssl.SSLError) as fault:
        raise _NotInPod(f"{account / 'ca.crt'}: {getattr(fault, 'strerror', None) or fault}") from fault

    async def token() -> str | None:
        try:
            return _text(account / "token")
        except _NotInPod as fault:
            raise NoServerResponse(str(fault)) from fault

    return ConnectionSettings(server=f"https://{f'[{host}]' if ':' in host else host}:{port}", tls=tls, token=token)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except OSError as fault:
        raise _NotInPod(f"{path}: {fault.strerror}") from fault


def _print(message: str) -> None:
    sys.stderr.write(f"grove-initc: {message}\n")
    sys.stderr.flush()


def main() -> None:
    """Run the command and exit with its exit code."""
    try:
        sys.exit(wait_for_ready_pods.main(standalone_mode=False))
    except click.ClickException as fault:
        fault.show()
        sys.exit(USAGE)
    except click.Abort:
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
