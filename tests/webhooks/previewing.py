"""What the tests of previews ask: edits of a recorded set, and the responses of a preview."""

import asyncio
import copy
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import yaml

from grove_core.resources.configuration import NOT_DISCOVERED, Configuration
from grove_shell.client.api_session import ApiSession
from grove_shell.policies.policy_reading import policies_of_objects
from grove_shell.settings.webhook_settings import PREVIEW_LABELS, parse_webhook_settings
from grove_shell.views.plan.admission_preview_warnings import LONGEST
from grove_shell.webhooks.admission_review import AdmissionRequest, parse_admission_review
from grove_shell.webhooks.update_preview import UpdatePreviewer
from tests.webhooks.preview_server import PreviewServer
from tests.webhooks.reviews import Json, review

CLUSTER: Final = Path("examples/real-cluster.yaml")
NOW: Final = datetime(2026, 11, 21, 9, 40, 15, tzinfo=UTC)
SINCE: Final = {"reason": "Any", "lastTransitionTime": "2026-11-21T09:00:00Z"}
NAME: Final = "qwen"
PREFIX: Final = "update preview: "
EDITED: Final = ("worker", "router")


def objects() -> list[Json]:
    """Every object of the cluster."""
    loaded = yaml.load_all(CLUSTER.read_text(encoding="utf-8"), yaml.CSafeLoader)
    return [one for document in loaded for one in document.get("items", [document])]


OBJECTS: Final = objects()


def stored(name: str = NAME) -> Json:
    (found,) = (one for one in OBJECTS if (one["kind"], one["metadata"]["name"]) == ("PodCliqueSet", name))
    return copy.deepcopy(found)


def with_image(*cliques: str, name: str = NAME, image: str = "example.com/other:2") -> Json:
    edited = stored(name)
    for one in edited["spec"]["template"]["cliques"]:
        if one["name"] in cliques:
            one["spec"]["podSpec"]["containers"][0]["image"] = image
    return edited


def request(new: Json, old: Json | None = None, **more: Any) -> AdmissionRequest:
    asked = review(new, stored(new["metadata"]["name"]) if old is None else old, **more)
    found, problems = parse_admission_review(json.dumps(asked).encode())
    assert found is not None, problems
    return found


def answered(asked: AdmissionRequest, server: PreviewServer, seconds: float = 5.0, **settings: Any) -> Json:
    """The response of a preview with these settings."""
    parsed, problems = parse_webhook_settings({"preview": settings})
    assert not problems
    policies, faults = policies_of_objects(parsed.preview.policies, "settings")
    assert not faults

    async def play() -> Json:
        async with server.connection() as connection, ApiSession(connection, tries=1) as api:
            preview = UpdatePreviewer(
                api,
                parsed.preview,
                Configuration(),
                NOT_DISCOVERED,
                lambda *_words, **_fields: None,
                policies,
                request_seconds=seconds,
                clock=lambda: NOW,
            )
            return dict((await preview.respond(asked))["response"])

    return asyncio.run(play())


def warnings(response: Json) -> list[str]:
    assert response["allowed"]
    found: list[str] = response.get("warnings", [])
    assert all(one.startswith(PREFIX) and len(one) <= LONGEST for one in found)
    return [one.removeprefix(PREFIX) for one in found]


def labels(**values: str) -> Json:
    return {f"{PREVIEW_LABELS}{key.replace('_', '-')}": value for key, value in values.items()}
