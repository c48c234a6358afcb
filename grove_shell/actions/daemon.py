"""``grove daemon``: resolve the identity of the daemon, report every problem, run."""

from collections.abc import Iterable
from pathlib import Path

from grove_core.kernel.errors import Problem
from grove_shell.actions.run_process import run_process
from grove_shell.client.api import Api
from grove_shell.client.connection import Connection, NoClusterAccess, connect
from grove_shell.domain_daemon.daemon_log import DaemonLog
from grove_shell.domain_daemon.fabric_process import hosts_file_command
from grove_shell.domain_daemon.identity import DaemonArguments, problems_in_arguments, resolve_identity
from grove_shell.domain_daemon.process import DaemonProcess
from grove_shell.exits import ERROR
from grove_shell.page import print_error
from grove_shell.reading.faults import faults_in
from grove_shell.views.problems_page import COMMAND_LINE, NOTHING_STARTED, problems_page


def run_daemon(
    arguments: DaemonArguments, *, kubeconfig: str | None = None, context: str | None = None, log: str = "text"
) -> int:
    """Run until a signal; return the exit code (CL-001)."""
    return run_process(_run(arguments, kubeconfig, context, log))


async def _run(arguments: DaemonArguments, kubeconfig: str | None, context: str | None, log: str) -> int:
    problems = list(problems_in_arguments(arguments))
    connection = await _connect(kubeconfig, context, problems)
    if connection is None:
        return _report(problems)
    async with Api(connection) as api:
        identity, more = await resolve_identity(api, arguments)
    if identity is None or problems:
        return _report([*problems, *more])
    process = DaemonProcess(
        connection=connection,
        identity=identity,
        settings=arguments.settings,
        fabric_command=arguments.fabric or hosts_file_command(Path(arguments.peers)),
        log=DaemonLog(as_json=log == "json"),
        grace_period=arguments.grace,
    )
    return await process.run()


async def _connect(kubeconfig: str | None, context: str | None, problems: list[Problem]) -> Connection | None:
    """Connect to the API server; a failure is added to the problems if there are any."""
    try:
        return await connect(kubeconfig, context)
    except NoClusterAccess as fault:
        if not problems:
            raise
        problems.append(Problem(path="--kubeconfig", expected="a way to a cluster", got=str(fault)))
        return None


def _report(problems: Iterable[Problem]) -> int:
    print_error(problems_page(tuple(faults_in(COMMAND_LINE, problems)), NOTHING_STARTED))
    return ERROR
