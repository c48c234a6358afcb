"""A template hash depends on what was written only."""

import random
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.areas.workload.template_hash import short_text_hash, template_hash_of_clique
from grove_core.resources.podcliqueset_spec import CliqueTemplate
from tests.property.resources.manifests import any_json
from tests.property.workload.sets import Json, clique_raw

SPEC: Final[Json] = {
    "containers": [
        {"name": "main", "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "$(A)"}], "args": ["x", "y"]},
        {"name": "side", "ports": [{"containerPort": 80, "protocol": "TCP"}, {"containerPort": 80, "protocol": "UDP"}]},
    ],
    "volumes": [{"name": "v"}, {"name": "w"}],
}


def hash_of(raw: Json, priority: str = "") -> str:
    return template_hash_of_clique(CliqueTemplate.model_validate(raw), priority)


def test_wl040_vectors() -> None:
    """A change of these rolls every workload there is."""
    assert short_text_hash("") == "8k8z7gq76t"
    assert hash_of(clique_raw("a", pod_spec={"containers": []})) == "dqwcg4nznt"
    assert hash_of(clique_raw("a", pod_spec=SPEC, labels={"l": "1"}, annotations={"n": "2"}), "high") == "ldwbl4lt98"


@given(any_json(), st.randoms(use_true_random=False))
def test_wl040_the_order_of_keys_and_of_keyed_lists_says_nothing(extra: Any, rng: random.Random) -> None:
    def turned(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            keys = list(value)
            rng.shuffle(keys)
            return {name: turned(value[name], name) for name in keys}
        if isinstance(value, list):
            items = [turned(item) for item in value]
            if key in {"containers", "volumes", "ports"}:
                rng.shuffle(items)
            return items
        return value

    spec = {**SPEC, "extra": extra}
    assert hash_of(clique_raw("a", pod_spec=turned(spec))) == hash_of(clique_raw("a", pod_spec=spec))


@pytest.mark.parametrize("key", ["env", "args"])
def test_wl040_order_that_means_something_counts(key: str) -> None:
    first, second = SPEC["containers"]
    turned = {**SPEC, "containers": [{**first, key: first[key][::-1]}, second]}
    assert hash_of(clique_raw("a", pod_spec=turned)) != hash_of(clique_raw("a", pod_spec=SPEC))


def test_wl040_lists_of_other_things_are_left_alone() -> None:
    assert hash_of(clique_raw("a", pod_spec={"volumes": [2, 1]})) != hash_of(
        clique_raw("a", pod_spec={"volumes": [1, 2]})
    )


@pytest.mark.parametrize(
    ("changed", "differs"),
    [
        (clique_raw("b", 5, pod_spec=SPEC, minAvailable=1, startsAfter=["x"], roleName="r"), False),
        (clique_raw("a", pod_spec=SPEC, labels={"a": "b"}), True),
        (clique_raw("a", pod_spec=SPEC, annotations={"a": "b"}), True),
        (clique_raw("a", pod_spec={**SPEC, "nodeSelector": {}}), True),
        (clique_raw("a", pod_spec={**SPEC, "hostNetwork": True}), True),
    ],
)
def test_wl040_what_counts_and_what_does_not(changed: Json, *, differs: bool) -> None:
    assert (hash_of(changed) != hash_of(clique_raw("a", pod_spec=SPEC))) is differs


def test_wl040_the_priority_of_the_set_stands_for_the_pod_s() -> None:
    own = {**SPEC, "priorityClassName": "low"}
    assert hash_of(clique_raw("a", pod_spec=own), "high") == hash_of(clique_raw("a", pod_spec=SPEC), "high")
    assert hash_of(clique_raw("a", pod_spec=own)) != hash_of(clique_raw("a", pod_spec=SPEC))


def test_wl040_true_is_not_one() -> None:
    assert hash_of(clique_raw("a", pod_spec={"x": True})) != hash_of(clique_raw("a", pod_spec={"x": 1}))
