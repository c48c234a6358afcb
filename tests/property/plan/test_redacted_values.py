"""An edit of a redacted set has the changes of the edit of the set itself, but for fields that it names (ED-015)."""

import copy
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.document.edit_format import edit_as_json, edit_forecast_from_json
from grove_core.plan.update_forecast import EditForecast
from grove_core.resources.edited_manifest_fields import manifest_changes
from grove_shell.reading.redacted_values import with_hidden_values_kept
from grove_shell.redaction import ObjectRedaction
from tests.simulation.sample_sets import clique_raw, set_raw

Json = dict[str, Any]
TEXTS: Final = st.sampled_from(("", "one", "two", "ftp://me:secret@example.com/x"))
VARIABLES: Final = st.lists(st.fixed_dictionaries({"name": st.sampled_from("AB"), "value": TEXTS}), max_size=3)
CONTAINERS: Final = st.fixed_dictionaries(
    {"name": st.just("main"), "image": st.sampled_from(("a:1", "a:2"))},
    optional={"args": st.lists(TEXTS, max_size=3), "env": VARIABLES},
)
MANIFESTS: Final = st.tuples(CONTAINERS, st.dictionaries(st.sampled_from(("team", "owner")), TEXTS))


def set_of(drawn: tuple[Json, Json]) -> Json:
    """Return a set with a container and annotations."""
    container, annotations = drawn
    manifest = copy.deepcopy(set_raw(clique_raw("a", 1, 1)))
    manifest["metadata"]["annotations"] = annotations
    manifest["spec"]["template"]["cliques"][0]["spec"]["podSpec"] = {"containers": [container]}
    return manifest


@pytest.mark.req("ED-015")
@given(MANIFESTS, MANIFESTS)
def test_ed015_every_change_is_seen_or_named(before: tuple[Json, Json], after: tuple[Json, Json]) -> None:
    stored, manifest = set_of(before), set_of(after)
    (redacted,) = ObjectRedaction(b"salt").redacted_objects([stored])
    kept, hidden = with_hidden_values_kept(manifest, redacted)
    seen = {one.path for one in manifest_changes(redacted, kept)}
    named = {one.path for one in hidden}
    really = {one.path for one in manifest_changes(stored, manifest)}
    assert really <= seen | named
    assert seen <= really
    assert with_hidden_values_kept(redacted, redacted) == (redacted, ())
    edit = EditForecast(manifest_changes(redacted, kept), None, hidden=hidden)
    assert edit_forecast_from_json(edit_as_json(edit)) == edit
    assert edit.may_change_more == any(path.startswith("spec") for path in named)
