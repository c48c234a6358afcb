"""What the Go operator refuses and the design admits: schedulers and topology constraints (WF-161 to WF-164)."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.admit import admit
from grove_core.kernel.admission import Deny
from grove_core.resources.configuration import Configuration, SchedulerProfiles, TopologyAwareSettings
from grove_core.rule_sets.go_operator import BY_RELEASE
from grove_core.rule_sets.rule_set import RuleSet

KAI = SchedulerProfiles(("kai-scheduler", "default-scheduler"), "kai-scheduler")
OFF = Configuration(schedulers=KAI)
ON = Configuration(topology=TopologyAwareSettings(enabled=True), schedulers=KAI)
NOT_GIVEN = Configuration()
RACK = {"pack": {"required": "rack"}}
NAMED = {"topologyName": "dc", **RACK}


def manifest(*schedulers: str, constraint: object = None, of_cliques: object = None) -> dict[str, Any]:
    """A set with one clique for each scheduler; an empty name is left out."""
    cliques = [
        {
            "name": f"c{number}",
            "topologyConstraint": of_cliques,
            "spec": {
                "roleName": f"c{number}",
                "replicas": 1,
                "minAvailable": 1,
                "podSpec": {"containers": [{"name": "m", "image": "i:1"}]} | ({"schedulerName": name} if name else {}),
            },
        }
        for number, name in enumerate(schedulers or ("",))
    ]
    template = {"cliques": cliques, "topologyConstraint": constraint}
    metadata = {"name": "llm", "namespace": "ml"}
    spec = {"replicas": 1, "template": template}
    return {"apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "metadata": metadata, "spec": spec}


def found(raw: dict[str, Any], configuration: Configuration, rules: RuleSet, old: Any = None) -> list[tuple[str, str]]:
    """Where a manifest is refused, and by which rule."""
    verdict = admit(raw, old, configuration=configuration, rules=rules).verdict
    objections = verdict.objections if isinstance(verdict, Deny) else ()
    return sorted((one.path.removeprefix("spec.template."), one.reason.rule.requirement) for one in objections)


def warned(raw: dict[str, Any], configuration: Configuration, rules: RuleSet, old: Any = None) -> list[str]:
    verdict = admit(raw, old, configuration=configuration, rules=rules).verdict
    return [one.reason.rule.requirement for one in verdict.warnings]


every_release = pytest.mark.parametrize("rules", BY_RELEASE.values(), ids=list(BY_RELEASE))


@every_release
@pytest.mark.parametrize(
    ("schedulers", "configuration", "expected"),
    [
        (("kai-scheduler",), OFF, []),
        (("default-scheduler",), OFF, []),
        (("volcano",), OFF, [("cliques[0].spec.podSpec.schedulerName", "WF-161")]),
        (("volcano",), NOT_GIVEN, []),
        (("my-scheduler",), NOT_GIVEN, [("cliques[0].spec.podSpec.schedulerName", "WF-161")]),
        (("", "kai-scheduler"), OFF, []),
        (("", "default-scheduler"), OFF, [("cliques[1].spec.podSpec.schedulerName", "WL-129")]),
        (("default-scheduler", ""), OFF, [("cliques[1].spec.podSpec.schedulerName", "WL-129")]),
        (("", "default-scheduler"), NOT_GIVEN, []),
        (("kai-scheduler", "default-scheduler"), OFF, [("cliques[1].spec.podSpec.schedulerName", "WL-129")]),
    ],
)
def test_wf161_a_scheduler_is_enabled_and_the_same_for_all(
    schedulers: tuple[str, ...], configuration: Configuration, expected: list[tuple[str, str]], rules: RuleSet
) -> None:
    assert found(manifest(*schedulers), configuration, rules) == expected


@every_release
def test_wf161_a_stored_set_whose_scheduler_was_switched_off_cannot_be_edited(rules: RuleSet) -> None:
    stored = manifest("volcano")
    assert found(stored, OFF, rules, old=stored) == [("cliques[0].spec.podSpec.schedulerName", "WF-161")]


@every_release
@pytest.mark.parametrize("constraint", [RACK, NAMED])
def test_wf162_a_constraint_is_refused_while_topology_aware_scheduling_is_off(
    constraint: dict[str, str], rules: RuleSet
) -> None:
    raw = manifest("kai-scheduler", constraint=constraint)
    assert found(raw, OFF, rules) == [("topologyConstraint", "WF-162")]
    assert not found(raw, OFF, rules, old=raw), "a set that was stored before is not refused"


@every_release
def test_wf163_a_constraint_names_its_topology_or_one_above_it_does(rules: RuleSet) -> None:
    of_clique, of_set = manifest("kai-scheduler", of_cliques=RACK), manifest("kai-scheduler", constraint=RACK)
    assert found(of_clique, ON, rules) == [("cliques[0].topologyConstraint.topologyName", "WF-163")]
    assert found(of_set, ON, rules) == [("topologyConstraint.topologyName", "WF-163")]
    assert not found(manifest("kai-scheduler", constraint=NAMED, of_cliques=RACK), ON, rules)
    assert not found(of_set, ON, rules, old=of_set), "earlier releases had no name"


@every_release
def test_wf164_without_a_configuration_a_constraint_is_a_warning(rules: RuleSet) -> None:
    raw = manifest("kai-scheduler", constraint=NAMED)
    assert not found(raw, NOT_GIVEN, rules)
    assert warned(raw, NOT_GIVEN, rules) == ["WF-164"]
    assert warned(raw, NOT_GIVEN, rules, old=raw) == []
    assert "WF-164" not in warned(raw, ON, rules)
    assert "WF-164" not in warned(raw, OFF, rules)


@every_release
def test_wf165_a_new_set_must_not_have_the_deprecated_spelling(rules: RuleSet) -> None:
    both = {"topologyName": "dc", "packDomain": "rack"}
    raw = manifest("kai-scheduler", constraint=both, of_cliques={"packDomain": "host"})
    paths = [] if rules.name.endswith("alpha.9") else ["cliques[0].topologyConstraint", "topologyConstraint"]
    assert found(raw, ON, rules) == [(f"{path}.packDomain", "WF-165") for path in paths]
    assert not found(raw, ON, rules, old=raw), "a stored set keeps it"


NAMES = st.sampled_from(("", "kai-scheduler", "default-scheduler", "volcano", "my-scheduler"))


@given(st.lists(NAMES, min_size=1, max_size=4), st.sampled_from(tuple(BY_RELEASE.values())))
def test_wf161_what_is_admitted_without_a_configuration_is_admitted_by_some(names: list[str], rules: RuleSet) -> None:
    raw = manifest(*names)
    enabled = tuple(name for name in dict.fromkeys(names) if name not in {"", "my-scheduler"})
    profiles = SchedulerProfiles((*enabled, "default-scheduler"), next(iter(enabled), "default-scheduler"))
    if not found(raw, NOT_GIVEN, rules):
        assert not found(raw, Configuration(schedulers=profiles), rules)
