"""Fields of a PodCliqueSet that only releases after the newest known one have (WL-161, GF-134)."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.resources.newer_release_fields import (
    is_newer_release_field,
    is_unknown_grove_kind,
    newer_release_fields_in,
)
from tests.property.resources.manifests import any_json

Json = dict[str, Any]


@given(st.lists(st.booleans(), max_size=3), st.lists(st.booleans(), max_size=3), st.booleans(), st.booleans())
@pytest.mark.req("WL-161")
def test_gf134_every_newer_field_of_a_set_is_found(
    cliques: list[bool], groups: list[bool], coherent: bool, mapped: bool
) -> None:
    def parts(newer: list[bool]) -> list[Json]:
        return [{"name": "x", **({"rollingUpdate": {"maxUnavailable": 1}} if one else {})} for one in newer]

    raw: Json = {
        "spec": {
            "updateStrategy": {"type": "Coherent" if coherent else "RollingRecreate"},
            "template": {"cliques": parts(cliques), "podCliqueScalingGroups": parts(groups)},
        },
        "status": {"podGangMapping": {}} if mapped else {},
    }
    in_template = [
        *(f"spec.template.cliques[{index}].rollingUpdate" for index, newer in enumerate(cliques) if newer),
        *(
            f"spec.template.podCliqueScalingGroups[{index}].rollingUpdate"
            for index, newer in enumerate(groups)
            if newer
        ),
    ]
    found = list(newer_release_fields_in(raw))
    assert found == [
        *(["spec.updateStrategy.type"] if coherent else []),
        *in_template,
        *(["status.podGangMapping"] if mapped else []),
    ]
    assert list(filter(is_newer_release_field, found)) == in_template


@given(any_json(), any_json())
def test_gf134_whatever_stands_there_is_read(spec: object, template: object) -> None:
    """The words that mark a newer release are not among those that are drawn."""
    assert list(newer_release_fields_in({"spec": spec, "status": template})) == []
    assert list(newer_release_fields_in({"spec": {"template": template, "updateStrategy": spec}})) == []


@pytest.mark.parametrize(
    ("path", "newer"),
    [
        ("spec.template.cliques[0].rollingUpdate", True),
        ("spec.template.podCliqueScalingGroups[12].rollingUpdate", True),
        ("spec.template.cliques[0].rollingUpdates", False),
        ("spec.template.cliques[0].spec.rollingUpdate", False),
        ("spec.rollingUpdate", False),
    ],
)
def test_wl161_a_field_is_newer_at_its_own_place_alone(path: str, newer: bool) -> None:
    assert is_newer_release_field(path) is newer


@pytest.mark.parametrize(
    ("kind", "group", "newer"),
    [("PodGangMap", "grove.io", True), ("PodGang", "grove.io", False), ("PodGangMap", "example.com", False)],
)
def test_gf134_a_kind_is_newer_in_the_groups_of_grove(kind: str, group: str, newer: bool) -> None:
    assert is_unknown_grove_kind(kind, group, {"PodGang"}) is newer
