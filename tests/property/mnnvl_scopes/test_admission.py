"""Admission of a set's MNNVL annotations (MS-070 to MS-084); cases.yaml was written before the code."""

from pathlib import Path
from typing import Any, Final

import pytest

from grove_core.admit import admit, index_names_used_by_sets
from grove_core.admit_podclique import amend_podgang_at_admission, podcliqueset_name_in_labels
from grove_core.areas.mnnvl_scopes.admit import domain_sharing_groups_of
from grove_core.kernel.admission import AdmitWithChanges, Deny, FieldRemark
from grove_core.resources.api_names import MNNVL_ADOPTED
from grove_core.resources.configuration import DEFAULT_CONFIGURATION, Configuration, MnnvlConfiguration, MnnvlMode
from grove_core.resources.labels import SET
from grove_core.resources.podcliqueset_manifest import read_podcliqueset_manifest
from tests.property.admission_tables import Table, is_meant, same_words, words_of
from tests.property.mnnvl_scopes.sharing_sets import CLASS, ENABLED, GPUS, SCOPE, SCOPED
from tests.property.workload.sets import clique_raw, set_raw

Json = dict[str, Any]
GROUP: Json = {
    "name": "pool",
    "cliqueNames": ["b"],
    "replicas": 3,
    "minAvailable": 1,
    "scaleConfig": {"maxReplicas": 5},
}

TABLE: Final = Table(Path(__file__).parent / "cases.yaml")
CASES: Final = TABLE.cases


def judged(
    put: Json, old: Json | None = None, configuration: Configuration = SCOPED, classes: frozenset[str] | None = None
) -> tuple[list[FieldRemark], list[FieldRemark]]:
    """Objections and warnings."""
    before = TABLE.with_values(old) if old is not None else None
    verdict = admit(TABLE.with_values(put), before, None, configuration, classes).verdict
    return list(verdict.objections if isinstance(verdict, Deny) else ()), list(verdict.warnings)


@pytest.mark.req("MS-071")
@pytest.mark.req("MS-072")
@pytest.mark.req("MS-073")
@pytest.mark.req("MS-074")
@pytest.mark.req("MS-075")
@pytest.mark.req("MS-076")
@pytest.mark.req("MS-077")
@pytest.mark.req("MS-078")
@pytest.mark.req("MS-080")
@pytest.mark.req("MS-081")
@pytest.mark.req("MS-082")
@pytest.mark.req("MS-083")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["why"])
def test_ms070_the_table(case: Json) -> None:
    objections, warnings = judged(case["put"], case.get("old"))
    assert sorted(one.path for one in objections) == sorted(case["refused"]), case["why"]
    for pattern in case.get("warned", ()):
        assert any(is_meant(pattern, one.path) for one in warnings), (pattern, case["why"])
    for pattern in case.get("silent", ()):
        assert not [one for one in warnings if is_meant(pattern, one.path)], (pattern, case["why"])


def test_ms070_the_sentences_of_the_table(*, bless: bool) -> None:
    said = "".join(f"# {case['why']}\n{words_of(*judged(case['put'], case.get('old')))}" for case in CASES)
    same_words(Path(__file__).parent / "words.txt", said, bless=bless)


OPERATOR: Final = Configuration(MnnvlConfiguration(enabled=True))


@pytest.mark.parametrize(
    "configuration", [DEFAULT_CONFIGURATION, OPERATOR, Configuration(MnnvlConfiguration(False, MnnvlMode.ANNOTATIONS))]
)
def test_ms071_scopes_are_judged_in_this_mode_only(configuration: Configuration) -> None:
    """In other modes they have no effect, and a set with them must not be refused."""
    odd = {"spec.template.cliques[0].annotations": {SCOPE: "node", CLASS: ""}}
    assert not judged(odd, None, configuration)[0]
    assert len(judged(odd)[0]) == 2


@pytest.mark.parametrize(
    ("known", "warned"), [(None, []), (frozenset({"x.example.com"}), ["ClassUnknown"]), (frozenset({"a"}), [])]
)
def test_ms084_a_device_class_that_does_not_exist(known: frozenset[str] | None, warned: list[str]) -> None:
    put = {"spec.template.cliques[0].annotations": {ENABLED: "true", CLASS: "a"}}
    _, warnings = judged(put, classes=known)
    assert [one.reason.rule.code for one in warnings] == warned


@pytest.mark.parametrize(
    ("configuration", "refused"), [(SCOPED, True), (OPERATOR, False), (DEFAULT_CONFIGURATION, False)]
)
def test_ms077_two_sets_must_not_share_a_domain(configuration: Configuration, refused: bool) -> None:
    """Clique 1 of the set chat, alone, and replica 1 of the set chat-0, would both have chat-0-1-cd."""
    alone = {ENABLED: "true", SCOPE: "clique"}
    ours = TABLE.with_values({"spec.template.cliques[0].name": "1", "spec.template.cliques[0].annotations": alone})
    theirs = TABLE.with_values({"metadata.name": "chat-0", "metadata.annotations": {ENABLED: "true"}})
    for new, other in ((ours, theirs), (theirs, ours)):
        verdict = admit(new, None, index_names_used_by_sets([new, other]), configuration).verdict
        found = verdict.objections if isinstance(verdict, Deny) else ()
        reported = [one.reason.sentence for one in found if dict(one.reason.facts).get("kind") == "ComputeDomain"]
        assert bool(reported) is refused
        assert all("chat-0-1-cd" in words for words in reported)
    apart = TABLE.with_values({"metadata.name": "chat-0", "metadata.annotations": {ENABLED: "false"}})
    verdict = admit(ours, None, index_names_used_by_sets([ours, apart]), SCOPED).verdict
    found = verdict.objections if isinstance(verdict, Deny) else ()
    assert not [one for one in found if dict(one.reason.facts).get("kind") == "ComputeDomain"]


def test_ms077_a_name_that_is_taken() -> None:
    """By a domain in the cluster whose labels name another set."""
    alone = {ENABLED: "true", SCOPE: "clique"}
    ours = TABLE.with_values({"spec.template.cliques[0].name": "1", "spec.template.cliques[0].annotations": alone})
    labels = {"grove.io/pcs-name": "chat-0", "grove.io/pcs-replica-index": "1"}
    held = {"kind": "ComputeDomain", "metadata": {"name": "chat-0-1-cd", "namespace": "ml", "labels": labels}}
    verdict = admit(ours, None, index_names_used_by_sets([held]), SCOPED).verdict
    assert isinstance(verdict, Deny)
    assert "chat-0-1-cd" in verdict.objections[0].reason.sentence


def test_ms077_a_replica_of_a_group_that_does_not_exist_is_no_user() -> None:
    for last, refused in (("1", True), ("2", False), ("01", False)):
        put = {
            "spec.template.cliques[0].name": f"pool-{last}",
            "spec.template.cliques[0].annotations": {ENABLED: "true", SCOPE: "clique"},
            "spec.template.podCliqueScalingGroups[0].replicas": 2,
            "spec.template.podCliqueScalingGroups[0].annotations": {ENABLED: "true", SCOPE: "scalingGroupReplica"},
        }
        assert bool(judged(put)[0]) is refused, last


@pytest.mark.parametrize(
    ("clique", "group", "refused"),
    [
        ("3", "pool-0", True),
        ("3", "pool-1", True),
        ("3", "pool-2", False),
        ("4", "pool-1", False),
        ("03", "pool-1", False),
        ("3", "pool-01", False),
        ("x-3", "pool-1-x", True),
        ("x-3", "pool-1", False),
        ("3", "pool-1-x", False),
        ("3", "other-1", False),
    ],
)
def test_ms077_a_member_of_one_group_named_like_a_replica_of_another(clique: str, group: str, *, refused: bool) -> None:
    """For any replica of its group."""
    alone = {ENABLED: "true", SCOPE: "clique"}
    small = {"name": "pool", "cliqueNames": [clique], "replicas": 2, "minAvailable": 1}
    shared = {ENABLED: "true", SCOPE: "scalingGroupReplica"}
    large = {"name": group, "cliqueNames": ["w"], "replicas": 4, "minAvailable": 1, "annotations": shared}
    cliques = (clique_raw(clique, pod_spec=GPUS, annotations=alone), clique_raw("w", pod_spec=GPUS))
    verdict = admit(set_raw(*cliques, groups=(small, large)), None, None, SCOPED).verdict
    reported = verdict.objections if isinstance(verdict, Deny) else ()
    assert ["SharedNameTwice" for one in reported if "ComputeDomain" in one.reason.sentence] == [
        "SharedNameTwice"
    ] * refused


def test_ms085_one_claim_has_one_class() -> None:
    """The first named class counts; the others cause a warning each, at the path of their annotation."""
    say = {"metadata.annotations": {ENABLED: "true"}}
    first, second = "spec.template.cliques[0]", "spec.template.cliques[1]"
    for one, other, warned in (("good", "odd", second), ("odd", "good", first)):
        put = {**say, f"{first}.annotations": {CLASS: one}, f"{second}.annotations": {CLASS: other}}
        _, warnings = judged(put, classes=frozenset({"good"}))
        reported = {(remark.reason.rule.code, remark.path) for remark in warnings}
        assert ("ClassUnknown", f"{warned}.annotations[{CLASS}]") in reported
        assert [path for code, path in reported if code == "ClassesDiffer"] == [f"{second}.annotations[{CLASS}]"]
    same = {**say, f"{first}.annotations": {CLASS: "good"}, f"{second}.annotations": {CLASS: "good"}}
    assert not [remark for remark in judged(same)[1] if remark.reason.rule.code == "ClassesDiffer"]


def test_ms085_a_group_overrides_its_cliques() -> None:
    group, clique = "spec.template.podCliqueScalingGroups[0]", "spec.template.cliques[2]"
    put = {
        "metadata.annotations": {ENABLED: "true"},
        f"{group}.annotations": {ENABLED: "true", CLASS: "of.group"},
        f"{clique}.annotations": {CLASS: "of.clique"},
    }
    _, warnings = judged(put)
    paths = [remark.path for remark in warnings if remark.reason.rule.code == "ClassesDiffer"]
    assert paths == [f"{group}.annotations[{CLASS}]"]


def test_ms075_the_objection_quotes_the_old_value() -> None:
    (objection,), _ = judged({}, {"spec.template.cliques[0].annotations": {SCOPE: "clique"}})
    assert (objection.got, objection.reason.rule.code) == ("nothing", "ScopesImmutable")
    assert '"clique"' in objection.reason.sentence


def test_ms081_the_cliques_of_each_element() -> None:
    """The set's annotation reaches standalone cliques, a group's its members."""
    bare = {f"spec.template.cliques[{index}].spec.podSpec.containers[0].resources": None for index in (0, 2)}
    group = {"spec.template.podCliqueScalingGroups[0].annotations": {ENABLED: "true", SCOPE: "scalingGroupReplica"}}
    _, warnings = judged({**bare, **group, "metadata.annotations": {ENABLED: "true"}})
    paths = [one.path for one in warnings if one.reason.rule.code == "NoGpusInScope"]
    annotated = ("metadata", "spec.template.podCliqueScalingGroups[0]")
    assert paths == [f"{place}.annotations[{ENABLED}]" for place in annotated]


def test_ms080_an_opt_out_causes_no_warning() -> None:
    put = {"metadata.annotations": {ENABLED: "true"}, "spec.template.cliques[2].annotations": {ENABLED: "false"}}
    assert not [one for one in judged(put)[1] if one.reason.rule.code == "OutOfReach"]


@pytest.mark.req("MS-044")
def test_ms044_a_new_podgang_is_annotated_in_this_mode_only() -> None:
    raw = {"apiVersion": "scheduler.grove.io/v1alpha1", "kind": "PodGang", "metadata": {"name": "g", "namespace": "ml"}}
    amended, left = (amend_podgang_at_admission(raw, one).verdict for one in (SCOPED, DEFAULT_CONFIGURATION))
    assert isinstance(amended, AdmitWithChanges)
    assert isinstance(left, AdmitWithChanges)
    assert MNNVL_ADOPTED in str(amended.patch)
    assert not left.patch


@pytest.mark.parametrize(("labels", "name"), [(None, ""), ({}, ""), *(({key: "llm"}, "llm") for key in SET.keys)])
def test_ms044_the_set_of_a_podclique_is_that_of_its_label(labels: Json | None, name: str) -> None:
    assert podcliqueset_name_in_labels({"metadata": {"name": "a", "labels": labels}}) == name


@pytest.mark.parametrize(
    ("scope", "pods", "most", "highest"),
    [
        ("replica", [2 + 3 * 4], 5, "llm-1"),
        ("scalingGroupReplica", [4], 5, "llm-1-pool-4"),
    ],
)
def test_ms076_pods_of_a_sharing_group_are_counted_with_replicas(
    scope: str, pods: list[int], most: int, highest: str
) -> None:
    said = {ENABLED: "true", SCOPE: scope}
    of_clique, of_group = ({}, {"annotations": said}) if scope != "replica" else ({"annotations": said}, {})
    raw = set_raw(
        clique_raw("a", 2, pod_spec=GPUS, **of_clique),
        clique_raw("b", 4, pod_spec=GPUS, **of_clique),
        groups=({**GROUP, **of_group},),
        replicas=2,
    )
    manifest, _ = read_podcliqueset_manifest(raw)
    assert manifest is not None
    (crowd,) = [one for one in domain_sharing_groups_of(manifest) if one.scope.value == scope]
    assert ([crowd.pods], crowd.max_replicas, crowd.highest) == (pods, most, highest)


def test_ms077_a_duplicate_name_is_found_at_any_position() -> None:
    """After a clique whose name has no index."""
    alone, together = {ENABLED: "true", SCOPE: "clique"}, {ENABLED: "true", SCOPE: "scalingGroupReplica"}
    cliques = [clique_raw(name, pod_spec=GPUS, annotations=alone) for name in ("a", "pool-1")]
    raw = set_raw(*cliques, clique_raw("b", pod_spec=GPUS), groups=({**GROUP, "annotations": together},))
    verdict = admit(raw, None, None, SCOPED).verdict
    assert isinstance(verdict, Deny)
    (twice,) = [one for one in verdict.objections if one.reason.rule.code == "SharedNameTwice"]
    assert twice.path == "spec.template.cliques[1].name"
    assert twice.reason.subject.short == "PodCliqueSet/llm"


@pytest.mark.parametrize(("place", "subject"), [("set", "no standalone clique"), ("group", "no clique of the group")])
def test_ms081_the_warning_names_what_asks_for_no_gpus(place: str, subject: str) -> None:
    said = {"annotations": {ENABLED: "true"}}
    raw = set_raw(clique_raw("a"), clique_raw("b"), groups=({**GROUP, **(said if place == "group" else {})},))
    raw["metadata"] |= said if place == "set" else {}
    found = [one.reason for one in admit(raw, None, None, SCOPED).verdict.warnings]
    (warning,) = [one for one in found if one.rule.code == "NoGpusInScope"]
    assert warning.sentence.startswith(f"has no effect: {subject} asks for nvidia.com/gpu")
