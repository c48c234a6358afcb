"""What is answered about PodCliques and PodGangs, where these share ComputeDomains by annotation (MS-090 to MS-093)."""

from grove_core.admit_podclique import admit_podclique, admit_podgang
from grove_core.kernel.admission import Deny
from grove_core.kernel.steps import Outcome
from grove_shell.client.api import Unreachable
from grove_shell.webhooks.admission_review import CREATE, AdmissionRequest, Json, allow, deny, deny_for_now, warning_of
from grove_shell.webhooks.sharing_cache import SharedObjectCreator, SharingCache


async def mutate_podclique(request: AdmissionRequest, known: SharingCache, ensuring: SharedObjectCreator) -> Json:
    """The answer about a PodClique, when what it needs is there; of a dry run nothing is made (MS-091)."""
    if request.operation != CREATE:
        return allow(request)
    verdict = admit_podclique(request.new, known.around(request.new)).verdict
    warnings = [warning_of(one) for one in verdict.warnings]
    if isinstance(verdict, Deny):
        return deny(request, verdict.objections, warnings)
    if verdict.ensures and not request.dry_run:
        try:
            outcome, trouble = await ensuring.all_of(verdict.ensures)
        except Unreachable as fault:
            outcome, trouble = Outcome.UNREACHABLE, str(fault)
        if outcome is not Outcome.DONE:
            words = f"what the PodClique shares cannot be had: {trouble} (MS-090)"
            return deny_for_now(request, words, passing=outcome is not Outcome.REFUSED)
    return allow(request, warnings, verdict.patch)


def mutate_podgang(request: AdmissionRequest, known: SharingCache) -> Json:
    """The answer about a PodGang (MS-044)."""
    if request.operation != CREATE:
        return allow(request)
    verdict = admit_podgang(request.new, known.configuration).verdict
    return allow(request) if isinstance(verdict, Deny) else allow(request, patch=verdict.patch)
