"""What Kubernetes takes for naming_rules, labels, annotations and variables; and the names that are made of others."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.resources import naming_rules
from grove_core.resources.naming_rules import (
    is_annotation_key,
    is_dns_label,
    is_dns_subdomain,
    is_environment_variable_name,
    is_label_key,
    is_label_value,
    total_annotation_bytes,
)

ALPHABET = st.text(st.sampled_from("aZ09-._/é\n ="), max_size=8)


@pytest.mark.parametrize(
    ("text", "label", "subdomain", "key", "value", "variable"),
    [
        ("a", True, True, True, True, True),
        ("", False, False, False, True, False),
        ("a-b", True, True, True, True, True),
        ("0", True, True, True, True, False),
        ("a.b", False, True, True, True, True),
        ("a..b", False, False, True, True, True),
        ("a_b", False, False, True, True, True),
        ("A", False, False, True, True, True),
        ("-a", False, False, False, False, True),
        ("a-", False, False, False, False, True),
        ("a/b", False, False, True, False, False),
        ("a_/b", False, False, False, False, False),
        ("a.b/C", False, False, True, False, False),
        ("a\n", False, False, False, False, False),
        ("é", False, False, False, False, False),
        ("x" * 63, True, True, True, True, True),
        ("x" * 64, False, True, False, False, True),
        ("x" * 253, False, True, False, False, True),
        ("x" * 254, False, False, False, False, True),
        (".", False, False, False, False, False),
        ("..a", False, False, False, False, False),
        (".a", False, False, False, False, True),
    ],
)
def test_each_has_its_own_alphabet(
    text: str, label: bool, subdomain: bool, key: bool, value: bool, variable: bool
) -> None:
    found = (is_dns_label(text), is_dns_subdomain(text), is_label_key(text), is_label_value(text))
    assert (*found, is_environment_variable_name(text)) == (label, subdomain, key, value, variable)


@given(ALPHABET)
def test_what_is_stricter_is_included(text: str) -> None:
    assert is_dns_label(text) <= is_dns_subdomain(text)
    assert is_dns_label(text) <= is_label_value(text)
    assert (is_label_value(text) and bool(text)) <= is_label_key(text)
    assert is_label_key(text) <= is_annotation_key(text)


def test_the_size_of_annotations_is_in_bytes() -> None:
    assert total_annotation_bytes({}) == 0
    assert total_annotation_bytes({"a": "é", "b": "\ud800"}) == 7


SHORT = st.from_regex(r"[a-z]([-a-z0-9]{0,6}[a-z0-9])?", fullmatch=True)
INDEX = st.integers(0, 2**31 - 1)


@given(SHORT, INDEX, SHORT, INDEX, SHORT)
def test_an_index_is_found_after_its_owner(owner: str, index: int, group: str, inner: int, clique: str) -> None:
    scaled = naming_rules.scaling_group_name(owner, index, group)
    assert naming_rules.replica_index_in_name(owner, scaled) == index
    assert naming_rules.replica_index_in_name(owner, naming_rules.standalone_clique_name(owner, index, clique)) == index
    assert naming_rules.replica_index_in_name(scaled, naming_rules.member_clique_name(scaled, inner, clique)) == inner
    assert naming_rules.parse_replica_index(naming_rules.pod_hostname(owner, index).removeprefix(f"{owner}-")) == index
    assert (
        naming_rules.parse_replica_index(naming_rules.scaled_gang_name(scaled, inner).removeprefix(f"{scaled}-"))
        == inner
    )


def test_names_are_those_of_the_existing_operator() -> None:
    assert naming_rules.scaled_gang_name("inf-1-pool", 0) == "inf-1-pool-0"
    assert naming_rules.pod_hostname("inf-1-pool-2-worker", 0) == "inf-1-pool-2-worker-0"
    assert naming_rules.shared_claim_name("inf-1-pool", None, "cache") == "inf-1-pool-all-cache"
    assert naming_rules.shared_claim_name("inf", 0, "cache") == "inf-0-cache"
    assert naming_rules.rbac_role_label("inf") == "grove.io-pcs-inf"


def test_many_names_are_counted() -> None:
    assert naming_rules.name_list_text([]) == "none"
    assert naming_rules.name_list_text(["b", "a"]) == "a, b"
    assert naming_rules.name_list_text(f"{number:02}" for number in range(21)).endswith("18, 19 and 1 more")


@given(st.sampled_from(["a", "a-cd-0", "cd", "a-0-b", "a-cd"]), st.integers(0, 10**9))
def test_mn005_a_domain_is_named_after_its_set_and_replica(owner: str, index: int) -> None:
    name = naming_rules.compute_domain_name(owner, index)
    assert naming_rules.set_name_of_compute_domain(name) == owner
    assert naming_rules.replica_index_of_compute_domain(owner, name) == index
    assert naming_rules.replica_index_of_compute_domain(f"{owner}x", name) is None


@pytest.mark.parametrize("name", ["a-cd-", "a-cd-01", "a-cd-x", "a", "a-cd-0-1", "cd-0", "a-cd-0x"])
def test_mn005_other_names_are_those_of_none(name: str) -> None:
    assert naming_rules.set_name_of_compute_domain(name) == ""
    assert naming_rules.replica_index_of_compute_domain("a", name) is None
