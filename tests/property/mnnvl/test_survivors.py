"""Cases that mutation testing and fuzzing of MNNVL found to be untested (specs/mutants.md)."""

import pytest

from grove_core.areas.mnnvl.design.judge import compute_domain_ref_of_replica, judge_mnnvl
from grove_core.areas.mnnvl.design.verdicts import ReplicaComputeDomainState
from grove_core.areas.mnnvl.design.wants import desired_mnnvl_changes
from grove_core.areas.mnnvl_scopes.judge import shared_domain_ref
from grove_core.kernel.frozen import FrozenDict, FrozenMap
from grove_core.kernel.refs import Guard
from grove_core.kernel.steps import Apply, Attempt, AttemptOutcome, Create, SetStatus, Step, StepStage
from grove_core.kernel.structs import replace
from grove_core.kernel.wants import StatusToWrite, Withheld
from grove_core.reconcile import reconcile
from grove_core.resources.api_names import DOMAINS_READY, MNNVL_ENABLED
from grove_core.resources.configuration import Configuration, MnnvlConfiguration, MnnvlMode
from grove_core.snapshot.expected_replicas import MOST
from grove_core.snapshot.snapshot import Snapshot
from tests.property.mnnvl.gpu_sets import set_in_state
from tests.property.mnnvl.gpus import GPUS, ON
from tests.property.workload.sets import applied, clique_raw, set_raw

POD = {"containers": [{"name": "main", "resources": GPUS}]}
SCOPED = Configuration(MnnvlConfiguration(enabled=True, mode=MnnvlMode.ANNOTATIONS))


def of_size(replicas: int, configuration: Configuration) -> Snapshot:
    raw = set_raw(clique_raw("a", 1, pod_spec=POD, annotations={MNNVL_ENABLED: "true"}), replicas=replicas)
    return replace(applied(raw), configuration=configuration)


@pytest.mark.parametrize(("replicas", "is_judged"), [(3, True), (MOST, False), (2**31 - 1, False)])
def test_wl024_a_set_that_is_too_large_has_no_domains(replicas: int, is_judged: bool) -> None:
    assert len(judge_mnnvl(of_size(replicas, ON)).replicas) == (replicas if is_judged else 0)
    assert (shared_domain_ref(of_size(replicas, SCOPED), "llm-2-cd") is not None) is is_judged


@pytest.mark.parametrize("on", [True, False])
@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("domain", ["ours", "nothing"])
@pytest.mark.parametrize("siblings", ["joined", "without", "none"])
@pytest.mark.req("MN-013")
def test_wl024_a_set_that_is_too_large_keeps_its_domains_and_condition(
    siblings: str, domain: str, before: bool, on: bool
) -> None:
    seen = set_in_state(siblings, domain, refused=False, before=before, known=True, on=on)
    spec = seen.root.spec.model_copy(update={"replicas": MOST})
    seen = replace(seen, root=replace(seen.root, spec=spec))
    assert judge_mnnvl(seen).replicas == ()
    for step in reconcile(seen).steps:
        assert isinstance(step.action, SetStatus)
        assert DOMAINS_READY not in str(step.action.fields)


@pytest.mark.req("MN-050")
def test_wl024_a_surplus_domain_is_not_created_and_deleted_in_turn() -> None:
    """The replica was scaled in, used the domain and lost it; then a PodClique was scaled to millions."""
    seen = set_in_state("joined", "ours", refused=False, before=False, known=True, on=True)
    none = seen.root.spec.model_copy(update={"replicas": 0})
    grown = tuple(replace(clique, replicas=2 * MOST) for clique in seen.cliques)
    for domains in (seen.domains, ()):
        named = {(one.ref.namespace, one.ref.name): one for one in domains}
        look = replace(
            seen, root=replace(seen.root, spec=none), cliques=grown, domains=domains, named_domains=FrozenDict(named)
        )
        assert {step.target.kind for step in reconcile(replace(look, pods_of=FrozenDict())).steps} <= {
            "PodCliqueSet",
            "PodCliqueScalingGroup",
            "PodClique",
        }


def test_mn051_pods_of_existing_cliques_are_counted() -> None:
    seen = set_in_state("joined", "ours", refused=False, before=False, known=True, on=True)
    none = seen.root.spec.model_copy(update={"replicas": 0})
    (held,) = desired_mnnvl_changes(replace(seen, root=replace(seen.root, spec=none)), judge_mnnvl(seen)).withheld
    assert isinstance(held, Withheld)
    assert dict(held.because[0].facts)["pods"] == sum(map(len, seen.pods_of.values())) == 2


def test_mn012_the_replicas_that_failed_are_named() -> None:
    seen = set_in_state("none", "nothing", refused=True, before=False, known=True, on=True)
    (status,) = [one for one in desired_mnnvl_changes(seen, judge_mnnvl(seen)).wants if isinstance(one, StatusToWrite)]
    assert [dict(one.facts) for one in status.because] == [{"replicas": "[0]"}]


def test_mn011_only_a_refused_creation_counts_as_refused() -> None:
    seen = set_in_state("none", "nothing", refused=False, before=False, known=True, on=True)
    ref = compute_domain_ref_of_replica(seen, 0)
    for action, outcome in (
        (Create(FrozenMap({})), AttemptOutcome.CONFLICT),
        (Apply(FrozenMap({}), Guard("u", "1")), AttemptOutcome.REFUSED),
    ):
        attempt = Attempt(Step(StepStage.FOUNDATION, ref, action, ()), outcome, "no")
        (one,) = judge_mnnvl(replace(seen, attempts=(attempt,))).replicas
        assert one.state is ReplicaComputeDomainState.AWAITED


@pytest.mark.req("GT-026")
def test_mn051_pods_of_a_clique_without_a_replica_label_hold_the_domain() -> None:
    """Its scaling group is gone; the name of the gang decides the replica, for an orphan and for an unlisted clique."""
    seen = set_in_state("joined", "ours", refused=False, before=False, known=True, on=True)
    none = seen.root.spec.model_copy(update={"replicas": 0})
    unsure = tuple(replace(clique, replica_index=-1) for clique in seen.cliques)
    look = replace(seen, root=replace(seen.root, spec=none))
    for cliques, orphans in ((unsure, ()), ((), unsure), ((), seen.cliques)):
        (held,) = desired_mnnvl_changes(replace(look, cliques=cliques, orphans=orphans), judge_mnnvl(look)).withheld
        assert isinstance(held, Withheld)
        assert dict(held.because[0].facts)["pods"] == sum(map(len, seen.pods_of.values())) == 2
