"""PodGangs whose cliques cannot be created are reported, with what is missing (WL-074)."""

from collections import defaultdict

from hypothesis import assume, event, given
from hypothesis import strategies as st

from grove_core.areas.workload.rules import WorkloadReason
from grove_core.kernel.frozen import FrozenDict
from grove_core.kernel.steps import Create
from grove_core.kernel.structs import replace
from tests.property.few_examples import RARELY
from tests.property.workload.expected import Expected
from tests.property.workload.sets import Json, applied, raw_sets, rounds_of


def gangs_of(raw: Json) -> dict[str, dict[str, str]]:
    """Of each gang its cliques, each with the scaling group that would own it or with nothing; off the documents."""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    template = raw["spec"]["template"]
    grouped = {name for group in template["podCliqueScalingGroups"] for name in group["cliqueNames"]}
    for replica in range(raw["spec"]["replicas"]):
        base = f"llm-{replica}"
        for clique in template["cliques"]:
            if clique["name"] not in grouped:
                found[base][f"{base}-{clique['name']}"] = ""
        for group in template["podCliqueScalingGroups"]:
            name = f"{base}-{group['name']}"
            for index in range(group["replicas"]):
                beyond = index - group["minAvailable"]
                for short in group["cliqueNames"]:
                    found[base if beyond < 0 else f"{name}-{beyond}"][f"{name}-{index}-{short}"] = name
    return found


@RARELY
@given(raw_sets(), st.integers(0, 1000))
def test_wl074_a_clique_that_waits_for_an_uncreatable_object_is_reported(raw: Json, which: int) -> None:
    """A foreign object has the name of one clique, or of one scaling group."""
    kinds = ("PodClique", "PodCliqueScalingGroup")
    names = sorted((kind, name) for kind, name in Expected(raw).names if kind in kinds)
    assume(names)
    kind, taken = names[which % len(names)]
    event(kind)
    lacking = {
        gang: cliques for gang, cliques in gangs_of(raw).items() if taken in cliques or taken in cliques.values()
    }
    start = replace(applied(raw), foreign_owners=FrozenDict({(kind, "ml", taken): "nobody"}))
    rounds = list(rounds_of(start))
    steps = (step for _, plan in rounds for step in plan.steps if isinstance(step.action, Create))
    made = {(step.target.kind, step.target.name) for step in steps}
    assert made.isdisjoint(("PodGang", gang) for gang in lacking)
    _, plan = rounds[-1]
    reported = {
        (one.target.kind, one.target.name): dict(why.facts)["missing"]
        for one in plan.withheld
        for why in one.because
        if why.rule is WorkloadReason.GANG_LACKS_CLIQUE
    }
    there = {clique for cliques in lacking.values() for clique in cliques} & {
        name for kind, name in made if kind == "PodClique"
    }
    assert reported.keys() == {("PodGang", gang) for gang in lacking} | {("PodClique", clique) for clique in there}
    assert set(reported.values()) <= {f"{kind}/{taken}"}
