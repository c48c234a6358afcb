"""``grove webhooks``: read the configuration, connect to the cluster, serve."""

from typing import Any

from grove_core.resources.configuration import NOT_DISCOVERED, MnnvlMode
from grove_shell.actions.configuration import configuration
from grove_shell.actions.main_coroutine import run_main_coroutine
from grove_shell.client.api_discovery import discover_apis
from grove_shell.client.api_session import ApiSession
from grove_shell.client.connection_settings import read_connection_settings
from grove_shell.exit_codes import ERROR
from grove_shell.page import print_error
from grove_shell.settings.webhook_settings import WebhookSettings, parse_webhook_settings
from grove_shell.views.input_problems_page import NOTHING_STARTED, input_problems_page
from grove_shell.webhooks.webhook_process import WebhookProcess


def run_webhooks(config: str | None, **options: Any) -> int:  # noqa: ANN401 - as _run has them
    """Run until a signal; return the exit code (CL-001). Options are those of ``grove webhooks``."""
    settings, faults = configuration(config, parse_webhook_settings)
    if faults:
        print_error(input_problems_page(faults, NOTHING_STARTED))
        return ERROR
    return run_main_coroutine(_run(settings, **options))


async def _run(
    settings: WebhookSettings,
    *,
    kubeconfig: str | None,
    context: str | None,
    namespace: str | None,
    watch_namespace: str,
    url_host: str,
) -> int:
    connection = await read_connection_settings(kubeconfig, context)
    served = NOT_DISCOVERED
    if settings.configuration.mnnvl.in_mode(MnnvlMode.ANNOTATIONS):
        async with ApiSession(connection) as api:
            served = await discover_apis(api)
    return await WebhookProcess(
        connection=connection,
        settings=settings,
        namespace=namespace or connection.namespace,
        watched=watch_namespace,
        url_host=url_host,
        served=served,
    ).run()
