"""What is read of objects by their labels, and which labels are written, as JSON."""

import json
import sys
from typing import Any

from grove_core.reconcile import reconcile
from grove_core.resources.domain_sharing import (
    clique_indices_from_labels,
    clique_location_in_set,
    domain_membership_of_position,
)
from grove_core.resources.domain_sharing_labels import domain_user_in_labels
from grove_core.resources.labels import CLIQUE, label_value_in
from grove_core.resources.pod import pod_from_json
from grove_core.resources.podclique import podclique_from_json
from grove_core.resources.scaling_group import scaling_group_from_json
from tests.property.resources.another_label_family import PREFIX
from tests.property.resources.manifests import clique, group, owner, pod
from tests.property.workload.sets import clique_raw, manifests_of, set_raw
from tests.property.workload.test_revision import foreign as set_of_another_operator


def read() -> dict[str, Any]:
    """What is read of objects that carry the keys of the new family alone."""
    labels = {f"{PREFIX}set": "llm", f"{PREFIX}set_replica": "3"}
    of_group = {**labels, f"{PREFIX}group": "pool", f"{PREFIX}group_replica": "4"}
    owned = owner("uid-pool", kind="PodCliqueScalingGroup", name="pool")
    member = podclique_from_json(clique("member", owned_by=owned, labels=of_group))
    user, position = domain_user_in_labels(member.labels), clique_indices_from_labels(member)
    return {
        "set of the pod": pod_from_json(pod(metadata={"labels": labels}), {}).set_name,
        "replicas of the clique": [member.replica_index, member.group_replica_index],
        "replica of the group": scaling_group_from_json(group("pool", labels=labels)).replica_index,
        "position of the clique": position,
        "replicas of the user": [user.replica, user.group_replica] if user is not None else None,
        "clique of the pod": label_value_in({f"{PREFIX}clique": "llm-3-router"}, CLIQUE),
    }


def written() -> list[Any]:
    """The manifests of all objects of a new set, and the labels of a ComputeDomain that is shared by annotation."""
    pool = {"name": "pool", "cliqueNames": ["b"], "replicas": 2}
    position = clique_location_in_set("llm", 0, "b", "pool", 1)
    member = domain_membership_of_position(
        position, {"grove.io/mnnvl-enabled": "true", "grove.io/mnnvl-scope": "clique"}
    )
    assert member is not None
    domain = {"kind": "ComputeDomain", "metadata": {"labels": member.labels}}
    return [*manifests_of(set_raw(clique_raw("a"), clique_raw("b"), groups=(pool,))), domain]


def steps_of_takeover() -> list[str]:
    """The steps for a set of another operator whose template has a label under a key of the new family."""
    raw = set_raw(clique_raw("a", labels={"team": "x", f"{PREFIX}set_replica": "of-the-user"}))
    life = set_of_another_operator(raw)
    seen = life.look()
    assert seen is not None
    return [step.target.short for step in reconcile(seen).steps]


def main() -> None:
    """Print all."""
    sys.stdout.write(json.dumps({"read": read(), "written": written(), "steps of takeover": steps_of_takeover()}))
