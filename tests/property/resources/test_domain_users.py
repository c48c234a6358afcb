"""Users of shared ComputeDomains by their labels, and the claims that are written for them (MS-020 to MS-036)."""

from typing import Any, Final

import pytest

from grove_core.kernel.frozen import FrozenMap, freeze, thaw_json
from grove_core.resources.api_names import CLAIM_VERSIONS
from grove_core.resources.configuration import ServedApis
from grove_core.resources.domain_and_claim_formats import resource_claim_format_to_write
from grove_core.resources.domain_sharing import ComputeDomainUser, clique_indices_from_labels
from grove_core.resources.domain_sharing_labels import domain_user_in_manifest_labels
from grove_core.resources.podclique import podclique_from_json

Json = dict[str, Any]
META: Final[Json] = {"name": "llm-0-a", "namespace": "ml", "uid": "u", "resourceVersion": "1", "generation": 3}
LABELS: Final = {"app.kubernetes.io/part-of": "llm", "grove.io/podcliqueset-replica-index": "0"}


def a_map(value: Json) -> FrozenMap:
    found = freeze(value)
    assert isinstance(found, FrozenMap)
    return found


@pytest.mark.parametrize("group", ["llm-0-pool", "pool"])
def test_ms020_a_position_in_a_group_is_found_by_full_and_short_names(group: str) -> None:
    labels = {**LABELS, "grove.io/podcliquescalinggroup": group, "grove.io/podcliquescalinggroup-replica-index": "1"}
    raw = {"metadata": {**META, "name": "llm-0-pool-1-b", "labels": labels}, "spec": {"podSpec": {}}}
    position = clique_indices_from_labels(podclique_from_json(raw))
    assert position is not None
    assert (position.clique, position.group) == ("b", ("llm-0-pool", 1))


@pytest.mark.parametrize(("version", "nested"), list(zip(CLAIM_VERSIONS, (True, True, False), strict=True)))
def test_ms023_newer_versions_ask_for_exactly_this(version: str, *, nested: bool) -> None:
    dialect = resource_claim_format_to_write(ServedApis(claims=version))
    asked = {"deviceClassName": "c", "count": 1}
    request = {"name": "r", "exactly": asked} if nested else {"name": "r", **asked}
    assert dialect.api_version == version
    assert thaw_json(dialect.spec_for("r", a_map(asked))) == {"devices": {"requests": [request]}}


def test_ms036_labels_name_the_objects_it_will_serve() -> None:
    shared = {**LABELS, "grove.io/mnnvl-managed": "true"}
    assert domain_user_in_manifest_labels(a_map({"metadata": {"labels": shared}})) == ComputeDomainUser(
        "llm", "0", "", "", ""
    )
    assert domain_user_in_manifest_labels(a_map({"metadata": {"labels": LABELS}})) is None
    assert domain_user_in_manifest_labels(a_map({"metadata": {}})) is None
