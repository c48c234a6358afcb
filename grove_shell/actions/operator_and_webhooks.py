"""``grove operator`` and ``grove webhooks``: read the configuration, connect to the cluster, run."""

import asyncio
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grove_core.kernel.errors import ObjectProblem
from grove_core.preflight import preflight_objections
from grove_core.resources.configuration import NOT_DISCOVERED, MnnvlMode
from grove_core.rule_sets.rule_set_by_name import rule_set
from grove_shell.actions.configuration_files import (
    FIELD,
    Reader,
    T,
    read_one_configuration,
    unused_go_operator_fields_note,
)
from grove_shell.client.api_discovery import check_connection, discover_optional_apis
from grove_shell.client.api_session import ApiSession, NoServerResponse
from grove_shell.client.connection_settings import ClusterAccessError, read_connection_settings
from grove_shell.exit_codes import CommandFailed
from grove_shell.operator.crd_name_clashes import find_crd_name_clashes
from grove_shell.operator.operator_process import OperatorProcessOptions
from grove_shell.replay.decision_log_format import DecisionLog, NotADecisionLog, open_decision_log_for_append
from grove_shell.settings.operator_settings import OperatorSettings, parse_operator_settings
from grove_shell.settings.webhook_settings import (
    WebhookSettings,
    default_preview_webhook_settings,
    parse_webhook_settings,
)
from grove_shell.styled_text_page import print_error
from grove_shell.views.formatting import NOTHING_STARTED, input_problems_page
from grove_shell.webhooks.webhook_process import WebhookProcess

if TYPE_CHECKING:
    from grove_shell.policies.policy import Policy


def run_operator(config: str | None, decision_log: str | None, **options: Any) -> int:  # noqa: ANN401 - as _operate has them
    """Run until it is stopped; return the exit code (CL-001). Options are those of ``grove operator``.

    Raises:
        CommandFailed: The decision log cannot be opened, or the file is another one.
    """
    settings = _read_operator_settings(config, observe=bool(options["observe"]))
    with ExitStack() as stack:
        decisions = None
        if decision_log is not None:
            try:
                decisions = stack.enter_context(open_decision_log_for_append(Path(decision_log)))
            except (OSError, NotADecisionLog) as fault:
                words = fault.strerror if isinstance(fault, OSError) else "it is there, and is no decision log"
                raise CommandFailed(f"{decision_log}: {words}; try another --decision-log") from fault
        return asyncio.run(_operate(settings, decisions, **options))


async def _operate(
    settings: OperatorSettings,
    decisions: DecisionLog | None,
    *,
    kubeconfig: str | None,
    context: str | None,
    namespace: str,
    observe: bool,
    own_image: str,
) -> int:
    connection = await read_connection_settings(kubeconfig, context)
    async with ApiSession(connection, timeout=settings.client.timeout) as api:
        try:
            await check_connection(api, namespace)
        except ClusterAccessError as fault:
            taken = () if isinstance(fault.__cause__, NoServerResponse) else await find_crd_name_clashes(api)
            raise ClusterAccessError("; ".join((str(fault), *(clash.sentence for clash in taken)))) from fault
        served = await discover_optional_apis(api)
    objections = preflight_objections(settings.configuration, served)
    if objections:
        why = "; ".join(objection.because.sentence for objection in objections)
        raise ClusterAccessError(f"{connection.server}: {why}")
    return await OperatorProcessOptions(
        connection=connection,
        settings=settings,
        served=served,
        namespace=namespace,
        own_namespace=connection.namespace,
        observe_only=observe,
        own_image=own_image,
        decisions=decisions,
    ).run()


def run_webhooks(config: str | None, **options: Any) -> int:  # noqa: ANN401 - as _serve has them
    """Run until a signal; return the exit code (CL-001). Options are those of ``grove webhooks``."""
    settings = _read_settings(config, parse_webhook_settings)
    if not options["previews"]:
        return asyncio.run(_serve(settings, **options))
    policies = _read_policies(settings, str(config))
    return asyncio.run(_serve(default_preview_webhook_settings(settings), policies, **options))


def _read_policies(settings: WebhookSettings, file: str) -> "tuple[Policy, ...]":
    """Return the policies of the preview. Raises CommandFailed with all their faults (PO-001)."""
    if not settings.preview.policies:
        return ()
    from grove_shell.policies.policy_reading import policies_of_objects  # noqa: PLC0415 - it imports the CEL library

    policies, faults = policies_of_objects(settings.preview.policies, file)
    if faults:
        raise CommandFailed(input_problems_page(faults, NOTHING_STARTED))
    return policies


async def _serve(
    settings: WebhookSettings,
    policies: "tuple[Policy, ...]" = (),
    *,
    kubeconfig: str | None,
    context: str | None,
    namespace: str | None,
    watch_namespace: str,
    url_host: str,
    previews: bool,
) -> int:
    connection = await read_connection_settings(kubeconfig, context)
    served = NOT_DISCOVERED
    if previews or settings.configuration.mnnvl.is_enabled_in_mode(MnnvlMode.ANNOTATIONS):
        async with ApiSession(connection) as api:
            served = await discover_optional_apis(api)
    return await WebhookProcess(
        connection=connection,
        settings=settings,
        namespace=namespace or connection.namespace,
        watched=watch_namespace,
        url_host=url_host,
        served=served,
        previews=policies if previews else None,
    ).run()


def _read_operator_settings(path: str | None, *, observe: bool) -> OperatorSettings:
    """Return the operator's configuration. Raises CommandFailed with all its faults.

    An observer with a file of the Go operator predicts that operator (IN-073).
    """

    def read(raw: Mapping[str, Any]) -> tuple[tuple[OperatorSettings, Mapping[str, Any]], tuple[ObjectProblem, ...]]:
        settings, problems = parse_operator_settings(raw)
        return (settings, raw), problems

    settings, raw = _read_settings(path, read)
    note = unused_go_operator_fields_note(str(path), raw)
    if not note:
        return settings
    print_error(note)
    return settings.model_copy(update={"rules": rule_set(FIELD).name}) if observe else settings


def _read_settings(path: str | None, read: Reader[T]) -> T:
    """Return the configuration. Raises CommandFailed with all its faults."""
    settings, faults = read_one_configuration(path, read)
    if faults:
        raise CommandFailed(input_problems_page(faults, NOTHING_STARTED))
    return settings
