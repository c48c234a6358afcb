"""One function for each admission webhook: the core decides, from the request and the caches (WH-001, WH-005)."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from grove_core.admit import admit, used_names_in
from grove_core.admit_podclique import admit_podclique, admit_podgang
from grove_core.admit_topology import admit_topology, admit_topology_deletion, topology_used_in
from grove_core.areas.topology.admit import NOTHING_KNOWN, TopologyView
from grove_core.areas.workload.admission.defaults import patch_between, with_defaults
from grove_core.kernel.admission import AdmissionVerdict, Deny
from grove_core.kernel.steps import Outcome
from grove_core.resources.configuration import DEFAULT_CONFIGURATION, Configuration
from grove_shell.client.api import Unreachable
from grove_shell.webhooks.admission_review import (
    CREATE,
    DELETE,
    UPDATE,
    AdmissionRequest,
    Json,
    allow,
    deny,
    deny_for_now,
    warning_of,
)
from grove_shell.webhooks.caches import TopologyContext
from grove_shell.webhooks.set_names import SetNames
from grove_shell.webhooks.sharing_cache import SharedObjectCreator, SharingCache
from grove_shell.webhooks.topology_caches import TopologyCaches

_VALIDATED_METADATA: Final = ("labels", "annotations", "deletionTimestamp")


def default_set(request: AdmissionRequest) -> Json:
    """Return the response whose patch writes the defaults of a PodCliqueSet (WH-004)."""
    if request.operation not in {CREATE, UPDATE}:
        return allow(request)
    return allow(request, patch=list(patch_between(request.new, with_defaults(request.new))))


def validate_set(
    request: AdmissionRequest,
    names: SetNames,
    configuration: Configuration = DEFAULT_CONFIGURATION,
    view: TopologyView = NOTHING_KNOWN,
) -> Json:
    """Return the response with the core's verdict on a PodCliqueSet (WH-001)."""
    if request.operation not in {CREATE, UPDATE} or _changes_nothing_validated(request):
        return allow(request)
    meta = _meta(request.new)
    others = names.possible_collisions(str(meta.get("namespace") or "default"), str(meta.get("name") or ""))
    used_names = None if others is None else used_names_in(others)
    verdict = admit(request.new, request.old, used_names, configuration, around=view).verdict
    reason = names.unknown_because
    unknown = [f"names of other PodCliqueSets were not compared: {reason} (WL-117)"] if others is None else []
    return _response(request, verdict, unknown)


async def validate_set_with_topology(
    request: AdmissionRequest, names: SetNames, configuration: Configuration, context: TopologyContext
) -> Json:
    """Return the response for a PodCliqueSet where pods are placed by topology (TP-090).

    The cache of topologies may be stale. A refusal that depends on it is decided again with the topology as the API
    server has it now (TP-090).
    """
    view = context.caches.view_for_sets
    response = validate_set(request, names, configuration, view)
    topology = topology_used_in(request.new)
    if response["response"]["allowed"] or view.topologies is None or not topology:
        return response
    without = validate_set(request, names, configuration, view._replace(topologies=None))
    if without["response"].get("status") == response["response"]["status"]:
        return response
    current = await context.lookup.with_current(view.topologies, topology)
    return validate_set(request, names, configuration, view._replace(topologies=current))


def validate_topology(request: AdmissionRequest, caches: TopologyCaches, configuration: Configuration) -> Json:
    """Return the response with the core's verdict on a topology itself (TP-080 to TP-088)."""
    old = request.old or {}
    name = str(_meta(request.new if request.operation != DELETE else old).get("name") or "")
    view = caches.view_for_topology(name)
    if request.operation == DELETE:
        return _response(request, admit_topology_deletion(old, view).verdict)
    if request.operation not in {CREATE, UPDATE}:
        return allow(request)
    return _response(request, admit_topology(request.new, request.old, view, configuration).verdict)


async def mutate_podclique(request: AdmissionRequest, cache: SharingCache, creator: SharedObjectCreator) -> Json:
    """Return the response for a PodClique once the objects that it shares exist (MS-090).

    A dry run creates nothing (MS-090).
    """
    if request.operation != CREATE:
        return allow(request)
    verdict = admit_podclique(request.new, cache.view_for(request.new)).verdict
    warnings = [warning_of(one) for one in verdict.warnings]
    if isinstance(verdict, Deny):
        return deny(request, verdict.objections, warnings)
    if verdict.ensures and not request.dry_run:
        try:
            outcome, trouble = await creator.ensure_all(verdict.ensures)
        except Unreachable as fault:
            outcome, trouble = Outcome.UNREACHABLE, str(fault)
        if outcome is not Outcome.DONE:
            message = f"the objects that the PodClique shares cannot be created: {trouble} (MS-090)"
            return deny_for_now(request, message, retriable=outcome is not Outcome.REFUSED)
    return allow(request, warnings, verdict.patch)


def mutate_podgang(request: AdmissionRequest, cache: SharingCache) -> Json:
    """Return the response that marks a PodGang whose PodCliques share ComputeDomains (MS-044)."""
    if request.operation != CREATE:
        return allow(request)
    verdict = admit_podgang(request.new, cache.configuration).verdict
    return allow(request) if isinstance(verdict, Deny) else allow(request, patch=verdict.patch)


def _response(request: AdmissionRequest, verdict: AdmissionVerdict, more: Sequence[str] = ()) -> Json:
    warnings = [*map(warning_of, verdict.warnings), *more]
    return deny(request, verdict.objections, warnings) if isinstance(verdict, Deny) else allow(request, warnings)


def _changes_nothing_validated(request: AdmissionRequest) -> bool:
    """Whether a stored set is being deleted, or only fields without rules change, such as finalizers (WH-007)."""
    if request.old is None:
        return False
    new, old = _meta(request.new), _meta(request.old)
    if old.get("deletionTimestamp"):
        return True
    same = all((new.get(key) or None) == (old.get(key) or None) for key in _VALIDATED_METADATA)
    return same and with_defaults(request.new).get("spec") == with_defaults(request.old).get("spec")


def _meta(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    meta = raw.get("metadata")
    return meta if isinstance(meta, Mapping) else {}
