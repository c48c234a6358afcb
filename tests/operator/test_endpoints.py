"""Addresses at which a process listens (OP-110)."""

import asyncio
import errno
import socket
from typing import Any, Final

import pytest
from aiohttp import ClientSession

from grove_shell.operator.health_server import CannotListen, HealthServer
from grove_shell.settings.operator_settings import OperatorSettings
from grove_shell.settings.webhook_settings import WebhookSettings

NO_IPV6: Final = pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="this machine has no IPv6")
ADDRESSES: Final = ("127.0.0.1", pytest.param("[::1]", marks=NO_IPV6))


def serving(port: int = 0, host: str = OperatorSettings().serving.host) -> HealthServer:
    return HealthServer(host=host, port=port, missing=list, metrics=lambda: b"")


async def health(address: str) -> str:
    async with serving() as port, ClientSession() as session, session.get(f"http://{address}:{port}/healthz") as found:
        return await found.text()


@pytest.mark.parametrize("address", ADDRESSES)
def test_op110_without_a_host_every_address_answers(address: str) -> None:
    assert asyncio.run(health(address)) == "ok\n"


def test_op110_the_webhooks_and_their_health_have_no_host_either() -> None:
    settings = WebhookSettings()
    assert (settings.listening.host, settings.serving.host) == ("", "")


def test_op110_a_machine_without_ipv6_listens_at_ipv4(monkeypatch: pytest.MonkeyPatch) -> None:
    def create(address: Any, *, family: int = socket.AF_INET, **_: Any) -> socket.socket:
        if family != socket.AF_INET:
            raise OSError(errno.EADDRNOTAVAIL, "Cannot assign requested address")
        return real(address)

    real = socket.create_server
    monkeypatch.setattr("socket.create_server", create)
    assert asyncio.run(health("127.0.0.1")) == "ok\n"


@pytest.mark.parametrize(("host", "where"), [("", "port {}"), pytest.param("::1", "[::1]:{}", marks=NO_IPV6)])
def test_in030_a_port_that_is_taken_at_every_address_is_said(host: str, where: str) -> None:
    async def listen(port: int) -> None:
        async with serving(port, host):
            pass

    family = socket.AF_INET6 if socket.has_dualstack_ipv6() else socket.AF_INET
    with socket.create_server(("", 0), family=family, dualstack_ipv6=family == socket.AF_INET6) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(CannotListen, match=rf"^cannot listen at {where.format(port)}: ".replace("[", r"\[")):
            asyncio.run(listen(port))
