"""PodClique creations that need a shared ComputeDomain or claim (PL-016)."""

from collections.abc import Set as AbstractSet

from grove_core.kernel.frozen import object_at
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Create, Step
from grove_core.resources.compute_domain import DOMAIN_KIND
from grove_core.resources.domain_sharing import CLAIM_SUFFIX, DOMAIN_SUFFIX, shared_claim_entry
from grove_core.resources.owned_object import CLAIM_KIND


def uses_missing_domain(step: Step, missing: AbstractSet[Ref]) -> bool:
    """Return whether a step creates a PodClique with a claim to a domain that could not be ensured.

    Args:
        step: any step.
        missing: domains and claims that were to be ensured and do not exist.
    """
    if not missing or not isinstance(step.action, Create) or step.target.kind != "PodClique":
        return False
    claim = shared_claim_entry(object_at(object_at(step.action.manifest, "spec"), "podSpec"))
    if claim is None:
        return False
    name = str(claim["resourceClaimName"])
    needed = {(CLAIM_KIND, name), (DOMAIN_KIND, name.removesuffix(CLAIM_SUFFIX) + DOMAIN_SUFFIX)}
    return any(ref.namespace == step.target.namespace and (ref.kind, ref.name) in needed for ref in missing)
