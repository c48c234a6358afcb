"""The certificates that an API server trusts, entry by entry, whatever the webhooks are configured for (WH-025)."""

import asyncio
import base64
import json
from typing import Any, Final

import pytest
from aiohttp import web

from grove_shell.client.api_session import ApiSession
from grove_shell.settings.webhook_settings import (
    DEFAULTING,
    GUARDING,
    JOINED,
    MUTATING,
    PATHS,
    VALIDATING,
    VALIDATION,
    CertificateSettings,
)
from grove_shell.webhooks.certificate_rotation import CertificatesFromSecret
from grove_shell.webhooks.certificates import ServedCertificate
from grove_shell.webhooks.webhook_registration import (
    WebhookNotRegistered,
    WebhookRegistration,
    admission_configurations,
)
from tests.webhooks.object_server import ObjectServer
from tests.webhooks.reviews import Json

BUNDLE: Final = base64.b64encode(b"ours").decode()
THEIRS: Final = "policy.example.com"


class Registered(ObjectServer):
    """It keeps two configurations, and merges what is patched by the names of webhooks, as API servers do.

    Attributes:
        stored: plural -> webhook -> its `clientConfig`.
        patches: the webhooks of each patch, in order.
    """

    def __init__(self, mutating: tuple[str, ...], validating: tuple[str, ...]) -> None:
        super().__init__()
        self.stored: dict[str, dict[str, Json]] = {
            plural: {name: {"service": {"name": "grove-webhooks"}} for name in names}
            for plural, names in ((MUTATING, mutating), (VALIDATING, validating))
        }
        self.patches: list[list[str]] = []

    async def _hear(self, request: web.Request) -> web.Response:
        webhooks = self.stored[request.path.split("/")[-2]]
        if request.method == "PATCH":
            body = json.loads(await request.text())
            self.patches.append([one["name"] for one in body["webhooks"]])
            for one in body["webhooks"]:
                webhooks[one["name"]] |= one["clientConfig"]
        stored = {"metadata": {"name": request.path.rpartition("/")[2]}}
        return web.json_response(
            {**stored, "webhooks": [{"name": name, "clientConfig": one} for name, one in webhooks.items()]}
        )


def trusted(server: Registered, times: int = 1, url: str = "", **reported: Any) -> list[str]:
    """What the last of several reads changed."""

    async def play() -> list[str]:
        changed: list[str] = []
        async with server.connection() as connection, ApiSession(connection, tries=1) as api:
            registration = WebhookRegistration(api, admission_configurations("defaults", "checks", **reported), url=url)
            for _ in range(times):
                changed = await registration.register_authorities(b"ours")
        return changed

    return asyncio.run(play())


@pytest.mark.parametrize("reported", [{}, {"sharing": True, "validates_topologies": True}])
def test_wh025_every_entry_of_ours_is_kept_right_whatever_is_on(reported: Json) -> None:
    """What is registered may be called until it is applied anew, and an authority may end before that."""
    server = Registered((DEFAULTING, *JOINED), (THEIRS, VALIDATION, *GUARDING))
    assert trusted(server, **reported) == ["defaults", "checks"]
    assert server.patches == [[DEFAULTING, *JOINED], [VALIDATION, *GUARDING]]
    for webhooks in server.stored.values():
        for name, client in webhooks.items():
            assert client.get("caBundle") == (None if name == THEIRS else BUNDLE)
    assert trusted(server, **reported) == []
    assert len(server.patches) == 2
    server.stored[VALIDATING][GUARDING[0]]["caBundle"] = ""
    assert trusted(server, **reported) == ["checks"]
    assert server.patches[2:] == [[GUARDING[0]]]


def test_wh025_an_address_is_that_of_each() -> None:
    server = Registered((DEFAULTING, *JOINED), (VALIDATION, *GUARDING))
    assert trusted(server, 2, url="https://192.0.2.1:9443") == []
    for webhooks in server.stored.values():
        for name, client in webhooks.items():
            assert client == {"caBundle": BUNDLE, "url": f"https://192.0.2.1:9443{PATHS[name]}", "service": None}


def test_wh025_missing_requirements_are_reported_and_the_rest_is_maintained() -> None:
    server = Registered((DEFAULTING,), (VALIDATION, GUARDING[1]))
    with pytest.raises(WebhookNotRegistered) as reported:
        trusted(server, sharing=True, validates_topologies=True)
    assert f"{MUTATING}/defaults has no webhook {JOINED[0]} and no {JOINED[1]}" in str(reported.value)
    assert f"{VALIDATING}/checks has no webhook {GUARDING[0]}: it is not ours" in str(reported.value)
    assert server.patches == [[DEFAULTING], [VALIDATION, GUARDING[1]]]
    assert trusted(Registered((DEFAULTING,), (VALIDATION,))) == ["defaults", "checks"], "nothing else is needed"


@pytest.mark.req("OP-065")
def test_wh025_a_login_page_is_no_registration() -> None:
    class Proxy(ObjectServer):
        async def _hear(self, request: web.Request) -> web.Response:
            return web.Response(text="<html>please log in</html>")

    async def play() -> None:
        async with Proxy().connection() as connection, ApiSession(connection, tries=1) as api:
            await WebhookRegistration(api, admission_configurations("defaults", "checks")).register_authorities(b"ours")

    with pytest.raises(WebhookNotRegistered, match="please log in"):
        asyncio.run(play())


@pytest.mark.req("OP-065")
def test_wh020_no_certificate_is_made_for_a_login_page() -> None:
    """It would have no other reader: the other replicas read what the server stores."""

    class Proxy(ObjectServer):
        async def _hear(self, request: web.Request) -> web.Response:
            self.asked[request.method] += 1
            return web.Response(text="<html>please log in</html>")

    reported, proxy = list[str](), Proxy()

    async def play() -> None:
        async with proxy.connection() as connection, ApiSession(connection, tries=1) as api:
            shared = CertificatesFromSecret(
                api,
                ServedCertificate(),
                WebhookRegistration(api, admission_configurations("defaults", "checks")),
                CertificateSettings(),
                namespace="grove-system",
                names=("grove-webhooks.grove-system.svc",),
                report=lambda level, message, **_fields: reported.append(f"{level}: {message}"),
            )
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(shared.run(), 0.3)

    asyncio.run(play())
    assert set(proxy.asked) == {"GET"}
    assert reported == ["error: certificates"], "said once, with what came"
