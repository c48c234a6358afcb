"""The wait of the Go operator at the start of a set: for the token of its pods' ServiceAccount (WF-070)."""

from datetime import datetime, timedelta
from typing import Final

from grove_core.areas.workload.field.releases import WorkloadBehaviourOfRelease
from grove_core.areas.workload.workload_context import WorkloadContext

RETRY: Final = timedelta(seconds=5)
"""The time after which the operator reconciles again while something is missing."""


def token_awaited_until(context: WorkloadContext, release: WorkloadBehaviourOfRelease) -> datetime | None:
    """Return when the operator tries again to create PodCliques; None where it does not wait.

    It stores the Secret for the token in one reconcile and goes on in the next one, even if no pod needs the token.
    """
    snapshot = context.snapshot
    if not release.awaits_token or snapshot.cliques or not context.has_all_objects_of_kinds("Secret"):
        return None
    name = release.token_name(context.root.ref.name)
    secret = next((one for one in snapshot.others if one.ref.kind == "Secret" and one.ref.name == name), None)
    if secret is None:
        return snapshot.now + RETRY
    if secret.created_at is None or snapshot.now >= secret.created_at + RETRY:
        return None
    return secret.created_at + RETRY
