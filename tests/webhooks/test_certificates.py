"""Certificates of our own: what they say, when they are renewed, and that clients go on trusting them."""

import asyncio
import ssl
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Final

import pytest
import trustme
from cryptography import x509
from hypothesis import given, settings
from hypothesis import strategies as st

from grove_shell.settings.webhook_settings import CertificateSettings, WebhookSettings, parse_webhook_settings
from grove_shell.webhooks.certificates import (
    BadCertificate,
    CertificateKeyPair,
    ServedCertificate,
    WebhookCertificates,
    certificate_chain_from_secret,
    certificate_expiry,
    is_signed_by_authority,
    renewed_certificate_chain,
    subject_alternative_names,
)

NAMES: Final = ("grove-webhooks.grove-system.svc", "127.0.0.1")
NOW: Final = datetime.now(UTC).replace(microsecond=0)
LIFETIMES: Final = CertificateSettings.model_validate({"validFor": "1h", "authorityValidFor": "10h"})


def first() -> WebhookCertificates:
    chain = renewed_certificate_chain(None, LIFETIMES, NAMES, NOW)
    assert chain is not None
    return chain


def shakes_hands(served: ServedCertificate, bundle: bytes, name: str) -> None:
    """Whether a client that trusts the bundle, and nothing else, takes what is served. Raises ssl.SSLError."""

    async def play() -> None:
        async def nothing(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.close()

        tls = ssl.create_default_context(cadata=bundle.decode())
        server = await asyncio.start_server(nothing, "127.0.0.1", 0, ssl=served.context)
        async with server:
            port = server.sockets[0].getsockname()[1]
            _, writer = await asyncio.open_connection("127.0.0.1", port, ssl=tls, server_hostname=name)
            writer.close()

    asyncio.run(play())


def test_wh020_a_chain_survives_its_secret() -> None:
    chain = first()
    assert certificate_chain_from_secret(chain.secret_data) == chain
    assert subject_alternative_names(chain.server.certificate) == set(NAMES)
    assert certificate_expiry(chain.server.certificate) == NOW + timedelta(hours=1)


@pytest.mark.parametrize("name", NAMES)
def test_wh021_clients_take_what_is_made(name: str) -> None:
    served, chain = ServedCertificate(), first()
    served.serve_from_next_connection(chain.server)
    shakes_hands(served, chain.ca_bundle, name)
    with pytest.raises(ssl.SSLError, match="CERTIFICATE_VERIFY_FAILED"):
        shakes_hands(served, first().ca_bundle, name)
    with pytest.raises(ssl.SSLError, match="mismatch"):
        shakes_hands(served, chain.ca_bundle, "example.com")


def looks(seconds: float, step: float) -> Iterator[tuple[datetime, WebhookCertificates, WebhookCertificates]]:
    """Read again and again: when, what was shared before, and what is shared then."""
    now, chain = NOW, first()
    while now < NOW + timedelta(seconds=seconds):
        now += timedelta(seconds=step)
        before, chain = chain, renewed_certificate_chain(chain, LIFETIMES, NAMES, now) or chain
        yield now, before, chain


@given(st.integers(60, 1100))
@settings(max_examples=10)
def test_wh021_nothing_ends_and_trust_never_breaks(step: int) -> None:
    """At any number of reads: what is served is valid, and trusted by every client of the state before."""
    renewals = 0
    for now, before, chain in looks(60_000, step):
        assert certificate_expiry(chain.server.certificate) > now
        assert _signed(chain, chain.authorities[0])
        assert certificate_expiry(chain.authorities[0]) >= certificate_expiry(chain.server.certificate)
        assert any(_signed(before, authority) for authority in chain.authorities), "the old one is trusted still"
        assert len(chain.authorities) <= 2, "what has ended is dropped with the next renewal"
        renewals += chain.authorities[0] != before.authorities[0]
    assert renewals == 2


def _signed(chain: WebhookCertificates, authority: bytes) -> bool:
    return is_signed_by_authority(chain.server.certificate, x509.load_pem_x509_certificate(authority))


def test_wh021_a_name_that_is_lacking_is_added() -> None:
    chain = first()
    found = renewed_certificate_chain(chain, LIFETIMES, (*NAMES, "::1"), NOW)
    assert found is not None
    assert found.authorities == chain.authorities
    assert subject_alternative_names(found.server.certificate) == {*NAMES, "::1"}
    assert renewed_certificate_chain(found, LIFETIMES, NAMES, NOW) is None


def test_wh021_another_spelling_of_an_address_is_no_lacking_name() -> None:
    names = (NAMES[0], "FD00:0::1")  # as given with --url-host; certificates have fd00::1
    chain = renewed_certificate_chain(None, LIFETIMES, names, NOW)
    assert chain is not None
    assert renewed_certificate_chain(chain, LIFETIMES, names, NOW) is None


def test_wh020_what_is_wrong_with_a_secret_is_said() -> None:
    mine, other = first().secret_data, first().secret_data
    for data, words in (
        ({}, "ca.crt, ca.key, tls.crt, tls.key is missing"),
        ({**mine, "tls.key": ""}, "tls.key is missing"),
        ({**mine, "tls.key": "%%%"}, "cannot be decoded"),
        ({**mine, "tls.key": 5}, "cannot be decoded"),
        ({**mine, "ca.crt": "aGVsbG8="}, "no certificate in PEM"),
        ({**mine, "tls.crt": "aGVsbG8="}, "no certificate in PEM"),
        ({**mine, "ca.key": "aGVsbG8="}, "no private key in PEM"),
        ({**mine, "tls.key": other["tls.key"]}, "the private key does not belong to tls.crt"),
        ({**mine, "ca.crt": other["ca.crt"], "ca.key": other["ca.key"]}, "not signed by an authority of ca.crt"),
    ):
        with pytest.raises(BadCertificate, match=words):
            certificate_chain_from_secret(data)


def test_wh021_what_does_not_fit_is_not_shown() -> None:
    served, good, other = ServedCertificate(), first(), first()
    served.serve_from_next_connection(good.server)
    for wrong in (
        CertificateKeyPair(other.server.certificate, good.server.key),
        CertificateKeyPair(good.server.certificate, b""),
        CertificateKeyPair(b"no", good.server.key),
    ):
        with pytest.raises(BadCertificate):
            served.serve_from_next_connection(wrong)
        assert served.key_pair == good.server
        shakes_hands(served, good.ca_bundle, NAMES[0])
    served.serve_from_next_connection(other.server)
    shakes_hands(served, other.ca_bundle, NAMES[0])


def test_wh021_certificates_of_others_are_shown_too() -> None:
    authority, served = trustme.CA(), ServedCertificate()
    issued = authority.issue_cert("localhost")
    served.serve_from_next_connection(
        CertificateKeyPair(issued.cert_chain_pems[0].bytes(), issued.private_key_pem.bytes())
    )
    shakes_hands(served, authority.cert_pem.bytes(), "localhost")
    assert served.is_valid


def test_in030_everything_has_a_default() -> None:
    assert parse_webhook_settings({}) == (WebhookSettings(), ())
    written, problems = parse_webhook_settings({"certificates": {"validFor": "720h"}, "listening": {"port": 8443}})
    assert problems == ()
    assert (written.certificates.valid_for, written.listening.port) == (720 * 3600, 8443)


def test_in030_mistakes_are_reported_together() -> None:
    wrong = {
        "kind": "OperatorConfiguration",
        "certificates": {"mode": "sometimes", "validFor": 5, "checkEvery": "-1s"},
        "listening": {"port": 70_000},
        "color": "red",
    }
    settings_read, problems = parse_webhook_settings(wrong)
    assert settings_read == WebhookSettings()
    paths = {"kind", "certificates.mode", "certificates.validFor", "certificates.checkEvery", "listening.port", "color"}
    assert {problem.path for problem in problems} == paths
    _, (problem,) = parse_webhook_settings({"certificates": {"validFor": "10h", "authorityValidFor": "1h"}})
    assert problem.path == "certificates"


def test_in030_names_that_no_server_takes_are_mistakes() -> None:
    registered = {"service": "a.b", "mutating": "A", "validating": "a/b"}
    _, problems = parse_webhook_settings({"certificates": {"secret": ""}, "registration": registered})
    places = [f"registration.{field}" for field in registered]
    assert [problem.path for problem in problems] == ["certificates.secret", *places]
