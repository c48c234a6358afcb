"""Which templates count as changed, and which hashes are known."""

import pytest

from grove_core.areas.workload.field.present_templates import PresentTemplateHashes
from grove_core.areas.workload.template_hash import has_own_template_hash_form
from grove_core.areas.workload.workload_context import WorkloadContext
from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.structs import replace
from grove_core.resources.api_names import TEMPLATE_HASH
from grove_core.resources.podcliqueset import PlannedSetChange
from grove_core.snapshot.expected_replicas import expected_set_of
from grove_core.snapshot.snapshot import Snapshot
from tests.property.workload_field.healthy_sets import edited, healthy, raw_set

FOREIGN = {"router": "5c76dd7fb85ccd56946", "worker": "7b66896cb65975fb9bd"}
GENERATION = "5b64f44ff9f65c7bb67c"


def by_go(seen: Snapshot) -> Snapshot:
    """The set with hashes as the Go operator writes them."""
    cliques = []
    for clique in seen.cliques:
        text = FOREIGN["router" if not clique.is_in_scaling_group else "worker"]
        labels = FrozenMap({**clique.labels, TEMPLATE_HASH: text})
        cliques.append(replace(clique, template_hash=text, labels=labels))
    status = replace(seen.root.status, current_hash=GENERATION)
    return replace(seen, cliques=tuple(cliques), root=replace(seen.root, status=status))


def templates_of(seen: Snapshot) -> PresentTemplateHashes:
    return PresentTemplateHashes(WorkloadContext(seen), expected_set_of(seen).replicas)


def hashes_of(seen: Snapshot) -> set[str]:
    templates = templates_of(seen)
    return {templates.hash_of(part) for one in expected_set_of(seen).replicas for part in one.all_cliques}


def test_wf001_the_hash_of_a_clique_with_the_same_content_is_used() -> None:
    seen = by_go(healthy())
    assert hashes_of(seen) == set(FOREIGN.values())
    assert templates_of(seen).generation == GENERATION
    assert not templates_of(seen).has_changed


def test_wf001_another_hash_is_replaced_by_one_of_this_operator() -> None:
    seen = edited(by_go(healthy()), raw_set(image="a:2"))
    assert all(map(has_own_template_hash_form, hashes_of(seen)))
    assert templates_of(seen).has_changed
    assert has_own_template_hash_form(templates_of(seen).generation)


@pytest.mark.parametrize(
    ("edit", "observed", "is_changed"),
    [
        (PlannedSetChange.OF_MORE, 1, True),
        (PlannedSetChange.OF_NUMBERS, 1, False),
        (PlannedSetChange.NONE, 1, True),
        (PlannedSetChange.NONE, 2, False),
        (PlannedSetChange.NONE, None, True),
    ],
)
def test_wf002_what_is_observed_has_not_changed(
    edit: PlannedSetChange, observed: int | None, *, is_changed: bool
) -> None:
    """The status is of the generation that the operator has observed; the content of cliques decides otherwise."""
    seen = edited(by_go(healthy()), raw_set(image="a:2"))
    status = replace(seen.root.status, observed=observed)
    root = replace(seen.root, edit=edit, status=status, generation=2 if observed is not None else None)
    assert templates_of(replace(seen, root=root)).has_changed is is_changed


def test_wf002_members_of_a_running_update_say_nothing() -> None:
    """Members have old templates until they are deleted, so only standalone cliques show whether a template changed."""
    old, new = by_go(healthy()), raw_set(image="a:2")
    seen = edited(old, new)
    updated = {clique.ref.name: clique for clique in by_go(healthy(new)).cliques}
    status = replace(seen.root.status, updating=True, progress=FrozenMap({"updateStartedAt": "2026-11-20T08:59:00Z"}))
    cliques = tuple(
        clique if clique.is_in_scaling_group else replace(clique, pod_spec=updated[clique.ref.name].pod_spec)
        for clique in seen.cliques
    )
    running = replace(seen, cliques=cliques, root=replace(seen.root, status=status))
    assert not templates_of(running).has_changed
    assert templates_of(replace(running, cliques=seen.cliques)).has_changed


def test_wf002_a_new_set_has_no_update() -> None:
    seen = by_go(healthy())
    fresh = replace(seen, root=replace(seen.root, status=replace(seen.root.status, current_hash="")))
    assert not templates_of(fresh).has_changed
    assert has_own_template_hash_form(templates_of(fresh).generation)
