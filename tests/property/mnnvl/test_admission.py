"""Admission of a set's MNNVL annotations (MN-070 to MN-077); cases.yaml was written before the code."""

from pathlib import Path
from typing import Any, Final

import pytest

from grove_core.admit import admit
from grove_core.kernel.admission import Deny, FieldRemark
from grove_core.resources.configuration import DEFAULT_CONFIGURATION, Configuration, MnnvlConfiguration, MnnvlMode
from tests.property.admission_tables import Table, is_meant, same_words, words_of

Json = dict[str, Any]
OPERATOR: Final = Configuration(MnnvlConfiguration(enabled=True))


TABLE: Final = Table(Path(__file__).parent / "cases.yaml")
CASES: Final = TABLE.cases


def judged(case: Json, configuration: Configuration = OPERATOR) -> tuple[list[FieldRemark], list[FieldRemark]]:
    """Objections and warnings."""
    old = TABLE.with_values(case["old"]) if "old" in case else None
    verdict = admit(TABLE.with_values(case["put"]), old, None, configuration).verdict
    return list(verdict.objections if isinstance(verdict, Deny) else ()), list(verdict.warnings)


@pytest.mark.req("MN-071")
@pytest.mark.req("MN-072")
@pytest.mark.req("MN-073")
@pytest.mark.req("MN-074")
@pytest.mark.req("MN-075")
@pytest.mark.req("MN-076")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["why"])
def test_mn070_the_table(case: Json) -> None:
    objections, warnings = judged(case)
    assert sorted(one.path for one in objections) == sorted(case["refused"]), case["why"]
    for pattern in case.get("warned", ()):
        assert any(is_meant(pattern, one.path) for one in warnings), (pattern, case["why"])
    for pattern in case.get("silent", ()):
        assert not [one for one in warnings if is_meant(pattern, one.path)], (pattern, case["why"])


def test_mn070_the_sentences_of_the_table(*, bless: bool) -> None:
    said = "".join(f"# {case['why']}\n{words_of(*judged(case))}" for case in CASES)
    same_words(Path(__file__).parent / "words.txt", said, bless=bless)


@pytest.mark.parametrize("case", [case for case in CASES if case["refused"]], ids=lambda case: case["why"])
@pytest.mark.parametrize(
    "configuration", [DEFAULT_CONFIGURATION, OPERATOR, Configuration(MnnvlConfiguration(True, MnnvlMode.ANNOTATIONS))]
)
def test_mn070_values_are_refused_under_any_configuration(case: Json, configuration: Configuration) -> None:
    objections, _ = judged(case, configuration)
    assert {one.path for one in objections} >= set(case["refused"])


def test_mn071_the_objection_quotes_the_old_value() -> None:
    case = {"old": {"metadata.annotations": {"grove.io/mnnvl-enabled": "false"}}, "put": {}}
    (objection,), _ = judged(case)
    assert (objection.got, objection.reason.rule.code) == ("nothing", "MnnvlImmutable")
    assert '"false"' in objection.reason.sentence


def test_mn074_an_opt_in_has_no_effect_while_mnnvl_is_off() -> None:
    enabled = "grove.io/mnnvl-enabled"
    _, warnings = judged({"put": {"metadata.annotations": {enabled: "true"}}}, DEFAULT_CONFIGURATION)
    assert [one.reason.rule.code for one in warnings] == ["AnnotationIgnored"]
    assert not judged({"put": {"metadata.annotations": {enabled: "false"}}}, DEFAULT_CONFIGURATION)[1]


@pytest.mark.parametrize(
    ("resources", "how"),
    [
        ({"limits": {"nvidia.com/mig-1g.10gb": 1}}, "nvidia.com/mig-1g.10gb"),
        ({"claims": [{"name": "gpu"}]}, "a claim"),
        ({"limits": {"cpu": 1}}, None),
    ],
)
def test_mn077_other_ways_to_ask(resources: Json, how: str | None) -> None:
    gone = {f"spec.template.cliques[{index}].spec.podSpec.containers[0].resources": None for index in (0, 2)}
    path = "spec.template.cliques[0].spec.podSpec.containers[0].resources"
    _, warnings = judged({"put": {**gone, path: resources}})
    assert [(one.path, one.got) for one in warnings] == ([(path, f'"{how}"')] if how else [])
