"""What was written counts before it is listed, and not any more afterwards (PL-018)."""

from typing import Any

import pytest

from grove_core.kernel.frozen import FrozenDict
from grove_core.kernel.steps import Apply, Attempt, AttemptOutcome, Create, Delete, Step, StepStage
from grove_core.kernel.structs import replace
from grove_core.reconcile import reconcile
from grove_core.snapshot.own_writes import possibly_created_cliques, with_own_writes
from grove_core.snapshot.snapshot import Snapshot
from tests.property.mnnvl_scopes.sharing_sets import ENABLED, GPUS, SCOPE, converged_set
from tests.property.workload.life import Life
from tests.property.workload.sets import clique_raw, set_raw

GROUP: dict[str, Any] = {"name": "pool", "cliqueNames": ["b"], "replicas": 3, "minAvailable": 2}


def done(steps: list[Step]) -> tuple[Attempt, ...]:
    return tuple(Attempt(step, AttemptOutcome.DONE) for step in steps)


def look(life: Life) -> Snapshot:
    seen = life.look()
    assert seen is not None
    return seen


def sharing() -> Snapshot:
    _, seen = converged_set(set_raw(clique_raw("a", 2, pod_spec=GPUS, annotations={ENABLED: "true", SCOPE: "clique"})))
    return seen


def test_pl018_what_was_written_of_cliques_counts_before_it_is_listed() -> None:
    life = Life(set_raw(clique_raw("a", 2)))
    life.settle()
    life.on_delete()
    life.new_image("v2")
    seen = look(life)
    steps = [step for step in reconcile(replace(seen, attempts=())).steps if isinstance(step.action, Apply)]
    assert [step.target.short for step in steps] == ["PodClique/llm-0-a"]
    own = with_own_writes(replace(seen, attempts=done(steps)))
    assert own.cliques[0].template_hash != seen.cliques[0].template_hash
    assert own.pods_of is seen.pods_of


def test_pl018_a_claim_that_was_deleted_counts_so_before_it_is_listed() -> None:
    seen = sharing()
    (key, claim), *_ = seen.named_claims.items()
    deletion = Step(StepStage.CLEANUP, claim.ref, Delete(claim.guard), ())
    own = with_own_writes(replace(seen, attempts=done([deletion])))
    assert own.named_claims[key].deleting
    assert all(one.deleting for one in own.others if one.ref == claim.ref)


def test_pl018_a_claim_hides_nothing_of_another_kind_that_has_its_name() -> None:
    seen = sharing()
    (claim,) = seen.named_claims.values()
    service = next(one for one in seen.others if one.ref.kind == "Service")
    named = replace(claim, ref=replace(claim.ref, name=service.ref.name))
    claims = {**seen.named_claims, (named.ref.namespace, named.ref.name): named}
    deletion = Step(StepStage.CLEANUP, claim.ref, Delete(claim.guard), ())
    own = with_own_writes(replace(seen, named_claims=FrozenDict(claims), attempts=done([deletion])))
    assert service in own.others


@pytest.mark.parametrize("outcome", [AttemptOutcome.DONE, AttemptOutcome.UNREACHABLE])
def test_pl018_a_clique_that_is_listed_is_not_coming_any_more(outcome: AttemptOutcome) -> None:
    life = Life(set_raw(clique_raw("a", 1)))
    steps = [step for _ in range(4) if (plan := life.round()) for step in plan.steps]
    (made,) = [step for step in steps if step.target.kind == "PodClique" and isinstance(step.action, Create)]
    seen = replace(look(life), attempts=(Attempt(made, outcome),))
    assert list(possibly_created_cliques(seen)) == []
    assert [one.ref for one in possibly_created_cliques(replace(seen, cliques=()))] == [made.target]
