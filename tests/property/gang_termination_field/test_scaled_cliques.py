"""PodCliques that were scaled at run time, beside a termination."""

from hypothesis import given

from grove_core.kernel.decisions import Finding
from grove_core.kernel.questions import BREACH, SCALED
from grove_core.kernel.reasons import Reason
from grove_core.kernel.structs import replace
from grove_core.reconcile import reconcile
from grove_core.rule_sets.rule_set_by_name import rule_set
from grove_core.testing import RandomCluster
from tests.property.gang_termination_field.worlds import field_storms

FIELD = rule_set("field")


def scaled(generated: RandomCluster) -> dict[str, tuple[Reason, ...]]:
    findings = reconcile(generated.snapshot, FIELD).findings
    return {one.subject.name: one.because for one in findings if one.question == SCALED}


@given(field_storms())
def test_gf125_every_clique_below_its_minimum_is_named(generated: RandomCluster) -> None:
    """Also before it is breached, while its last pods still end."""
    emptied = replace(generated, cliques=tuple(replace(one, replicas=0) for one in generated.cliques))
    judged = {one.subject.name for one in findings(emptied) if one.question == BREACH and is_clique(one)}
    low = {one.ref.name for one in emptied.cliques if one.min_available} & judged
    found = {one.subject.name for one in findings(emptied) if one.verdict == "ScaledBelowMinAvailable"}
    assert found == low


def findings(generated: RandomCluster) -> tuple[Finding, ...]:
    return reconcile(generated.snapshot, FIELD).findings


def is_clique(finding: Finding) -> bool:
    return finding.subject.kind == "PodClique"


@given(field_storms())
def test_gf126_a_clique_without_a_template_comes_back_with_no_number(generated: RandomCluster) -> None:
    template = generated.root.spec.template.model_copy(update={"cliques": ()})
    spec = generated.root.spec.model_copy(update={"template": template})
    bare = replace(generated, root=replace(generated.root, spec=spec))
    assert not any(why.rule.requirement == "GF-126" for because in scaled(bare).values() for why in because)
