"""``python -m tests.cluster``: build the programs of a control plane, or run one."""

import shlex
import signal
import sys
import threading
from pathlib import Path
from typing import Final

import click
from rich.console import Console

from tests.cluster import binaries
from tests.cluster.plane import ControlPlane, NotRunning
from tests.cluster.toolchain import NotAvailable, NotBuilt

UNAVAILABLE: Final = 69
"""Exit code where what the programs are built of cannot be had here; other failures are 1."""


@click.group()
def main() -> None:
    """A real Kubernetes control plane for tests: everything but containers.

    \b
    python -m tests.cluster build            about five minutes the first time, nothing afterwards
    python -m tests.cluster up --nodes 8     in the foreground; Ctrl-C ends it
    """  # noqa: D301 - \b keeps click from wrapping


def _built(modules: tuple[binaries.Module, ...] = binaries.MODULES) -> dict[str, Path]:
    """The programs, built with progress shown: line by line, or in one line on a terminal."""
    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        return binaries.build(lambda line: None if "compiled" in line else console.print(line, soft_wrap=True), modules)
    with console.status("looking for the programs") as status:
        return binaries.build(status.update, modules)


@main.command()
@click.option("--helm", is_flag=True, help="Helm and a registry instead of the control plane: about six minutes.")
def build(*, helm: bool) -> None:
    """Build the programs into the cache of the user, and print where each is."""
    for name, path in _built(binaries.HELM_MODULES if helm else binaries.MODULES).items():
        click.echo(f"{name}  {path}")


@main.command()
@click.option("--nodes", default=3, show_default=True, type=click.IntRange(min=0), help="Nodes with 8 GPUs each.")
@click.option(
    "--dir",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Keep logs and data there, for another time too.",
)
def up(nodes: int, folder: Path | None) -> None:
    """Run a control plane until Ctrl-C, with a kubeconfig for it.

    \b
    python -m tests.cluster up --nodes 8 --dir cluster &
    export KUBECONFIG=$PWD/cluster/admin.kubeconfig
    """  # noqa: D301 - as above
    programs = _built()
    over = threading.Event()
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, lambda *_: over.set())
    with ControlPlane(programs, folder=folder) as plane:
        api = plane.api()
        names = [f"node-{number:03}" for number in range(nodes)]
        api.add_nodes([name for name in names if api.find("nodes", name) is None])
        click.echo(f"export KUBECONFIG={shlex.quote(str(plane.kubeconfig()))}")
        sys.stdout.flush()
        while not over.wait(1):
            plane.check()


if __name__ == "__main__":
    try:
        main()
    except (NotBuilt, NotRunning, OSError) as fault:
        click.echo(f"error: {fault}", err=True)
        sys.exit(UNAVAILABLE if isinstance(fault, NotAvailable) else 1)
