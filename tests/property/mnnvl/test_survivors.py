"""What mutants of MNNVL, and the fuzzer, lived through until these tests were written (specs/mutants.md)."""

from dataclasses import replace

import pytest

from grove_core.areas.mnnvl.desire import wants_of_fabric
from grove_core.areas.mnnvl.judge import address_of, judge_fabric
from grove_core.areas.mnnvl.verdicts import Fate
from grove_core.areas.mnnvl_scopes.judge import shared_domain
from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.refs import Guard
from grove_core.kernel.steps import Apply, Attempt, Create, Outcome, Stage, Step
from grove_core.kernel.wants import HeldBack, Status
from grove_core.resources.configuration import Configuration, Mnnvl, MnnvlMode
from grove_core.resources.keys import MNNVL_ENABLED
from grove_core.snapshot.size import MOST
from grove_core.snapshot.snapshot import Snapshot
from tests.property.mnnvl.gpus import GPUS, ON
from tests.property.mnnvl.scenes import scene
from tests.property.workload.sets import applied, clique_raw, set_raw

POD = {"containers": [{"name": "main", "resources": GPUS}]}
SCOPED = Configuration(Mnnvl(enabled=True, mode=MnnvlMode.ANNOTATIONS))


def of_size(replicas: int, configuration: Configuration) -> Snapshot:
    raw = set_raw(clique_raw("a", 1, pod_spec=POD, annotations={MNNVL_ENABLED: "true"}), replicas=replicas)
    return replace(applied(raw), configuration=configuration)


@pytest.mark.parametrize(("replicas", "is_judged"), [(3, True), (MOST, False), (2**31 - 1, False)])
def test_mn018_a_set_without_end_has_no_domains(replicas: int, is_judged: bool) -> None:
    assert len(judge_fabric(of_size(replicas, ON)).replicas) == (replicas if is_judged else 0)
    assert (shared_domain(of_size(replicas, SCOPED), "llm-2-cd") is not None) is is_judged


def test_mn018_a_replica_of_it_that_joined_is_judged() -> None:
    seen = scene("joined", "ours", refused=False, before=False, known=True, on=True)
    spec = seen.root.spec.model_copy(update={"replicas": MOST})
    (one,) = judge_fabric(replace(seen, root=replace(seen.root, spec=spec))).replicas
    assert (one.index, one.fate) == (0, Fate.JOINED)


def test_mn051_pods_of_living_cliques_are_counted() -> None:
    seen = scene("joined", "ours", refused=False, before=False, known=True, on=True)
    none = seen.root.spec.model_copy(update={"replicas": 0})
    (held,) = wants_of_fabric(replace(seen, root=replace(seen.root, spec=none)), judge_fabric(seen)).held_back
    assert isinstance(held, HeldBack)
    assert dict(held.because[0].facts)["pods"] == sum(map(len, seen.pods_of.values())) == 2


def test_mn012_the_replicas_that_failed_are_named() -> None:
    seen = scene("none", "nothing", refused=True, before=False, known=True, on=True)
    (told,) = [one for one in wants_of_fabric(seen, judge_fabric(seen)).wants if isinstance(one, Status)]
    assert [dict(one.facts) for one in told.because] == [{"replicas": "[0]"}]


def test_mn011_only_a_creation_that_is_refused_is_a_refusal() -> None:
    seen = scene("none", "nothing", refused=False, before=False, known=True, on=True)
    ref = address_of(seen, 0)
    for action, outcome in (
        (Create(FrozenMap({})), Outcome.CONFLICT),
        (Apply(FrozenMap({}), Guard("u", "1")), Outcome.REFUSED),
    ):
        attempt = Attempt(Step(Stage.FOUNDATION, ref, action, ()), outcome, "no")
        (one,) = judge_fabric(replace(seen, attempts=(attempt,))).replicas
        assert one.fate is Fate.AWAITED
