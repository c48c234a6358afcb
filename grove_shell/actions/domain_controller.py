"""``grove domain-controller``: check access to the cluster, run."""

from datetime import timedelta
from typing import Any

from grove_shell.actions.main_coroutine import run_main_coroutine
from grove_shell.client.api_discovery import connection_advice
from grove_shell.client.api_session import ApiSession, NoServerResponse
from grove_shell.client.connection_settings import NoClusterAccess, read_connection_settings
from grove_shell.domain_controller.domain_controller_process import DomainControllerProcess
from grove_shell.domain_daemon.compute_domain_kinds import DOMAINS
from grove_shell.domain_daemon.daemon_log import DaemonLog


def run_domain_controller(kubeconfig: str | None, context: str | None, **options: Any) -> int:  # noqa: ANN401 - as _run has them
    """Run until a signal; return the exit code (CL-001). Options are those of ``grove domain-controller``."""
    return run_main_coroutine(_run(kubeconfig, context, **options))


async def _run(
    kubeconfig: str | None, context: str | None, *, namespace: str, pods_namespace: str, cleanup: timedelta, log: str
) -> int:
    connection = await read_connection_settings(kubeconfig, context)
    async with ApiSession(connection) as api:
        try:
            response = await api.request("GET", DOMAINS.path(namespace), query={"limit": "1"})
        except NoServerResponse as fault:
            raise NoClusterAccess(connection_advice(fault)) from fault
    if not response.ok:
        error = f"ComputeDomain: {response.message.strip()}"
        hint = "; NVIDIA's driver installs the definition, or: grove manifests --only crds --with compute-domains"
        raise NoClusterAccess(f"{connection.server}: {error}{hint}")
    process = DomainControllerProcess(
        connection=connection,
        log=DaemonLog(as_json=log == "json"),
        namespace=namespace,
        pods_namespace=pods_namespace,
        cleanup_interval=cleanup,
    )
    return await process.run()
