"""What an API server would ask about a set."""

import base64
import json
from typing import Any

Json = dict[str, Any]


def review(new: Json | None, old: Json | None = None, **request: Any) -> Json:
    """A review of a creation, or of a change where there is an old one."""
    asked = {
        "uid": "7f3c",
        "kind": {"group": "grove.io", "version": "v1alpha1", "kind": "PodCliqueSet"},
        "resource": {"group": "grove.io", "version": "v1alpha1", "resource": "podcliquesets"},
        "namespace": "ml",
        "operation": "CREATE" if old is None else "UPDATE",
        "object": new,
        "oldObject": old,
        "dryRun": False,
        **request,
    }
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": asked}


def set_of(*, name: str = "llm", min_available: int = 2, delay: str | None = None, **metadata: Any) -> Json:
    """A set of one clique of three pods."""
    pod = {"containers": [{"name": "main", "image": "example.com/main:1"}]}
    clique = {"name": "a", "spec": {"roleName": "a", "replicas": 3, "minAvailable": min_available, "podSpec": pod}}
    template: Json = {"cliques": [clique], **({"terminationDelay": delay} if delay else {})}
    return {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodCliqueSet",
        "metadata": {"name": name, "namespace": "ml", **metadata},
        "spec": {"replicas": 1, "template": template},
    }


def patch_of(response: Json) -> list[Json]:
    """The JSON patch of an answer."""
    steps: list[Json] = json.loads(base64.b64decode(response["patch"])) if "patch" in response else []
    return steps


def patched(value: Any, steps: list[Json]) -> Any:
    """A value after a JSON patch, by the letter of RFC 6902 as far as it is used."""
    whole = json.loads(json.dumps({"": value}))
    for step in steps:
        *path, last = [part.replace("~1", "/").replace("~0", "~") for part in step["path"].split("/")]
        place = whole
        for part in path:
            place = place[int(part)] if isinstance(place, list) else place[part]
        key: Any = int(last) if isinstance(place, list) else last
        if step["op"] == "remove":
            del place[key]
        else:
            assert step["op"] == ("replace" if isinstance(place, list) or key in place else "add")
            place[key] = step["value"]
    return whole[""]
