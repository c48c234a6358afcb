"""What is answered to a review: the core decides, from the request and a copy of the other sets (WH-001, WH-005)."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from grove_core.admit import admit, used_names_in
from grove_core.admit_topology import admit_topology, admit_topology_deletion, topology_used_in
from grove_core.areas.topology.admit import NOTHING_KNOWN, TopologyView
from grove_core.areas.workload.admission.defaults import patch_between, with_defaults
from grove_core.kernel.admission import AdmissionVerdict, Deny
from grove_core.resources.configuration import DEFAULT_CONFIGURATION, Configuration
from grove_shell.webhooks.copies import Placing
from grove_shell.webhooks.names import Names
from grove_shell.webhooks.review import CREATE, DELETE, UPDATE, Json, Request, allowed, refused, warning_of
from grove_shell.webhooks.topologies import Topologies

_JUDGED: Final = ("labels", "annotations", "deletionTimestamp")


def defaulted(request: Request) -> Json:
    """The patch that writes the defaults down (WH-004); none where nothing is missing."""
    if request.operation not in {CREATE, UPDATE}:
        return allowed(request)
    return allowed(request, patch=list(patch_between(request.new, with_defaults(request.new))))


def judged(
    request: Request,
    names: Names,
    configuration: Configuration = DEFAULT_CONFIGURATION,
    around: TopologyView = NOTHING_KNOWN,
) -> Json:
    """The verdict of admission (WH-001)."""
    if request.operation not in {CREATE, UPDATE} or _is_let_go(request):
        return allowed(request)
    meta = _meta(request.new)
    near = names.near(str(meta.get("namespace") or "default"), str(meta.get("name") or ""))
    used_names = None if near is None else used_names_in(near)
    verdict = admit(request.new, request.old, used_names, configuration, around=around).verdict
    unknown = [f"names of other PodCliqueSets were not compared: {names.trouble} (WL-117)"] if near is None else []
    return _answered(request, verdict, unknown)


async def judged_by_topology(request: Request, names: Names, configuration: Configuration, placing: Placing) -> Json:
    """The verdict where pods are placed by topology (TP-090).

    The copy of topologies lags. What would be refused by it, and not without it, is judged again by the topology as it
    is now (TP-091).
    """
    around = placing.known.around_sets
    answer = judged(request, names, configuration, around)
    topology = topology_used_in(request.new)
    if answer["response"]["allowed"] or around.topologies is None or not topology:
        return answer
    unseen = judged(request, names, configuration, around._replace(topologies=None))
    if unseen["response"].get("status") == answer["response"]["status"]:
        return answer
    now = await placing.asking.corrected(around.topologies, topology)
    return judged(request, names, configuration, around._replace(topologies=now))


def topology_judged(request: Request, known: Topologies, configuration: Configuration) -> Json:
    """The verdict on a topology itself (TP-080 to TP-088)."""
    old = request.old or {}
    name = str(_meta(request.new if request.operation != DELETE else old).get("name") or "")
    around = known.around_topology(name)
    if request.operation == DELETE:
        return _answered(request, admit_topology_deletion(old, around).verdict)
    if request.operation not in {CREATE, UPDATE}:
        return allowed(request)
    return _answered(request, admit_topology(request.new, request.old, around, configuration).verdict)


def _answered(request: Request, verdict: AdmissionVerdict, more: Sequence[str] = ()) -> Json:
    warnings = [*map(warning_of, verdict.warnings), *more]
    return refused(request, verdict.objections, warnings) if isinstance(verdict, Deny) else allowed(request, warnings)


def _is_let_go(request: Request) -> bool:
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
