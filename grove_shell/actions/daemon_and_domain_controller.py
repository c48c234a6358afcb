"""``grove daemon`` and ``grove domain-controller``: check options and access to the cluster, run."""

import asyncio
from collections.abc import Iterable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from grove_core.kernel.errors import ObjectProblem
from grove_shell.client.api_discovery import connection_error_advice
from grove_shell.client.api_session import ApiSession, NoServerResponse
from grove_shell.client.connection_settings import ClusterAccessError, ConnectionSettings, read_connection_settings
from grove_shell.domain_controller.domain_reconcile_loop import DomainControllerProcess
from grove_shell.domain_daemon.daemon_identity import (
    DaemonCommandOptions,
    problems_in_daemon_options,
    read_daemon_identity,
)
from grove_shell.domain_daemon.daemon_log import DaemonDecisionLog
from grove_shell.domain_daemon.daemon_process import DomainDaemonProcess
from grove_shell.domain_daemon.daemon_requests import DOMAINS
from grove_shell.domain_daemon.fabric_process import hosts_file_command
from grove_shell.exit_codes import CommandFailed
from grove_shell.reading.input_faults import COMMAND_LINE, file_problems_as_faults
from grove_shell.views.formatting import NOTHING_STARTED, input_problems_page


def run_daemon(
    arguments: DaemonCommandOptions, *, kubeconfig: str | None = None, context: str | None = None, log: str = "text"
) -> int:
    """Run until a signal; return the exit code (CL-001).

    Args:
        kubeconfig: a file; None for that of ``KUBECONFIG`` or the home directory, else the pod's account.
        context: of the kubeconfig; None for its current one.
        log: ``text`` or ``json``.
    """
    return asyncio.run(_run_daemon(arguments, kubeconfig, context, log))


async def _run_daemon(arguments: DaemonCommandOptions, kubeconfig: str | None, context: str | None, log: str) -> int:
    problems = list(problems_in_daemon_options(arguments))
    connection = await _connect(kubeconfig, context, problems)
    async with ApiSession(connection) as api:
        identity, more = await read_daemon_identity(api, arguments)
    if identity is None or problems:
        raise _refused([*problems, *more])
    process = DomainDaemonProcess(
        connection=connection,
        identity=identity,
        settings=arguments.daemon_settings,
        fabric_command=arguments.fabric or hosts_file_command(Path(arguments.peers)),
        log=DaemonDecisionLog(as_json=log == "json"),
        grace_period=arguments.grace,
    )
    return await process.run()


async def _connect(
    kubeconfig: str | None, context: str | None, problems: Sequence[ObjectProblem]
) -> ConnectionSettings:
    """Connect to the API server; a failure is reported with the problems if there are any."""
    try:
        return await read_connection_settings(kubeconfig, context)
    except ClusterAccessError as fault:
        if not problems:
            raise
        problem = ObjectProblem(path="--kubeconfig", expected="a way to a cluster", got=str(fault))
        raise _refused([*problems, problem]) from fault


def _refused(problems: Iterable[ObjectProblem]) -> CommandFailed:
    return CommandFailed(input_problems_page(tuple(file_problems_as_faults(COMMAND_LINE, problems)), NOTHING_STARTED))


def run_domain_controller(kubeconfig: str | None, context: str | None, **options: Any) -> int:  # noqa: ANN401 - as _run_domain_controller has them
    """Run until a signal; return the exit code (CL-001). Options are those of ``grove domain-controller``."""
    return asyncio.run(_run_domain_controller(kubeconfig, context, **options))


async def _run_domain_controller(
    kubeconfig: str | None, context: str | None, *, namespace: str, pods_namespace: str, cleanup: timedelta, log: str
) -> int:
    connection = await read_connection_settings(kubeconfig, context)
    async with ApiSession(connection) as api:
        try:
            response = await api.request("GET", DOMAINS.url_path(namespace), query={"limit": "1"})
        except NoServerResponse as fault:
            raise ClusterAccessError(connection_error_advice(fault)) from fault
    if not response.is_success:
        error = f"ComputeDomain: {response.error_message.strip()}"
        hint = "; NVIDIA's driver installs the definition, or: grove manifests --only crds --with compute-domains"
        raise ClusterAccessError(f"{connection.server}: {error}{hint}")
    process = DomainControllerProcess(
        connection=connection,
        log=DaemonDecisionLog(as_json=log == "json"),
        namespace=namespace,
        pods_namespace=pods_namespace,
        cleanup_interval=cleanup,
    )
    return await process.run()
