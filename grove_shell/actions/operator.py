"""``grove operator``: read the configuration, reach the cluster, run."""

import sys
from contextlib import ExitStack
from dataclasses import dataclass
from os import SEEK_END
from pathlib import Path

from grove_core.areas.mnnvl.preflight import objection_to_start
from grove_core.version import IMAGE
from grove_shell.actions.configuration import configuration
from grove_shell.actions.lasting import lasting
from grove_shell.client.api import Api
from grove_shell.client.connection import NoAccess, connect
from grove_shell.client.greeting import greet
from grove_shell.client.offers import offered
from grove_shell.exits import ERROR
from grove_shell.operator.process import Process
from grove_shell.settings.operator import OperatorSettings, settings_of
from grove_shell.views.faults import faults_page
from grove_shell.views.page import show, write


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorOptions:
    """What the user asked for; see ``grove operator --help``."""

    kubeconfig: str | None = None
    context: str | None = None
    namespace: str = ""
    config: str | None = None
    observe: bool = False
    own_image: str = IMAGE
    decision_log: str | None = None


def operate(options: OperatorOptions) -> int:
    """Run until told to stop; returns the exit code (CL-001)."""
    settings, faults = configuration(options.config, settings_of)
    if faults:
        show(faults_page(faults, going_on=False, closing="Nothing was started."), sys.stderr)
        return ERROR
    with ExitStack() as stack:
        decisions = None
        if options.decision_log is not None:
            if _is_cut_short(options.decision_log):
                write(f"{options.decision_log}: its last line is cut short; try another --decision-log\n", sys.stderr)
                return ERROR
            try:
                decisions = stack.enter_context(Path(options.decision_log).open("a", encoding="utf-8"))
            except OSError as fault:
                write(f"{options.decision_log}: {fault.strerror}; try another --decision-log\n", sys.stderr)
                return ERROR
        return lasting(_run(options, settings, decisions))


def _is_cut_short(log: str) -> bool:
    """Whether a decision log that is there ends in the midst of a line; nothing must be written behind it (RP-007)."""
    path = Path(log)
    if not path.is_file() or not path.stat().st_size:
        return False
    with path.open("rb") as lines:
        lines.seek(-1, SEEK_END)
        return lines.read() != b"\n"


async def _run(options: OperatorOptions, settings: OperatorSettings, decisions: object) -> int:
    connection = await connect(options.kubeconfig, options.context)
    async with Api(connection, timeout=settings.client.timeout) as api:
        await greet(api, options.namespace)
        served = await offered(api)
    objection = objection_to_start(settings.decisive, served)
    if objection is not None:
        raise NoAccess(f"{connection.server}: {objection.sentence}")
    return await Process(
        connection=connection,
        settings=settings,
        served=served,
        namespace=options.namespace,
        home=connection.namespace,
        watching=options.observe,
        own_image=options.own_image,
        decisions=decisions,  # type: ignore[arg-type]
    ).run()
