"""What is read from a PodCliqueSet: what the user wrote, and every fault of it with its path."""

from datetime import timedelta
from typing import Any, Final

import pytest
from hypothesis import example, given
from pydantic import ValidationError

from grove_core.kernel.errors import MalformedObject
from grove_core.kernel.frozen import freeze
from grove_core.kernel.refs import Ref
from grove_core.resources.podcliqueset import PodCliqueSet, PodCliqueSetStatus, podcliqueset_from_json
from grove_core.resources.podcliqueset_spec import SetSpec, SetTemplate
from tests.property.resources.manifests import (
    Json,
    almost,
    any_json,
    clique_set,
    clique_template,
    condition,
    group_template,
    is_there,
    outcome,
    replaced,
)

CLIQUE: Final = ("spec", "template", "cliques", 0)
GROUP: Final = ("spec", "template", "podCliqueScalingGroups", 0)
SOUND: Final = {**clique_set(), "status": {"replicas": 2, "availableReplicas": 1, "conditions": [condition("Any")]}}


def problems_of(raw: Any) -> dict[str, tuple[str, str]]:
    with pytest.raises(MalformedObject) as caught:
        podcliqueset_from_json(raw)
    return {problem.path: (problem.expected, problem.got) for problem in caught.value.problems}


def spec_of(**template: object) -> SetSpec:
    return podcliqueset_from_json(clique_set(**template)).spec


class TestFields:
    """A set is read as it was written; thresholds are not judged here."""

    def test_every_fact_is_read(self) -> None:
        known = podcliqueset_from_json(SOUND)
        template = known.spec.template
        assert known.ref == Ref("grove.io/v1alpha1", "PodCliqueSet", "ml", "llm")
        assert known.spec.replicas == 2
        assert template.termination_delay == timedelta(hours=4)
        assert [(clique.name, clique.spec.replicas, clique.min_available) for clique in template.cliques] == [
            ("router", 3, 2),
            ("leader", 3, 2),
            ("worker", 3, 2),
        ]
        (group,) = template.pod_clique_scaling_groups
        assert (group.name, group.clique_names, group.replicas, group.min_available, group.termination_delay) == (
            "pool",
            ("leader", "worker"),
            2,
            1,
            timedelta(hours=1),
        )
        assert known.status == PodCliqueSetStatus(replicas=2, available=1, conditions=known.status.conditions)
        assert [stored.type for stored in known.status.conditions] == ["Any"]

    @pytest.mark.req("GT-025")
    def test_what_is_not_written_has_its_default(self) -> None:
        raw = {
            "metadata": {"name": "llm"},
            "spec": {
                "template": {
                    "cliques": [{"name": "a", "spec": {}}],
                    "podCliqueScalingGroups": [{"name": "g", "cliqueNames": []}],
                }
            },
        }
        known = podcliqueset_from_json(raw)
        (clique,), (group,) = known.spec.template.cliques, known.spec.template.pod_clique_scaling_groups
        assert known.spec.replicas == 0
        assert known.spec.template.termination_delay is None
        assert (clique.spec.replicas, clique.spec.min_available, clique.min_available) == (1, None, 1)
        assert (group.replicas, group.min_available, group.termination_delay) == (1, 1, None)
        assert known.status == PodCliqueSetStatus()

    def test_gt025_a_threshold_that_is_not_written_is_the_replicas(self) -> None:
        (clique,) = spec_of(cliques=[clique_template("a", replicas=5, minAvailable=None)]).template.cliques
        assert (clique.spec.min_available, clique.min_available) == (None, 5)

    @pytest.mark.parametrize(
        "place",
        [
            ("spec", "replicas"),
            ("spec", "template", "terminationDelay"),
            ("spec", "template", "podCliqueScalingGroups"),
            (*CLIQUE, "spec", "replicas"),
            (*CLIQUE, "spec", "minAvailable"),
            (*GROUP, "replicas"),
            (*GROUP, "minAvailable"),
            (*GROUP, "terminationDelay"),
            ("status",),
            ("status", "replicas"),
            ("status", "conditions"),
        ],
        ids=lambda place: ".".join(map(str, place)),
    )
    def test_null_is_the_same_as_absent(self, place: tuple[str | int, ...]) -> None:
        null = replaced(SOUND, place, None)
        parent: Any = null
        for key in place[:-1]:
            parent = parent[key]
        without = replaced(SOUND, place[:-1], {key: value for key, value in parent.items() if key != place[-1]})
        assert podcliqueset_from_json(null) == podcliqueset_from_json(without)

    def test_unknown_fields_are_ignored(self) -> None:
        raw = replaced(SOUND, (*CLIQUE, "spec", "somethingElse"), {"containers": [1]})
        raw = replaced(raw, ("spec", "somethingNew"), 5)
        assert podcliqueset_from_json(raw) == podcliqueset_from_json(SOUND)

    @pytest.mark.parametrize(
        ("place", "value"),
        [
            ((*CLIQUE, "spec", "min_available"), 3),
            ((*GROUP, "min_available"), 2),
            ((*GROUP, "termination_delay"), "2h"),
            (("spec", "template", "termination_delay"), "2h"),
        ],
        ids=str,
    )
    def test_a_field_is_known_only_by_the_name_that_the_api_gives_it(
        self, place: tuple[str | int, ...], value: object
    ) -> None:
        raw = clique_set(
            terminationDelay=None,
            cliques=[{"name": "router", "spec": {"replicas": 4}}],
            podCliqueScalingGroups=[{"name": "pool", "cliqueNames": ["router"], "replicas": 4}],
        )
        assert podcliqueset_from_json(replaced(raw, place, value)) == podcliqueset_from_json(raw)

    def test_a_frozen_object_reads_the_same(self) -> None:
        frozen: Any = freeze({"template": {"cliques": []}})
        known = podcliqueset_from_json({"metadata": {"name": "llm"}, "spec": frozen})
        assert known.spec.template.cliques == ()

    def test_a_spec_cannot_be_changed(self) -> None:
        spec = podcliqueset_from_json(SOUND).spec
        with pytest.raises(ValidationError):
            setattr(spec, "replicas", 5)  # noqa: B010 - mypy knows as well that it cannot
        assert hash(spec) == hash(podcliqueset_from_json(SOUND).spec)

    def test_standalone_cliques_are_those_that_no_group_names(self) -> None:
        groups = [group_template("one", "b"), group_template("two", "d", "unknown")]
        spec = spec_of(cliques=[clique_template(name) for name in "abcd"], podCliqueScalingGroups=groups)
        assert [clique.name for clique in spec.standalone_cliques] == ["a", "c"]


class TestDelays:
    """Delays are Go durations; one that is not above zero turns nothing on."""

    @pytest.mark.req("GT-031")
    @pytest.mark.parametrize(
        ("text", "written", "counts"),
        [
            ("4h", timedelta(hours=4), timedelta(hours=4)),
            ("0s", timedelta(), None),
            ("-1h30m", -timedelta(minutes=90), None),
            ("-0", timedelta(), None),
            (None, None, None),
        ],
    )
    def test_gt030_the_delay_that_counts(self, text: str | None, written: timedelta, counts: timedelta) -> None:
        groups = [group_template("pool", "leader", terminationDelay=text)]
        template = spec_of(terminationDelay=text, podCliqueScalingGroups=groups).template
        (group,) = template.pod_clique_scaling_groups
        assert (template.termination_delay, group.termination_delay) == (written, written)
        assert (template.delay, group.delay) == (counts, counts)

    def test_gt030_a_span_made_by_ourselves_is_taken_as_it_is(self) -> None:
        span = timedelta(minutes=5)
        assert SetTemplate(cliques=(), termination_delay=span).delay == span

    @pytest.mark.parametrize(
        "value", ["1d", "", "soon", "-", "--1h", "-+1h", "- 1h", "-1d", "1h-5m", 5, 0, True, [], {}]
    )
    def test_gt090_what_is_no_duration_is_malformed(self, value: object) -> None:
        raw = replaced(SOUND, ("spec", "template", "terminationDelay"), value)
        assert problems_of(replaced(raw, (*GROUP, "terminationDelay"), value)).keys() == {
            "spec.template.terminationDelay",
            "spec.template.podCliqueScalingGroups[0].terminationDelay",
        }


@pytest.mark.req("GT-103")
class TestMalformedSpecs:
    @pytest.mark.parametrize(
        ("place", "value", "expected", "got"),
        [
            (("spec",), None, "an object", "nothing"),
            (("spec",), 5, "an object", "5"),
            (("spec",), [1], "an object", "a list of 1"),
            (("spec", "replicas"), "three", "an integer", '"three"'),
            (("spec", "replicas"), 2.0, "an integer", "2.0"),
            (("spec", "replicas"), True, "an integer", "true"),
            (("spec", "replicas"), 2**31, "an integer of at most 2147483647", "2147483648"),
            (("spec", "replicas"), -(2**31) - 1, "an integer of at least -2147483648", "-2147483649"),
            (("spec", "replicas"), 2**20_000, "an integer of at most 2147483647", "an integer of 20001 bits"),
            (("spec", "template"), None, "a value", "nothing"),
            (("spec", "template"), "x", "an object", '"x"'),
            (("spec", "template", "cliques"), None, "a value", "nothing"),
            (("spec", "template", "cliques"), {"a": 1}, "a list", "an object with 1 key"),
            (CLIQUE, None, "an object", "nothing"),
            (CLIQUE, "router", "an object", '"router"'),
            ((*CLIQUE, "name"), None, "a value", "nothing"),
            ((*CLIQUE, "name"), 5, "a string", "5"),
            ((*CLIQUE, "spec"), None, "a value", "nothing"),
            ((*CLIQUE, "spec", "minAvailable"), "three", "an integer", '"three"'),
            ((*CLIQUE, "spec", "replicas"), {}, "an integer", "an object with 0 keys"),
            ((*CLIQUE, "spec", "podSpec"), "x", "an object", '"x"'),
            ((*CLIQUE, "labels"), {"a": 1}, "an object whose values are strings", "an object with 1 key"),
            (("metadata", "labels"), {"a": 1}, None, None),
            (GROUP, 5, "an object", "5"),
            ((*GROUP, "name"), None, "a value", "nothing"),
            ((*GROUP, "cliqueNames"), None, "a value", "nothing"),
            ((*GROUP, "cliqueNames"), "leader", "a list", '"leader"'),
            ((*GROUP, "cliqueNames", 1), None, "a string", "nothing"),
            ((*GROUP, "cliqueNames", 1), 5, "a string", "5"),
            ((*GROUP, "minAvailable"), 0.5, "an integer", "0.5"),
            (("metadata", "name"), None, "a value", "nothing"),
            (("metadata", "finalizers"), [5], None, None),
            (("status", "replicas"), "two", "an integer of at least 0", '"two"'),
            (("status", "availableReplicas"), -1, "an integer of at least 0", "-1"),
            (("status", "conditions", 0), None, "an object", "nothing"),
        ],
        ids=lambda value: ".".join(map(str, value)) if isinstance(value, tuple) else "",
    )
    def test_a_fault_has_its_path(
        self, place: tuple[str | int, ...], value: object, expected: str | None, got: str | None
    ) -> None:
        path = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in place).removeprefix(".")
        found = problems_of(replaced(SOUND, place, value))
        if expected is None:
            assert found.keys() <= {f"{path}[0]", f"{path}[a]"}
        else:
            assert found[path] == (expected, got)

    def test_a_path_leads_to_the_very_field(self) -> None:
        cliques = [clique_template("a"), clique_template("b", minAvailable="two"), clique_template("c", replicas=[])]
        groups = [group_template("g", "a"), group_template("h", "b", terminationDelay="1d")]
        assert problems_of(clique_set(cliques=cliques, podCliqueScalingGroups=groups)).keys() == {
            "spec.template.cliques[1].spec.minAvailable",
            "spec.template.cliques[2].spec.replicas",
            "spec.template.podCliqueScalingGroups[1].terminationDelay",
        }

    def test_all_faults_are_reported_at_once(self) -> None:
        raw = {
            "metadata": {"finalizers": "a"},
            "spec": {"replicas": "1", "template": {"terminationDelay": "1d", "cliques": [{"spec": 5}]}},
            "status": {"conditions": [{}]},
        }
        assert problems_of(raw).keys() == {
            "metadata.name",
            "metadata.finalizers",
            "spec.replicas",
            "spec.template.terminationDelay",
            "spec.template.cliques[0].name",
            "spec.template.cliques[0].spec",
            "status.conditions[0].type",
            "status.conditions[0].status",
            "status.conditions[0].lastTransitionTime",
        }

    @pytest.mark.parametrize("raw", [[], "set", 5, True])
    def test_what_is_no_object_is_no_set(self, raw: object) -> None:
        assert problems_of(raw).keys() == {"", "metadata.name", "spec"}

    @given(any_json() | almost(SOUND))
    @example(raw=SOUND)
    def test_any_json_is_a_set_or_malformed(self, raw: Any) -> None:
        known = outcome(podcliqueset_from_json, raw)
        assert outcome(podcliqueset_from_json, raw) == known
        if isinstance(known, PodCliqueSet):
            assert known.ref.name
            return
        assert known
        for problem in known:
            assert is_there(raw, problem.path, {other.path for other in known}), problem
            assert problem.expected
            assert not problem.expected.startswith("Input should"), "words of the library, not ours"


def test_the_order_of_keys_does_not_matter() -> None:
    def turned(value: object) -> object:
        if isinstance(value, dict):
            return {key: turned(value[key]) for key in reversed(value)}
        return [turned(item) for item in value] if isinstance(value, list) else value

    other = turned(SOUND)
    assert isinstance(other, dict)
    assert podcliqueset_from_json(other) == podcliqueset_from_json(SOUND)


def test_an_empty_template_is_read_and_left_to_admission() -> None:
    raw: Json = clique_set(cliques=[], podCliqueScalingGroups=[])
    assert podcliqueset_from_json(raw).spec.standalone_cliques == ()
