"""PodCliques that were scaled at run time, beside a termination."""

from dataclasses import replace

from hypothesis import given

from grove_core.areas.gang_termination.termination_findings import SCALED
from grove_core.kernel.reasons import Reason
from grove_core.reconcile import reconcile
from grove_core.rule_sets.named import rule_set
from tests.property.gang_termination_field.worlds import field_storms
from tests.property.strategies.worlds import RandomCluster

FIELD = rule_set("field")


def scaled(generated: RandomCluster) -> dict[str, tuple[Reason, ...]]:
    findings = reconcile(generated.snapshot, FIELD).findings
    return {one.subject.name: one.because for one in findings if one.question == SCALED}


@given(field_storms())
def test_gf125_a_clique_below_its_minimum_is_named_if_it_is_breached(generated: RandomCluster) -> None:
    emptied = replace(generated, pods=(), cliques=tuple(replace(one, replicas=0) for one in generated.cliques))
    breached = {
        one.subject.name
        for one in reconcile(emptied.snapshot, FIELD).findings
        if (one.question, one.verdict, one.subject.kind) == ("breach", "True", "PodClique")
    }
    found = scaled(emptied)
    assert {name for name, because in found.items() if because[0].rule.requirement == "GF-125"} == breached


@given(field_storms())
def test_gf126_a_clique_without_a_template_comes_back_with_no_number(generated: RandomCluster) -> None:
    template = generated.root.spec.template.model_copy(update={"cliques": ()})
    spec = generated.root.spec.model_copy(update={"template": template})
    bare = replace(generated, root=replace(generated.root, spec=spec))
    assert not any(why.rule.requirement == "GF-126" for because in scaled(bare).values() for why in because)
