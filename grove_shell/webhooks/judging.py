"""What is answered to a review: the core decides, from the request and a copy of the other sets (WH-001, WH-005)."""

from collections.abc import Mapping
from typing import Any, Final

from grove_core.admit import admit, neighbours_in
from grove_core.areas.workload.defaults import patch_between, with_defaults
from grove_core.kernel.admission import Deny
from grove_core.resources.configuration import UNTOLD, Configuration
from grove_shell.webhooks.names import Names
from grove_shell.webhooks.review import CREATE, UPDATE, Json, Request, allowed, refused, warning_of

_JUDGED: Final = ("labels", "annotations", "deletionTimestamp")


def defaulted(request: Request) -> Json:
    """The patch that writes the defaults down (WH-004); none where nothing is missing."""
    if request.operation not in {CREATE, UPDATE}:
        return allowed(request)
    return allowed(request, patch=list(patch_between(request.new, with_defaults(request.new))))


def judged(request: Request, names: Names, configuration: Configuration = UNTOLD) -> Json:
    """The verdict of admission (WH-001)."""
    if request.operation not in {CREATE, UPDATE} or _is_let_go(request):
        return allowed(request)
    meta = _meta(request.new)
    near = names.near(str(meta.get("namespace") or "default"), str(meta.get("name") or ""))
    neighbours = None if near is None else neighbours_in(near)
    verdict = admit(request.new, request.old, neighbours, configuration).verdict
    warnings = [warning_of(one) for one in verdict.warnings]
    if near is None:
        warnings.append(f"names of other PodCliqueSets were not compared: {names.trouble} (WL-117)")
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
