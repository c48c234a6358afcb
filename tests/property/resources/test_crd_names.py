"""Names of custom resource definitions: which of them an API server gives to one definition alone (MF-010)."""

from typing import Any, Final

import pytest
from hypothesis import event, example, given
from hypothesis import strategies as st

from grove_core.resources.crd_name_clashes import (
    CrdNameField,
    crd_name_clashes,
    crd_names_from_definition,
    crd_names_from_discovery,
)

Json = dict[str, Any]
WORDS = st.sampled_from(["aa", "bb", "cc", "dd"])


@st.composite
def definitions(draw: st.DrawFn) -> Json:
    """A definition with few words to choose its names from, installed or not."""
    plural, kind = draw(WORDS), draw(WORDS).title()
    group = draw(st.sampled_from(["grove.io", "example.com"]))
    names: Json = {"plural": plural, "kind": kind, "shortNames": draw(st.lists(WORDS, max_size=2))}
    found: Json = {"metadata": {"name": f"{plural}.{group}"}, "spec": {"group": group, "names": names}}
    if draw(st.booleans()):
        found["status"] = {"acceptedNames": {**names, "singular": kind.lower(), "listKind": f"{kind}List"}}
    return found


OURS: Final[Json] = {
    "metadata": {"name": "aa.grove.io"},
    "spec": {"group": "grove.io", "names": {"plural": "aa", "kind": "Aa", "shortNames": ["cc"]}},
}
THEIRS: Final[Json] = {
    "metadata": {"name": "bb.grove.io"},
    "spec": {"group": "grove.io", "names": {"plural": "bb", "kind": "Bb", "shortNames": ["cc"]}},
    "status": {"acceptedNames": {"plural": "bb", "kind": "Bb", "shortNames": ["cc"]}},
}


@example(OURS, THEIRS)
@given(definitions(), definitions())
@pytest.mark.req("CL-032")
def test_mf010_two_definitions_clash_where_they_share_a_name_in_a_group(one: Json, other: Json) -> None:
    first, second = crd_names_from_definition(one), crd_names_from_definition(other)
    assert first is not None
    assert second is not None
    shared = {name.uniqueness_key for name in first.asked} & {name.uniqueness_key for name in second.asked}
    apart = first.definition != second.definition
    found = crd_name_clashes([second], [first])
    event(f"{min(len(found), 2)} clashes")
    assert found == crd_name_clashes([second, second], [first])
    assert crd_name_clashes([first, second], []) == (), "none of the two is ours"
    both_hold = {
        key for key in shared if first.has_accepted_name(key) and second.has_accepted_name(key)
    }  # no API server gives a name twice
    assert {clash.name.uniqueness_key for clash in found} == (
        shared - both_hold if apart and first.group == second.group else set()
    )
    for clash in found:
        named = {first.definition: first, second.definition: second}
        assert {clash.definition, clash.holder} == named.keys()
        assert clash.is_held == named[clash.holder].has_accepted_name(clash.name.uniqueness_key)
        assert not named[clash.definition].has_accepted_name(clash.name.uniqueness_key)
        assert ("is taken by" in clash.sentence) == clash.is_held
        assert all(word in clash.sentence for word in (clash.definition, clash.holder, f'"{clash.name.text}"'))


@given(definitions())
def test_mf010_discovery_lists_the_names_of_a_definition_without_its_list_kind(raw: Json) -> None:
    names = crd_names_from_definition(raw)
    assert names is not None
    asked, group = raw["spec"]["names"], raw["spec"]["group"]
    listed = {
        "name": asked["plural"],
        "singularName": asked["kind"].lower(),
        "kind": asked["kind"],
        "shortNames": asked["shortNames"],
    }
    served = crd_names_from_discovery(group, listed)
    assert served is not None
    assert served.definition == names.definition
    assert served.asked == served.accepted == {name for name in names.asked if name.role is not CrdNameField.LIST_KIND}
    assert crd_names_from_discovery(group, {**listed, "name": f"{asked['plural']}/status"}) is None, "a subresource"


@pytest.mark.parametrize("lacks", ["group", "plural", "kind"])
def test_mf010_a_definition_without_a_group_or_a_name_has_no_names(lacks: str) -> None:
    spec: Json = {"group": "grove.io", "names": {"plural": "aa", "kind": "Aa"}}
    assert crd_names_from_definition({"spec": spec}) is not None
    left = {key: value for key, value in spec["names"].items() if key != lacks}
    assert (
        crd_names_from_definition({"spec": {**spec, "names": left, **({"group": ""} if lacks == "group" else {})}})
        is None
    )
