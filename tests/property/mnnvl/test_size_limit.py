"""A set that is too large has no ComputeDomains, and keeps those that it has (WL-024)."""

import pytest

from grove_core.areas.mnnvl.design.judge import judge_mnnvl
from grove_core.areas.mnnvl_scopes.judge import shared_domain_ref
from grove_core.kernel.frozen import FrozenDict
from grove_core.kernel.steps import SetStatus
from grove_core.kernel.structs import replace
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
