"""Conflicts between claims to ComputeDomains and claims of `resourceSharing` (MN-078)."""

from collections import defaultdict
from dataclasses import replace
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.admit import admit
from grove_core.kernel.frozen import thaw
from grove_core.kernel.steps import Create
from grove_core.resources.configuration import DEFAULT_CONFIGURATION, Configuration, MnnvlConfiguration
from tests.property.few_examples import RARELY
from tests.property.mnnvl_scopes.sharing_sets import GPUS, SCOPED, annotated_sets
from tests.property.workload.sets import applied, clique_raw, rounds_of, set_raw

Json = dict[str, Any]
OPERATOR: Final = Configuration(MnnvlConfiguration(enabled=True))
ENABLED: Final = "grove.io/mnnvl-enabled"
SCOPE: Final = "grove.io/mnnvl-scope"
LEVELS: Final = ("AllReplicas", "PerReplica")


def warned(raw: Json, configuration: Configuration) -> list[str]:
    """The paths of all warnings of MN-078."""
    found = admit(raw, None, None, configuration).verdict.warnings
    return [one.path for one in found if one.reason.rule.requirement == "MN-078"]


def held_together(raw: Json, configuration: Configuration) -> list[tuple[str, str]]:
    """Pairs of a claim to a domain and a claim of `resourceSharing` that one of the created pods has."""
    start = replace(applied(raw), configuration=configuration)
    pods = [
        thaw(step.action.manifest)
        for _, plan in rounds_of(start)
        for step in plan.steps
        if isinstance(step.action, Create) and step.target.kind == "Pod"
    ]
    found = []
    for number, pod in enumerate(pods):
        of_pod = {
            one["name"]: one.get("resourceClaimName", f"of pod {number}") for one in pod["spec"]["resourceClaims"]
        }
        domains = [of_pod.pop(name) for name in ("mnnvl", "mnnvl-claim") if name in of_pod]
        found += [(domain, other) for domain in domains for other in of_pod.values()]
    return found


def sharings(raw: Json) -> dict[str, list[Json]]:
    """Every `resourceSharing` list, by its path."""
    template = raw["spec"]["template"]
    places = {"spec.template": template}
    for key in ("podCliqueScalingGroups", "cliques"):
        places |= {f"spec.template.{key}[{index}]": one for index, one in enumerate(template[key])}
    return {f"{path}.resourceSharing": place["resourceSharing"] for path, place in places.items()}


@RARELY
@given(annotated_sets(), st.sampled_from([DEFAULT_CONFIGURATION, OPERATOR, SCOPED]), st.data())
def test_mn078_the_sample_finds_the_conflicts_of_all_pods(
    raw: Json, configuration: Configuration, data: st.DataObject
) -> None:
    """With one entry: two pods that share one of two claims and not the other conflict."""
    lists = sharings(raw)
    chosen = data.draw(st.sampled_from(sorted(lists)))
    for path, entries in lists.items():
        entries[:] = [{"name": "x", "scope": data.draw(st.sampled_from(LEVELS))}] if path == chosen else []
    for clique in raw["spec"]["template"]["cliques"]:
        clique["spec"]["podSpec"] = {**clique["spec"]["podSpec"], "resourceClaims": []}
    beside: dict[tuple[str, str], set[str]] = defaultdict(set)
    for first, second in held_together(raw, configuration):
        beside["domain", first].add(second)
        beside["sharing", second].add(first)
    is_trap = any(len(others) > 1 for others in beside.values())
    assert warned(raw, configuration) == ([f"{chosen}[0]"] if is_trap else [])


def test_mn078_where_the_sharing_is_written() -> None:
    sharing = [{"name": "x", "scope": "PerReplica"}]
    worker = {**clique_raw("worker", 2, pod_spec=GPUS), "resourceSharing": [{"name": "x", "scope": "AllReplicas"}]}
    member = clique_raw("member", 2, pod_spec=GPUS)
    pool = {"name": "pool", "cliqueNames": ["member"], "replicas": 2, "minAvailable": 1, "resourceSharing": sharing}
    raw = set_raw(worker, member, groups=(pool,), resourceSharing=sharing)
    assert warned(raw, OPERATOR) == [
        "spec.template.cliques[0].resourceSharing[0]",
        "spec.template.podCliqueScalingGroups[0].resourceSharing[0]",
        "spec.template.resourceSharing[0]",
    ]
    assert not warned(raw, DEFAULT_CONFIGURATION)
    raw["metadata"]["annotations"] = {ENABLED: "false"}
    assert not warned(raw, OPERATOR)


@pytest.mark.parametrize(
    ("scope", "level", "replicas", "meant"),
    [
        ("replica", "PerReplica", 2, False),
        ("replica", "AllReplicas", 2, True),
        ("replica", "AllReplicas", 1, False),
        ("clique", "PerReplica", 1, False),
    ],
)
def test_mn078_no_warning_where_the_same_pods_share_both(scope: str, level: str, replicas: int, *, meant: bool) -> None:
    """In mode `annotations`: one clique, one claim of the set, and a domain for each replica or each PodClique."""
    raw = set_raw(
        {**clique_raw("worker", 2, pod_spec=GPUS), "annotations": {ENABLED: "true", SCOPE: scope}},
        replicas=replicas,
        resourceSharing=[{"name": "x", "scope": level}],
    )
    assert bool(warned(raw, SCOPED)) == meant


def test_mn078_a_filter_is_applied() -> None:
    entry = {"name": "x", "scope": "AllReplicas", "filter": {"childCliqueNames": ["router"]}}
    worker = {**clique_raw("worker", 2, pod_spec=GPUS), "annotations": {ENABLED: "true"}}
    raw = set_raw(clique_raw("router", 2), worker, replicas=2, resourceSharing=[entry])
    assert not warned(raw, SCOPED), "whoever has the one has not the other"
    assert warned(raw, OPERATOR), "every pod of the set has a channel"
    entry["filter"] = {"childCliqueNames": ["worker"]}
    assert warned(raw, SCOPED)
