"""Raw objects of PodCliqueSets for tests of the cache."""

from typing import Any, Final

from grove_core.resources.api_names import GROVE
from tests.property.workload.sets import clique_raw, set_raw

Json = dict[str, Any]
NAMESPACE: Final = "ml"


def a_set(name: str, uid: str) -> Json:
    raw = set_raw(clique_raw("a", 2), meta={"name": name, "uid": uid})
    return {"apiVersion": GROVE, "kind": "PodCliqueSet", **raw}
