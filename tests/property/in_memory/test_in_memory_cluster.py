"""The cluster in memory: what is deleted already, and what is being deleted."""

from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import AttemptOutcome, Ensure, Step, StepStage
from grove_core.kernel.structs import replace
from tests.property.mnnvl_scopes.sharing_sets import ENABLED, GPUS, converged_set
from tests.property.workload.life import Life
from tests.property.workload.sets import clique_raw, set_raw


def test_sm080_the_deletion_of_what_does_not_exist_changes_nothing() -> None:
    life = Life(set_raw(clique_raw("a", 1)))
    life.settle()
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
    assert world.attempt_step(ensure).outcome is AttemptOutcome.DONE
    world.put_object(replace(domain, deleting=True))
    assert world.attempt_step(ensure).outcome is AttemptOutcome.CONFLICT
