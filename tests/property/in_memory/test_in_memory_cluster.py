"""The cluster in memory: what exists, what is deleted already, and what is being deleted."""

from datetime import timedelta
from typing import Final

import pytest

from grove_core.in_memory.garbage_collection import FOREGROUND
from grove_core.kernel.frozen import EMPTY, FrozenMap, object_under_key
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Action, Apply, AttemptOutcome, Create, Delete, Ensure, SetStatus, Step, StepStage
from grove_core.kernel.structs import replace
from tests.property.mnnvl_scopes.sharing_sets import ENABLED, GPUS, converged_set
from tests.property.workload.life import Life
from tests.property.workload.sets import NOW, clique_raw, set_raw

CLIQUE: Final = "llm-0-a"
DONE, CONFLICT, REFUSED = AttemptOutcome.DONE, AttemptOutcome.CONFLICT, AttemptOutcome.REFUSED


def settled_life() -> Life:
    """A set of one clique of two pods, with every pod ready."""
    life = Life(set_raw(clique_raw("a", 2)))
    life.settle()
    return life


def attempted(life: Life, target: Ref, action: Action) -> AttemptOutcome:
    return life.world.attempt_step(Step(StepStage.WORKLOAD, target, action, ())).outcome


def test_sm080_the_deletion_of_what_does_not_exist_changes_nothing() -> None:
    life = settled_life()
    before = (dict(life.world.items), life.all_pods())
    pod = Ref("v1", "Pod", "ml", "gone")
    life.world.delete_object(pod)
    life.world.delete_object(Ref("v1", "Service", "ml", "gone"))
    life.world.end_pod_containers(pod)
    assert (dict(life.world.items), life.all_pods()) == before


def test_sm080_a_shared_object_that_is_being_deleted_is_not_accepted() -> None:
    world, seen = converged_set(set_raw(clique_raw("a", pod_spec=GPUS, annotations={ENABLED: "true"})))
    (domain,) = seen.domains
    ensure = Step(StepStage.FOUNDATION, domain.ref, Ensure(world.manifests[domain.ref]), ())
    assert world.attempt_step(ensure).outcome is DONE
    world.put_object(replace(domain, deleting=True))
    assert world.attempt_step(ensure).outcome is CONFLICT


def test_sm080_the_deletion_of_a_domain_has_the_time_of_the_clock() -> None:
    world, seen = converged_set(set_raw(clique_raw("a", pod_spec=GPUS, annotations={ENABLED: "true"})))
    (domain,) = seen.domains
    world.put_object(replace(domain, finalizers=("example.com/driver",)))
    world.clock = lambda: NOW + timedelta(seconds=3, milliseconds=700)
    world.delete_object(domain.ref)
    deleted = world.items[domain.ref]
    assert (deleted.deleting, getattr(deleted, "deleted_at", None)) == (True, NOW + timedelta(seconds=3))


def test_sm080_objects_are_found_by_uid_and_listed_with_pods() -> None:
    life = settled_life()
    clique = life.clique(CLIQUE)
    assert life.world.name_of_uid(clique.uid) == CLIQUE
    assert life.world.name_of_uid("of-another-cluster") == ""
    listed = [item.ref for item in life.world.all_objects()]
    assert sorted(map(str, listed)) == sorted(map(str, [*life.world.items, *(pod.ref for pod in life.all_pods())]))
    assert len(life.all_pods()) == 2


def test_sm080_a_uid_is_given_once() -> None:
    life = settled_life()
    ref = life.clique(CLIQUE).ref
    in_use = {item.uid for item in life.world.all_objects()}
    made = {life.world.make_unique_uid(ref) for _ in range(3)}
    assert len(made) == 3
    assert not made & in_use


def test_sm080_a_taken_name_refuses_another_owner_and_waits_for_a_deletion() -> None:
    life = settled_life()
    (first, *_) = life.all_pods()
    manifest = life.world.manifests[first.ref]
    assert attempted(life, first.ref, Create(manifest)) is DONE  # by an earlier try
    metadata = object_under_key(manifest, "metadata")
    unowned = FrozenMap({key: metadata[key] for key in metadata if key != "ownerReferences"})
    assert attempted(life, first.ref, Create(FrozenMap({**manifest, "metadata": unowned}))) is REFUSED
    life.world.put_pod(replace(first, deleting=True))
    assert attempted(life, first.ref, Create(manifest)) is CONFLICT
    assert len(life.all_pods()) == 2


def test_sm080_an_object_of_an_owner_that_does_not_exist_is_collected() -> None:
    life = settled_life()
    clique = life.clique(CLIQUE)
    (first, *_) = life.all_pods()
    manifest = life.world.manifests[first.ref]
    life.world.put_object(replace(clique, finalizers=()))
    life.world.delete_object(clique.ref)
    assert not life.all_pods()
    assert attempted(life, first.ref, Create(manifest)) is DONE
    assert not life.all_pods()


def test_sm080_a_write_that_changes_nothing_keeps_the_version_of_a_pod() -> None:
    life = settled_life()
    (first, *_) = life.all_pods()
    assert attempted(life, first.ref, SetStatus(EMPTY, first.guard)) is DONE
    assert life.world.get_pod(first.ref) == first


@pytest.mark.parametrize("foreground", [True, False])
def test_sm080_an_object_that_waits_for_its_pods_waits_on(*, foreground: bool) -> None:
    life = Life(set_raw(clique_raw("a", 2)), lingering=True)
    life.settle()
    clique = replace(life.clique(CLIQUE), finalizers=())
    life.world.put_object(clique)
    assert attempted(life, clique.ref, Delete(life.clique(CLIQUE).guard, foreground=True)) is DONE
    waiting = life.clique(CLIQUE)
    assert (waiting.deleting, waiting.finalizers) == (True, (FOREGROUND,))
    again = attempted(life, clique.ref, Delete(waiting.guard, foreground=foreground))
    assert again is (DONE if foreground else CONFLICT)
    assert life.clique(CLIQUE) == waiting
    for pod in life.all_pods():
        life.world.end_pod_containers(pod.ref)
    assert clique.ref not in life.world.items


def test_sm080_an_object_that_is_being_deleted_takes_no_new_finalizer() -> None:
    life = settled_life()
    clique = life.clique(CLIQUE)
    life.world.put_object(replace(clique, deleting=True, finalizers=("example.com/kept",)))
    leaving = life.clique(CLIQUE)

    def with_finalizers(*names: str) -> AttemptOutcome:
        fields = FrozenMap({"metadata": FrozenMap({"finalizers": names})})
        return attempted(life, leaving.ref, Apply(fields, life.clique(CLIQUE).guard))

    assert with_finalizers("example.com/kept", "example.com/new") is REFUSED
    assert life.clique(CLIQUE) == leaving
    assert with_finalizers("example.com/kept") is DONE
