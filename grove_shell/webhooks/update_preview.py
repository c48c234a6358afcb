"""Answers an update of a PodCliqueSet with warnings of what it restarts; it blocks nothing without a limit (WH-040)."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, NamedTuple

from grove_core.document.plan_document import PlanDocument
from grove_core.kernel.errors import MalformedObject
from grove_core.plan.update_forecast import DeletedPodFate, PodsAndGpus, UpdateForecast
from grove_core.resources.configuration import Configuration, ServedApis
from grove_core.resources.object_metadata import metadata_in
from grove_shell.client.api_session import ApiSession, NoServerResponse
from grove_shell.client.paged_lists import KindNotListed
from grove_shell.log_lines import error_on_one_line
from grove_shell.policies.policy_results import PolicyAction, PolicyResult, PolicyRuleResult
from grove_shell.python_gc import python_gc_paused
from grove_shell.reading.input_completeness import CollectedObjects
from grove_shell.settings.webhook_settings import PreviewSettings
from grove_shell.views.plan.admission_preview_warnings import preview_warnings, truncated_warning
from grove_shell.webhooks.admission_review import (
    UPDATE,
    AdmissionRequest,
    Json,
    allow_admission,
    deny_admission_by_limit,
)
from grove_shell.webhooks.edit_forecast import ForecastOfEdit, NotPredicted, forecast_of_edit
from grove_shell.webhooks.namespace_preview_settings import NamespacePreviewSettings, preview_settings_of_namespace
from grove_shell.webhooks.preview_input_reading import NamespaceNotRead, list_objects_of_set, read_namespace_labels

if TYPE_CHECKING:
    from grove_shell.policies.policy import Policy


REQUEST_SECONDS: Final = 1.0
"""For all requests of one preview (WH-046)."""
MOST_WORK: Final = 250
"""Rounds, each times the pods of the set plus 20, after which the forecast of a preview ends (WH-046)."""
_NO_LABELS: Final[Mapping[str, object]] = {}


class UpdatePreviewer:
    """Previews updates of PodCliqueSets. It keeps nothing between two requests."""

    def __init__(
        self,
        api: ApiSession,
        settings: PreviewSettings,
        configuration: Configuration,
        served: ServedApis,
        report: Callable[..., None],
        policies: "Sequence[Policy]" = (),
        *,
        request_seconds: float = REQUEST_SECONDS,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """Send no request yet.

        Args:
            api, settings, report: of the process.
            configuration: of the operator that acts.
            served: what the API server serves.
            policies: that every update has to keep (WH-048).
            request_seconds: after which a preview fails.
            clock: returns the present time.
        """
        self._api = api
        self._settings = settings
        self._configuration = configuration
        self._served = served
        self._report = report
        self._policies = policies
        self._request_seconds = request_seconds
        self._clock = clock

    async def respond(self, request: AdmissionRequest) -> Json:
        """Return the response for a PodCliqueSet; every failure allows the request with one warning (WH-041)."""
        if request.operation != UPDATE or not _changes_spec(request):
            return allow_admission(request)
        try:
            return await self._previewed(request)
        except (NotPredicted, KindNotListed, NoServerResponse) as fault:
            because = str(fault)
        except TimeoutError:
            because = f"the API server did not answer within {self._request_seconds:g} s"
        except MalformedObject as fault:
            because = str(fault.problems[0])
        except Exception as fault:  # noqa: BLE001 - an internal error must neither block an update nor pass unseen
            because = f"an internal error, {type(fault).__name__}; see the log of the preview"
            self._report("error", "fault of ours", uid=request.uid, error=error_on_one_line(fault))
        self._report("warning", "not previewed", set=_name(request), because=because)
        return allow_admission(request, [truncated_warning(f"the update was not previewed: {because}")])

    async def _previewed(self, request: AdmissionRequest) -> Json:
        async with asyncio.timeout(self._request_seconds):
            here = await self._namespace_preview(metadata_in(request.new).namespace)
            notes = list(map(truncated_warning, here.notes))
            if not here.is_on:
                return allow_admission(request, notes)
            collected = await list_objects_of_set(self._api, request.old or {}, self._served)
        with python_gc_paused():  # until the objects of the forecast are freed, so that no collection visits them
            return self._response(request, collected, here, notes)

    def _response(
        self,
        request: AdmissionRequest,
        collected: CollectedObjects,
        here: NamespacePreviewSettings,
        notes: Sequence[str],
    ) -> Json:
        """Return the response with the forecast of an update. Raises NotPredicted, MalformedObject."""
        now = self._clock()
        edit = forecast_of_edit(collected, request.new, self._settings.rules, self._configuration, now, MOST_WORK)
        update = edit.forecast.edit.update if edit.forecast.edit is not None else None
        if update is None:
            raise NotPredicted("objects that its forecast depends on were not listed")
        kept = _policy_findings(self._policies, edit, self._configuration, now)
        warnings = [*preview_warnings(edit.forecast, edit.rules.name), *map(truncated_warning, kept.warnings), *notes]
        restarts = _restarts(update)
        limits = [words for limit in here.limits if (words := limit.objection(restarts))]
        objections = [f"this update is too large: {'; '.join(limits)}"] if limits else []
        objections += kept.objections
        if objections:
            return deny_admission_by_limit(request, "; ".join(objections), warnings)
        return allow_admission(request, warnings)

    async def _namespace_preview(self, namespace: str) -> NamespacePreviewSettings:
        """Return what is done in a namespace; without its labels no limit refuses anything (WH-042)."""
        try:
            return preview_settings_of_namespace(
                self._settings, namespace, await read_namespace_labels(self._api, namespace)
            )
        except NamespaceNotRead as fault:
            here = preview_settings_of_namespace(self._settings, namespace, _NO_LABELS)
            note = f"no limit was checked: the labels of namespace {namespace} were not read: {fault}"
            return here._replace(limits=(), notes=(note,) if here.is_on else ())


def _restarts(update: UpdateForecast) -> PodsAndGpus:
    """Return the pods that an update restarts or terminates, which limits count (WH-042)."""
    return PodsAndGpus.sum_of((update.restarted, PodsAndGpus.of_pods(update.deleted(DeletedPodFate.TERMINATED))))


def _changes_spec(request: AdmissionRequest) -> bool:
    """Return whether a set that is not being deleted gets another spec (WH-045)."""
    old = request.old or {}
    return not metadata_in(old).deleting and request.new.get("spec") != old.get("spec")


def _name(request: AdmissionRequest) -> str:
    return "/".join(metadata_in(request.new).namespace_and_name)


class _PolicyFindings(NamedTuple):
    """What policies say of an update.

    Attributes:
        objections: of violated rules that deny, with their policy.
        warnings: of violated rules that warn, and of all rules that could not be evaluated.
    """

    objections: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def _policy_findings(
    policies: "Sequence[Policy]", edit: ForecastOfEdit, configuration: Configuration, now: datetime
) -> _PolicyFindings:
    """Return what policies say of an update, as ``grove plan --policy`` evaluates them on a plan (WH-048).

    A rule that cannot be evaluated denies nothing.
    """
    if not policies:
        return _PolicyFindings()
    from grove_shell.policies.evaluation import evaluate_policies  # noqa: PLC0415 - it imports the CEL library
    from grove_shell.policies.policy_input import policy_input  # noqa: PLC0415 - as above

    document = PlanDocument(
        rules=edit.rules.name,
        as_of=now,
        not_collected=(),
        forecasts=(edit.forecast,),
        configuration=configuration,
    )
    found = [
        (result, violated)
        for result in evaluate_policies(policies, policy_input(document, [edit.root]))
        for violated in result.violations
    ]
    return _PolicyFindings(
        objections=tuple(_violation_sentence(*one) for one in found if _denies(one[1])),
        warnings=tuple(_violation_sentence(*one) for one in found if not _denies(one[1])),
    )


def _denies(violated: PolicyRuleResult) -> bool:
    return violated.is_decided and violated.action is PolicyAction.DENY


def _violation_sentence(result: PolicyResult, violated: PolicyRuleResult) -> str:
    return f"policy {result.policy}/{violated.rule}: {violated.message}"
