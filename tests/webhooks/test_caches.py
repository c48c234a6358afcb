"""Copies of topologies, of their users, and of the owners of bound pods, whatever happened before."""

from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.admit_cluster_topology import topology_admission_view_of
from grove_core.resources.api_names import BINDING_KIND, SET_KIND, TOPOLOGY_KIND
from grove_core.resources.cluster_topology import DEFAULT_TOPOLOGY, TOPOLOGY_KINDS
from grove_core.resources.podclique import podclique_from_json
from grove_shell.webhooks.admission_cache import AdmissionCache
from tests.property.topology.sets_to_admit import a_set
from tests.property.topology.sets_with_constraints import ON
from tests.webhooks.reviews import Json
from tests.webhooks.topology_webhooks import clique

NAMES: Final = ("", "aws-p5", "flat", "gone")
NEWS: Final = st.one_of(
    st.tuples(
        st.just(SET_KIND),
        st.sampled_from(["llm", "b"]),
        st.tuples(st.sampled_from(NAMES), st.sampled_from([None, "rack"])),
    ),
    st.tuples(
        st.just("PodClique"),
        st.sampled_from(["x", "y", "z"]),
        st.tuples(st.sampled_from(["llm", "b"]), st.sampled_from([None, 0, 1, 2])),
    ),
    st.tuples(st.sampled_from(TOPOLOGY_KINDS), st.sampled_from(["aws-p5", "flat"]), st.sampled_from([1, 2, "broken"])),
)
CHANGES: Final = st.lists(st.tuples(NEWS, st.sampled_from(["put", "put", "drop", "again"])), max_size=25)


def object_of(kind: str, name: str, how: Any) -> Json:
    if kind == SET_KIND:
        raw = a_set(*how)
        raw["metadata"]["name"] = name
        return raw
    if kind == "PodClique":
        return clique(name, *how)
    levels: Any = "none" if how == "broken" else [{"domain": "rack", "key": f"k{index}"} for index in range(how)]
    return {"apiVersion": "grove.io/v1alpha1", "kind": kind, "metadata": {"name": name}, "spec": {"levels": levels}}


@given(CHANGES)
@pytest.mark.req("TP-002")
@pytest.mark.req("TP-049")
def test_wh005_the_copies_say_what_the_objects_themselves_would(changes: list[Any]) -> None:
    """One event after another, in whatever order: the same as if all there is were read at once."""
    cache = AdmissionCache(ON)
    there: dict[str, dict[str, Json]] = {kind: {} for kind in cache.stores}
    for kind in cache.stores:
        cache.replace_all_of_kind(kind, (), "1")
    for version, ((kind, name, how), what) in enumerate(changes, 2):
        raw = object_of(kind, name, how)
        raw["metadata"] |= {"uid": name, "resourceVersion": str(version)}
        if what == "drop":
            there[kind].pop(name, None)
            cache.drop(kind, raw)
        else:
            there[kind][name] = raw
            cache.put(kind, raw)
        if what == "again":
            cache.mark_kind_unlisted(kind, "cut")
            cache.replace_all_of_kind(kind, list(there[kind].values()), str(version))
    of = {kind: list(found.values()) for kind, found in there.items()}
    cliques = [podclique_from_json(one) for one in of["PodClique"]]
    expected = topology_admission_view_of([*of[TOPOLOGY_KIND], *of[BINDING_KIND]], of[SET_KIND], cliques)
    assert cache.view_for_sets.topologies == (expected.topologies or {})
    assert cache.view_for_sets.scheduled == (expected.scheduled or {})
    assert cache.view_for_sets.unreadable == expected.unreadable
    for name in ("aws-p5", "flat", "gone", DEFAULT_TOPOLOGY):
        users = cache.view_for_topology(name).users
        assert users is not None
        if cliques:
            assert users[name] == (expected.users or {}).get(name, ())
