"""One function for each admission webhook: the core decides, from the request and the caches (WH-001, WH-005)."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Final

from grove_core.admit import admit, index_names_used_by_sets
from grove_core.admit_cluster_topology import admit_topology, admit_topology_deletion, topology_used_by_set
from grove_core.admit_podclique import admit_podclique, amend_podgang_at_admission
from grove_core.areas.topology.admit import NOTHING_KNOWN, KnownTopologiesForAdmission
from grove_core.areas.workload.admission.manifest_defaults import json_patch_between, podcliqueset_with_defaults
from grove_core.kernel.admission import AdmissionVerdict, Deny
from grove_core.kernel.errors import MalformedObject
from grove_core.kernel.frozen import mapping_or_empty, thaw_json
from grove_core.kernel.steps import AttemptOutcome
from grove_core.kernel.wants import ObjectToEnsure
from grove_core.resources.cluster_topology import (
    TOPOLOGY_KINDS,
    ClusterTopology,
    cluster_topology_from_json,
    topology_ref,
)
from grove_core.resources.naming_rules import is_dns_subdomain
from grove_core.resources.object_metadata import metadata_in
from grove_shell.apply.create_or_reuse import create_or_reuse_object
from grove_shell.apply.single_flight import SingleFlight
from grove_shell.client.api_kinds import KINDS
from grove_shell.client.api_response import NOT_FOUND
from grove_shell.client.api_session import ApiSession, NoServerResponse
from grove_shell.client.proxy_response_check import response_is_about_object
from grove_shell.webhooks.admission_cache import AdmissionCache
from grove_shell.webhooks.admission_review import (
    CREATE,
    DELETE,
    UPDATE,
    AdmissionRequest,
    Json,
    admission_warning_text,
    allow_admission,
    deny_admission,
    temporary_denial_response,
)

WRITER: Final = "grove-webhooks"
_LOOKUP_TIMEOUT: Final = 3.0  # s; an API server waits 10 s for a review
_VALIDATED_METADATA: Final = ("labels", "annotations", "deletionTimestamp")


class SharedObjectCreator:
    """Creates shared objects; concurrent requests for one object wait for a single creation (MS-090)."""

    def __init__(self, api: ApiSession, cache: AdmissionCache) -> None:
        """Start without requests in flight; created objects are put into the cache."""
        self._api = api
        self._cache = cache
        self._in_flight = SingleFlight[tuple[AttemptOutcome, str]]()

    async def ensure_objects_exist(self, ensures: Iterable[ObjectToEnsure]) -> tuple[AttemptOutcome, str]:
        """Ensure objects one after the other and stop at the first failure.

        Returns:
            The outcome, and the reason of a failure.

        Raises:
            NoServerResponse: the API server did not respond.
        """
        for wanted in ensures:
            outcome, words = await self._in_flight.call_once(wanted.target, partial(self._ensure, wanted))
            if outcome is not AttemptOutcome.DONE:
                return outcome, f"{wanted.target.short}: {words}"
        return AttemptOutcome.DONE, ""

    async def _ensure(self, wanted: ObjectToEnsure) -> tuple[AttemptOutcome, str]:
        ref = wanted.target
        return await create_or_reuse_object(
            self._api, ref, wanted.manifest, WRITER, lambda raw: self._cache.put(ref.kind, raw)
        )


async def topologies_with_one_refreshed(
    api: ApiSession, known: Mapping[str, ClusterTopology], name: str, seconds: float = _LOOKUP_TIMEOUT
) -> Mapping[str, ClusterTopology] | None:
    """Return the known topologies with one of them as the API server has it now; None if it cannot be read (WH-005).

    A name that no object can have is not requested, since it would become part of a path.

    Args:
        known: by name.
        name: of the one to read.
        seconds: the most time for the request.
    """
    if not is_dns_subdomain(name):
        return known
    try:
        async with asyncio.timeout(seconds):
            found = await _current_topology(api, name)
    except (NoServerResponse, TimeoutError, _Unreadable):
        return None
    others = {other: one for other, one in known.items() if other != name}
    return others if found is None else {**others, name: found}


async def _current_topology(api: ApiSession, name: str) -> ClusterTopology | None:
    """Return the effective topology of a name (TP-049), or None. Raises NoServerResponse, _Unreadable."""
    for kind in TOPOLOGY_KINDS:
        response = await api.request("GET", KINDS[kind].url_path(name=name))
        is_stored = response_is_about_object(response, topology_ref(name, kind))
        if not is_stored and response.status != NOT_FOUND:
            raise _Unreadable
        if is_stored:
            try:
                return cluster_topology_from_json({**response.json_body(), "kind": kind})
            except MalformedObject as fault:
                raise _Unreadable from fault  # it is the effective one all the same
    return None


class _Unreadable(Exception):
    """The API server does not return the topology, or it cannot be parsed."""


def podcliqueset_defaults_response(request: AdmissionRequest) -> Json:
    """Return the response whose patch writes the defaults of a PodCliqueSet (WH-002)."""
    if request.operation not in {CREATE, UPDATE}:
        return allow_admission(request)
    return allow_admission(
        request, patch=list(json_patch_between(request.new, podcliqueset_with_defaults(request.new)))
    )


def validate_podcliqueset(
    request: AdmissionRequest, cache: AdmissionCache, view: KnownTopologiesForAdmission = NOTHING_KNOWN
) -> Json:
    """Return the response with the core's verdict on a PodCliqueSet (WH-001)."""
    if request.operation not in {CREATE, UPDATE} or _changes_nothing_validated(request):
        return allow_admission(request)
    others = cache.sets_with_colliding_names(*metadata_in(request.new).namespace_and_name)
    used_names = None if others is None else index_names_used_by_sets(others)
    verdict = admit(request.new, request.old, used_names, cache.configuration, around=view).verdict
    reason = cache.sets_unknown_because
    unknown = [f"names of other PodCliqueSets were not compared: {reason} (WL-117)"] if others is None else []
    return _response(request, verdict, unknown)


async def validate_podcliqueset_with_topology(
    request: AdmissionRequest, cache: AdmissionCache, api: ApiSession
) -> Json:
    """Return the response for a PodCliqueSet where pods are placed by topology (WH-005).

    The cache of topologies may be stale. A refusal that depends on it is decided again with the topology as the API
    server has it now (WH-005).
    """
    view = cache.view_for_sets
    response = validate_podcliqueset(request, cache, view)
    topology = topology_used_by_set(request.new)
    if response["response"]["allowed"] or view.topologies is None or not topology:
        return response
    without = validate_podcliqueset(request, cache, view._replace(topologies=None))
    if without["response"].get("status") == response["response"]["status"]:
        return response
    current = await topologies_with_one_refreshed(api, view.topologies, topology)
    return validate_podcliqueset(request, cache, view._replace(topologies=current))


def validate_topology(request: AdmissionRequest, cache: AdmissionCache) -> Json:
    """Return the response with the core's verdict on a topology itself (TP-080 to TP-088)."""
    old = request.old or {}
    view = cache.view_for_topology(metadata_in(request.new if request.operation != DELETE else old).name)
    if request.operation == DELETE:
        return _response(request, admit_topology_deletion(old, view).verdict)
    if request.operation not in {CREATE, UPDATE}:
        return allow_admission(request)
    return _response(request, admit_topology(request.new, request.old, view, cache.configuration).verdict)


async def mutate_podclique(request: AdmissionRequest, cache: AdmissionCache, creator: SharedObjectCreator) -> Json:
    """Return the response for a PodClique once the objects that it shares exist (MS-090).

    A dry run creates nothing (MS-090).
    """
    if request.operation != CREATE:
        return allow_admission(request)
    verdict = admit_podclique(request.new, cache.view_for_clique(request.new)).verdict
    warnings = [admission_warning_text(one) for one in verdict.warnings]
    if isinstance(verdict, Deny):
        return deny_admission(request, verdict.objections, warnings)
    if verdict.ensures and not request.dry_run:
        try:
            outcome, trouble = await creator.ensure_objects_exist(verdict.ensures)
        except NoServerResponse as fault:
            outcome, trouble = AttemptOutcome.UNREACHABLE, str(fault)
        if outcome is not AttemptOutcome.DONE:
            message = f"the objects that the PodClique shares cannot be created: {trouble} (MS-090)"
            return temporary_denial_response(request, message, retriable=outcome is not AttemptOutcome.REFUSED)
    return allow_admission(request, warnings, [*map(thaw_json, verdict.patch)])


def podgang_mutation_response(request: AdmissionRequest, cache: AdmissionCache) -> Json:
    """Return the response that marks a PodGang whose PodCliques share ComputeDomains (MS-044)."""
    if request.operation != CREATE:
        return allow_admission(request)
    verdict = amend_podgang_at_admission(request.new, cache.configuration).verdict
    return allow_admission(request, patch=() if isinstance(verdict, Deny) else [*map(thaw_json, verdict.patch)])


def _response(request: AdmissionRequest, verdict: AdmissionVerdict, more: Sequence[str] = ()) -> Json:
    warnings = [*map(admission_warning_text, verdict.warnings), *more]
    return (
        deny_admission(request, verdict.objections, warnings)
        if isinstance(verdict, Deny)
        else allow_admission(request, warnings)
    )


def _changes_nothing_validated(request: AdmissionRequest) -> bool:
    """Whether a stored set is being deleted, or only fields without rules change, such as finalizers (WH-001)."""
    if request.old is None:
        return False
    new, old = mapping_or_empty(request.new, "metadata"), mapping_or_empty(request.old, "metadata")
    if old.get("deletionTimestamp"):
        return True
    same = all((new.get(key) or None) == (old.get(key) or None) for key in _VALIDATED_METADATA)
    return same and podcliqueset_with_defaults(request.new).get("spec") == podcliqueset_with_defaults(request.old).get(
        "spec"
    )
