"""``grove webhooks``: read the configuration, connect to the cluster, serve."""

from dataclasses import dataclass

from grove_core.resources.configuration import NOT_DISCOVERED, MnnvlMode
from grove_shell.actions.configuration import configuration
from grove_shell.actions.run_process import run_process
from grove_shell.client.api import Api
from grove_shell.client.connection import connect
from grove_shell.client.discovery import discover
from grove_shell.exits import ERROR
from grove_shell.page import print_error
from grove_shell.settings.webhooks import WebhookSettings, settings_of
from grove_shell.views.problems_page import NOTHING_STARTED, problems_page
from grove_shell.webhooks.process import WebhookProcess


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookOptions:
    """What the user asked for; see ``grove webhooks --help``."""

    kubeconfig: str | None = None
    context: str | None = None
    namespace: str | None = None
    watch_namespace: str = ""
    config: str | None = None
    url_host: str = ""


def serve(options: WebhookOptions) -> int:
    """Run until a signal; return the exit code (CL-001)."""
    settings, faults = configuration(options.config, settings_of)
    if faults:
        print_error(problems_page(faults, NOTHING_STARTED))
        return ERROR
    return run_process(_run(options, settings))


async def _run(options: WebhookOptions, settings: WebhookSettings) -> int:
    connection = await connect(options.kubeconfig, options.context)
    served = NOT_DISCOVERED
    if settings.configuration.mnnvl.in_mode(MnnvlMode.ANNOTATIONS):
        async with Api(connection) as api:
            served = await discover(api)
    return await WebhookProcess(
        connection=connection,
        settings=settings,
        namespace=options.namespace or connection.namespace,
        watched=options.watch_namespace,
        url_host=options.url_host,
        served=served,
    ).run()
