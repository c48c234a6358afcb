"""ResourceClaimTemplates in the cache: they belong to no set, and concern every set that names them."""

from typing import Any

import pytest

from grove_core.kernel.frozen import thaw_json
from grove_core.resources.api_names import CLAIM_TEMPLATE_KIND, CLAIMS
from grove_shell.cache.cluster_cache import ClusterCache
from grove_shell.cache.root_keys import RootKey
from tests.operator.cached_objects import NAMESPACE, Json, a_set
from tests.property.workload.sets import NOW


def a_template(version: str, request: str, *, name: str = "t", namespace: str = NAMESPACE) -> Json:
    spec = {"spec": {"devices": {"requests": [{"name": request}]}}}
    meta = {"namespace": namespace, "name": name, "uid": f"uid of {name}", "resourceVersion": version}
    return {"apiVersion": CLAIMS, "kind": CLAIM_TEMPLATE_KIND, "metadata": meta, "spec": spec}


def sharing(name: str, *templates: tuple[str, str]) -> Json:
    """A set that names these templates, by namespace and name."""
    entries = [{"name": template, "namespace": where, "scope": "AllReplicas"} for where, template in templates]
    raw = a_set(name, f"uid-{name}")
    raw["metadata"]["resourceVersion"] = "1"
    raw["spec"]["template"]["resourceSharing"] = entries
    return raw


def shown(cache: ClusterCache) -> set[tuple[str, str]]:
    """The templates that the set sees, each with the name of its request."""
    seen = cache.snapshot_of_set((NAMESPACE, "llm"), NOW)
    assert seen is not None
    specs: dict[str, Any] = {name: thaw_json(spec) for (_, name), spec in seen.claim_templates.items()}
    return {(name, spec["spec"]["devices"]["requests"][0]["name"]) for name, spec in specs.items()}


@pytest.mark.req("WL-021")
def test_op002_a_claim_template_requeues_only_the_sets_that_name_it() -> None:
    requeued: list[RootKey] = []
    cache = ClusterCache()
    for raw in (sharing("llm", (NAMESPACE, "t"), ("far", "x")), sharing("chat", (NAMESPACE, "u"))):
        cache.put("PodCliqueSet", raw)
    cache.changed = requeued.append
    for event, expected in (
        (a_template("5", "a"), [(NAMESPACE, "llm")]),
        (a_template("6", "b"), [(NAMESPACE, "llm")]),
        (a_template("6", "b"), []),
        (a_template("7", "b", name="u"), [(NAMESPACE, "chat")]),
        (a_template("8", "b", name="x"), []),
        (a_template("9", "b", name="x", namespace="far"), [(NAMESPACE, "llm")]),
    ):
        requeued.clear()
        cache.put(CLAIM_TEMPLATE_KIND, event)
        assert requeued == expected
    requeued.clear()
    cache.drop(CLAIM_TEMPLATE_KIND, a_template("6", "b"))
    assert requeued == [(NAMESPACE, "llm")]
    changed = sharing("llm", ("far", "x"))
    changed["metadata"]["resourceVersion"] = "10"
    cache.put("PodCliqueSet", changed)
    requeued.clear()
    cache.put(
        CLAIM_TEMPLATE_KIND, {**a_template("11", "b"), "metadata": {**a_template("11", "b")["metadata"], "uid": "2"}}
    )
    assert requeued == []
    cache.drop("PodCliqueSet", changed)
    requeued.clear()
    cache.drop(CLAIM_TEMPLATE_KIND, a_template("9", "b", name="x", namespace="far"))
    assert requeued == []


def test_op002_older_news_of_a_claim_template_changes_nothing() -> None:
    cache = ClusterCache()
    cache.put("PodCliqueSet", sharing("llm", (NAMESPACE, "t")))
    for version, request in (("5", "new"), ("3", "old"), ("5", "as old")):
        cache.put(CLAIM_TEMPLATE_KIND, a_template(version, request))
        assert shown(cache) == {("t", "new")}
    cache.replace_all_of_kind(CLAIM_TEMPLATE_KIND, [], "4")
    assert shown(cache) == {("t", "new")}
    cache.replace_all_of_kind(CLAIM_TEMPLATE_KIND, [a_template("6", "newer")], "6")
    assert shown(cache) == {("t", "newer")}
    cache.drop(CLAIM_TEMPLATE_KIND, a_template("7", "newer"))
    cache.put(CLAIM_TEMPLATE_KIND, a_template("6", "newer"))
    assert shown(cache) == set()


def test_op004_a_claim_template_that_is_not_shown_any_more_is_unknown() -> None:
    cache = ClusterCache()
    cache.put("PodCliqueSet", sharing("llm", (NAMESPACE, "t")))
    cache.put(CLAIM_TEMPLATE_KIND, a_template("5", "new"))
    cache.mark_kind_unlisted(CLAIM_TEMPLATE_KIND, "forbidden")
    assert shown(cache) == set()
