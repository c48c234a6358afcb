"""``grove daemon``: see who it is, say everything that is wrong, run."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from grove_core.kernel.errors import Problem
from grove_shell.actions.run_process import run_process
from grove_shell.client.api import Api
from grove_shell.client.connection import Connection, NoAccess, connect
from grove_shell.domain_daemon.daemon_log import DaemonLog
from grove_shell.domain_daemon.fabric_process import hosts_file_command
from grove_shell.domain_daemon.identity import DaemonArguments, problems_in_arguments, resolve_identity
from grove_shell.domain_daemon.process import DaemonProcess
from grove_shell.exits import ERROR
from grove_shell.page import print_error
from grove_shell.reading.faults import faults_in
from grove_shell.views.problems_page import COMMAND_LINE, NOTHING_STARTED, problems_page


@dataclass(frozen=True, slots=True, kw_only=True)
class DaemonOptions:
    """What the user asked for; see ``grove daemon --help``."""

    told: DaemonArguments
    kubeconfig: str | None = None
    context: str | None = None
    log: str = "text"


def run_daemon(options: DaemonOptions) -> int:
    """Run until told to stop; returns the exit code (CL-001)."""
    return run_process(_run(options))


async def _run(options: DaemonOptions) -> int:
    told = options.told
    problems = list(problems_in_arguments(told))
    connection = await _reached(options, problems)
    if connection is None:
        return _refused(problems)
    async with Api(connection) as api:
        identity, more = await resolve_identity(api, told)
    if identity is None or problems:
        return _refused([*problems, *more])
    process = DaemonProcess(
        connection=connection,
        identity=identity,
        settings=told.settings,
        fabric=told.fabric or hosts_file_command(Path(told.peers)),
        telling=DaemonLog(as_json=options.log == "json"),
        grace=told.grace,
    )
    return await process.run()


async def _reached(options: DaemonOptions, problems: list[Problem]) -> Connection | None:
    """How to reach the server; without a way to it, what else is wrong is told all the same."""
    try:
        return await connect(options.kubeconfig, options.context)
    except NoAccess as fault:
        if not problems:
            raise
        problems.append(Problem(path="--kubeconfig", expected="a way to a cluster", got=str(fault)))
        return None


def _refused(problems: Iterable[Problem]) -> int:
    print_error(problems_page(tuple(faults_in(COMMAND_LINE, problems)), NOTHING_STARTED))
    return ERROR
