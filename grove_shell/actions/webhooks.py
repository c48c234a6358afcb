"""``grove webhooks``: read the configuration, connect to the cluster, serve."""

from typing import Any

from grove_core.resources.configuration import NOT_DISCOVERED, MnnvlMode
from grove_shell.actions.configuration import configuration
from grove_shell.actions.run_process import run_process
from grove_shell.client.api import Api
from grove_shell.client.connection import connect
from grove_shell.client.discovery import discover_apis
from grove_shell.exits import ERROR
from grove_shell.page import print_error
from grove_shell.settings.webhooks import WebhookSettings, settings_of
from grove_shell.views.problems_page import NOTHING_STARTED, problems_page
from grove_shell.webhooks.process import WebhookProcess


def serve(config: str | None, **options: Any) -> int:  # noqa: ANN401 - as _run has them
    """Run until a signal; return the exit code (CL-001). Options are those of ``grove webhooks``."""
    settings, faults = configuration(config, settings_of)
    if faults:
        print_error(problems_page(faults, NOTHING_STARTED))
        return ERROR
    return run_process(_run(settings, **options))


async def _run(
    settings: WebhookSettings,
    *,
    kubeconfig: str | None,
    context: str | None,
    namespace: str | None,
    watch_namespace: str,
    url_host: str,
) -> int:
    connection = await connect(kubeconfig, context)
    served = NOT_DISCOVERED
    if settings.configuration.mnnvl.in_mode(MnnvlMode.ANNOTATIONS):
        async with Api(connection) as api:
            served = await discover_apis(api)
    return await WebhookProcess(
        connection=connection,
        settings=settings,
        namespace=namespace or connection.namespace,
        watched=watch_namespace,
        url_host=url_host,
        served=served,
    ).run()
