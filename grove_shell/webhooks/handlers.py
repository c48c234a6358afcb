"""What is answered to a review: the core decides, from the request and a copy of the other sets (WH-001, WH-005)."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from grove_core.admit import admit, used_names_in
from grove_core.admit_topology import admit_topology, admit_topology_deletion, topology_used_in
from grove_core.areas.topology.admit import NOTHING_KNOWN, TopologyView
from grove_core.areas.workload.admission.defaults import patch_between, with_defaults
from grove_core.kernel.admission import AdmissionVerdict, Deny
from grove_core.resources.configuration import DEFAULT_CONFIGURATION, Configuration
from grove_shell.webhooks.admission_review import (
    CREATE,
    DELETE,
    UPDATE,
    AdmissionRequest,
    Json,
    allow,
    deny,
    warning_of,
)
from grove_shell.webhooks.caches import TopologyContext
from grove_shell.webhooks.set_names import SetNames
from grove_shell.webhooks.topology_caches import TopologyCaches

_JUDGED: Final = ("labels", "annotations", "deletionTimestamp")


def default_set(request: AdmissionRequest) -> Json:
    """The patch that writes the defaults down (WH-004); none where nothing is missing."""
    if request.operation not in {CREATE, UPDATE}:
        return allow(request)
    return allow(request, patch=list(patch_between(request.new, with_defaults(request.new))))


def validate_set(
    request: AdmissionRequest,
    names: SetNames,
    configuration: Configuration = DEFAULT_CONFIGURATION,
    around: TopologyView = NOTHING_KNOWN,
) -> Json:
    """The verdict of admission (WH-001)."""
    if request.operation not in {CREATE, UPDATE} or _is_let_go(request):
        return allow(request)
    meta = _meta(request.new)
    near = names.near(str(meta.get("namespace") or "default"), str(meta.get("name") or ""))
    used_names = None if near is None else used_names_in(near)
    verdict = admit(request.new, request.old, used_names, configuration, around=around).verdict
    unknown = [f"names of other PodCliqueSets were not compared: {names.trouble} (WL-117)"] if near is None else []
    return _answered(request, verdict, unknown)


async def validate_set_with_topology(
    request: AdmissionRequest, names: SetNames, configuration: Configuration, placing: TopologyContext
) -> Json:
    """The verdict where pods are placed by topology (TP-090).

    The copy of topologies lags. What would be refused by it, and not without it, is judged again by the topology as it
    is now (TP-091).
    """
    around = placing.known.around_sets
    answer = validate_set(request, names, configuration, around)
    topology = topology_used_in(request.new)
    if answer["response"]["allowed"] or around.topologies is None or not topology:
        return answer
    unseen = validate_set(request, names, configuration, around._replace(topologies=None))
    if unseen["response"].get("status") == answer["response"]["status"]:
        return answer
    now = await placing.asking.corrected(around.topologies, topology)
    return validate_set(request, names, configuration, around._replace(topologies=now))


def validate_topology(request: AdmissionRequest, known: TopologyCaches, configuration: Configuration) -> Json:
    """The verdict on a topology itself (TP-080 to TP-088)."""
    old = request.old or {}
    name = str(_meta(request.new if request.operation != DELETE else old).get("name") or "")
    around = known.around_topology(name)
    if request.operation == DELETE:
        return _answered(request, admit_topology_deletion(old, around).verdict)
    if request.operation not in {CREATE, UPDATE}:
        return allow(request)
    return _answered(request, admit_topology(request.new, request.old, around, configuration).verdict)


def _answered(request: AdmissionRequest, verdict: AdmissionVerdict, more: Sequence[str] = ()) -> Json:
    warnings = [*map(warning_of, verdict.warnings), *more]
    return deny(request, verdict.objections, warnings) if isinstance(verdict, Deny) else allow(request, warnings)


def _is_let_go(request: AdmissionRequest) -> bool:
    """Whether a stored set is only being deleted, or changed in what nobody judges, such as finalizers (WH-007)."""
    if request.old is None:
        return False
    new, old = _meta(request.new), _meta(request.old)
    if old.get("deletionTimestamp"):
        return True
    same = all((new.get(key) or None) == (old.get(key) or None) for key in _JUDGED)
    return same and with_defaults(request.new).get("spec") == with_defaults(request.old).get("spec")


def _meta(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    meta = raw.get("metadata")
    return meta if isinstance(meta, Mapping) else {}
