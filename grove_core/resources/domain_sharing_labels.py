"""Existing domains and claims: which are shared by annotation and by which user; and creations that lack theirs."""

from collections.abc import Set as AbstractSet

from grove_core.kernel.frozen import FrozenMap, object_under_key
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Create, Step
from grove_core.resources.api_names import CLAIM_KIND, COMPONENT, DOMAIN_KIND, MNNVL_MANAGED
from grove_core.resources.domain_sharing import CLAIM_SUFFIX, DOMAIN_SUFFIX, ComputeDomainUser, shared_claim_entry
from grove_core.resources.labels import (
    CLIQUE,
    GROUP,
    GROUP_REPLICA,
    SET_REPLICA,
    label_text_at_key,
    label_value_in,
    podcliqueset_name_from_labels,
)
from grove_core.resources.owned_object import OwnedObject


def domain_user_in_labels(labels: FrozenMap) -> ComputeDomainUser | None:
    """Return the user that an object's labels name; None where they name none."""
    set_name, replica = podcliqueset_name_from_labels(labels), label_value_in(labels, SET_REPLICA)
    if not set_name or not replica:
        return None
    return ComputeDomainUser(
        set_name,
        replica,
        group=label_text_at_key(labels, GROUP.design),
        group_replica=label_value_in(labels, GROUP_REPLICA),
        clique=label_text_at_key(labels, CLIQUE.design),
    )


def is_shared_by_annotation(labels: FrozenMap) -> bool:
    """Return whether a domain or claim is shared by annotation."""
    return labels.get(MNNVL_MANAGED) == "true"


def is_shared_domain_claim(item: OwnedObject) -> bool:
    """Return whether an object is a claim that is shared by annotation, by its label or by its name (MS-020).

    The name counts where the label was edited. Claims of ``resourceSharing`` with such a name have a component label.
    """
    named = item.ref.name.endswith(CLAIM_SUFFIX) and COMPONENT not in item.labels
    return item.ref.kind == CLAIM_KIND and (named or is_shared_by_annotation(item.labels))


def sharing_user_in_labels(labels: FrozenMap) -> ComputeDomainUser | None:
    """Return the user of a domain or claim that is shared by annotation; None for other labels."""
    return domain_user_in_labels(labels) if is_shared_by_annotation(labels) else None


def domain_user_in_manifest_labels(manifest: FrozenMap) -> ComputeDomainUser | None:
    """Return the user in the labels of a manifest; None where it is not shared by annotation."""
    return sharing_user_in_labels(object_under_key(object_under_key(manifest, "metadata"), "labels"))


def step_needs_missing_domain(step: Step, missing: AbstractSet[Ref]) -> bool:
    """Return whether a step creates a PodClique with a claim to a domain that could not be ensured.

    Missing are the domains and claims that were to be ensured and do not exist.
    """
    if not missing or not isinstance(step.action, Create) or step.target.kind != "PodClique":
        return False
    claim = shared_claim_entry(object_under_key(object_under_key(step.action.manifest, "spec"), "podSpec"))
    if claim is None:
        return False
    name = str(claim["resourceClaimName"])
    needed = {(CLAIM_KIND, name), (DOMAIN_KIND, name.removesuffix(CLAIM_SUFFIX) + DOMAIN_SUFFIX)}
    return any(ref.namespace == step.target.namespace and (ref.kind, ref.name) in needed for ref in missing)
