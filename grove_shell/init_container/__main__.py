"""``grove-initc``: wait until the pods that this one starts after are ready."""

import asyncio
import os
import signal
import ssl
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click

from grove_core.resources.api_names import CORE, POD_GANG
from grove_shell.client.api import Api, Unreachable
from grove_shell.client.connection import Connection
from grove_shell.client.kinds import ApiKind
from grove_shell.client.reflector import Reflector
from grove_shell.exits import DONE, ERROR, INTERRUPTED, USAGE
from grove_shell.init_container.ready_pods import ReadyPodStore

ACCOUNT: Final = "/var/run/secrets/kubernetes.io/serviceaccount"
POD_INFO: Final = "/var/grove/pod-info"
_HOST: Final = "KUBERNETES_SERVICE_HOST"
_PORT: Final = "KUBERNETES_SERVICE_PORT"
_ENDED: Final = 128 + signal.SIGTERM


class _NoPlace(Exception):
    """This is not the container that it should be. The message says what is missing."""


class Number(click.ParamType[tuple[str, int]]):
    """The name of a PodClique, and how many of its pods have to be ready."""

    name = "clique"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, int]:
        """Read the text, or fail with an example."""
        name, _, number = str(value).rpartition(":")
        if not name or not number.isdecimal():
            self.fail(f"{value!r} is not a name and a number such as llama-0-router:1", param, ctx)
        return name, int(number)


@click.command("grove-initc")
@click.option("--podcliques", type=Number(), multiple=True, metavar="NAME:PODS", help="Whom to wait for; repeated.")
@click.option("--account", type=Path, default=ACCOUNT, show_default=True, help="Where token and certificate are.")
@click.option("--pod-info", type=Path, default=POD_INFO, show_default=True, help="Where namespace and gang are.")
def command(podcliques: Sequence[tuple[str, int]], account: Path, pod_info: Path) -> int:
    """Wait until so many pods of each PodClique are ready, then end: the next container of this pod begins.

    \b
    grove-initc --podcliques=llama-0-router:1 --podcliques=llama-0-leader:2
    """  # noqa: D301 - \b keeps click from wrapping
    try:
        namespace, gang = (_text(pod_info / name) for name in ("namespace", "podgangname"))
        return asyncio.run(_wait(_connection(account), namespace, gang, dict(podcliques)))
    except _NoPlace as fault:
        _say(str(fault))
        return ERROR


async def _wait(connection: Connection, namespace: str, gang: str, wanted: dict[str, int]) -> int:
    waiting, told, stop = ReadyPodStore(wanted), "", asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)  # the first process of a container has none
    kind = ApiKind("Pod", CORE, "pods", f"{POD_GANG}={gang}")
    async with Api(connection, user_agent="grove-initc") as api:
        reflector = Reflector(api, kind, waiting, namespace=namespace, report=lambda _kind, words: _say(words))
        tasks = [asyncio.ensure_future(one) for one in (reflector.run(), waiting.over.wait(), stop.wait())]
        while not any(task.done() for task in tasks):
            said = "; ".join(waiting.missing())
            if said != told:
                told = said
                _say(f"waits for {said}")
            await asyncio.wait(tasks, timeout=1, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()
        ends = await asyncio.gather(*tasks, return_exceptions=True)
    for fault in ends:
        if isinstance(fault, Exception):
            raise fault
    if not waiting.over.is_set():
        return _ENDED
    _say("all are ready")
    return DONE


def _connection(account: Path) -> Connection:
    """By the account of the pod; its token is read anew for every request, because tokens are replaced."""
    host, port = os.environ.get(_HOST), os.environ.get(_PORT, "443")
    if not host:
        raise _NoPlace(f"{_HOST} is not set: this runs in a pod")
    _text(account / "token")
    try:
        tls = ssl.create_default_context(cafile=account / "ca.crt")
    except (OSError, ssl.SSLError) as fault:
        raise _NoPlace(f"{account / 'ca.crt'}: {getattr(fault, 'strerror', None) or fault}") from fault

    async def token() -> str | None:
        try:
            return _text(account / "token")
        except _NoPlace as fault:
            raise Unreachable(str(fault)) from fault

    return Connection(server=f"https://{f'[{host}]' if ':' in host else host}:{port}", tls=tls, token=token)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except OSError as fault:
        raise _NoPlace(f"{path}: {fault.strerror}") from fault


def _say(words: str) -> None:
    sys.stderr.write(f"grove-initc: {words}\n")
    sys.stderr.flush()


def main() -> None:
    """Wait, and leave with the exit code."""
    try:
        sys.exit(command.main(standalone_mode=False))
    except click.ClickException as fault:
        fault.show()
        sys.exit(USAGE)
    except click.Abort:
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
