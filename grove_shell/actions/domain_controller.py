"""``grove domain-controller``: check access to the cluster, run."""

from dataclasses import dataclass
from datetime import timedelta

from grove_shell.actions.run_process import run_process
from grove_shell.client.api import Api, Unreachable
from grove_shell.client.connection import NoAccess, connect
from grove_shell.client.discovery import advice_on
from grove_shell.domain_controller.process import DomainControllerProcess
from grove_shell.domain_daemon.daemon_log import DaemonLog
from grove_shell.domain_daemon.kinds import DOMAINS


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainControllerOptions:
    """Options of ``grove domain-controller``."""

    namespace: str = ""
    pods_namespace: str = ""
    cleanup: timedelta
    kubeconfig: str | None = None
    context: str | None = None
    log: str = "text"


def run_domain_controller(options: DomainControllerOptions) -> int:
    """Run until a signal; return the exit code (CL-001)."""
    return run_process(_run(options))


async def _run(options: DomainControllerOptions) -> int:
    connection = await connect(options.kubeconfig, options.context)
    async with Api(connection) as api:
        try:
            response = await api.request("GET", DOMAINS.path(options.namespace), query={"limit": "1"})
        except Unreachable as fault:
            raise NoAccess(advice_on(fault)) from fault
    if not response.ok:
        error = f"ComputeDomain: {response.message.strip()}"
        hint = "; NVIDIA's driver installs the definition, or: grove manifests --only crds --with compute-domains"
        raise NoAccess(f"{connection.server}: {error}{hint}")
    process = DomainControllerProcess(
        connection=connection,
        log=DaemonLog(as_json=options.log == "json"),
        namespace=options.namespace,
        pods_namespace=options.pods_namespace,
        cleanup_interval=options.cleanup,
    )
    return await process.run()
