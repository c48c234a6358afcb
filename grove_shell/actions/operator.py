"""``grove operator``: reads the configuration, connects to the cluster, and runs."""

from contextlib import ExitStack
from pathlib import Path
from typing import Any

from grove_core.areas.mnnvl.admit import preflight_objection
from grove_shell.actions.configuration import configuration
from grove_shell.actions.run_process import run_process
from grove_shell.client.api import Api, Unreachable
from grove_shell.client.connection import NoClusterAccess, connect
from grove_shell.client.discovery import check_connection, discover_apis
from grove_shell.exits import ERROR
from grove_shell.operator.process import OperatorProcess
from grove_shell.operator.taken_names import taken_names
from grove_shell.page import print_error
from grove_shell.replay.log_format import DecisionLog, NotADecisionLog, open_decision_log
from grove_shell.settings.operator import OperatorSettings, settings_of
from grove_shell.views.problems_page import NOTHING_STARTED, problems_page


def run_operator(config: str | None, decision_log: str | None, **options: Any) -> int:  # noqa: ANN401 - as _run has them
    """Run until it is stopped; return the exit code (CL-001). Options are those of ``grove operator``."""
    settings, faults = configuration(config, settings_of)
    if faults:
        print_error(problems_page(faults, NOTHING_STARTED))
        return ERROR
    with ExitStack() as stack:
        decisions = None
        if decision_log is not None:
            try:
                decisions = stack.enter_context(open_decision_log(Path(decision_log)))
            except (OSError, NotADecisionLog) as fault:
                words = fault.strerror if isinstance(fault, OSError) else "it is there, and is no decision log"
                print_error(f"{decision_log}: {words}; try another --decision-log")
                return ERROR
        return run_process(_run(settings, decisions, **options))


async def _run(
    settings: OperatorSettings,
    decisions: DecisionLog | None,
    *,
    kubeconfig: str | None,
    context: str | None,
    namespace: str,
    observe: bool,
    own_image: str,
) -> int:
    connection = await connect(kubeconfig, context)
    async with Api(connection, timeout=settings.client.timeout) as api:
        try:
            await check_connection(api, namespace)
        except NoClusterAccess as fault:
            taken = () if isinstance(fault.__cause__, Unreachable) else await taken_names(api)
            raise NoClusterAccess("; ".join((str(fault), *(clash.sentence for clash in taken)))) from fault
        served = await discover_apis(api)
    objection = preflight_objection(settings.configuration, served)
    if objection is not None:
        raise NoClusterAccess(f"{connection.server}: {objection.sentence}")
    return await OperatorProcess(
        connection=connection,
        settings=settings,
        served=served,
        namespace=namespace,
        own_namespace=connection.namespace,
        observe_only=observe,
        own_image=own_image,
        decisions=decisions,
    ).run()
