"""The certificates in the Secret that the replicas share, and when they are renewed."""

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from grove_shell.webhooks.certificates import (
    BadCertificate,
    KeyPair,
    check_key_matches,
    check_signed,
    expiry_of,
    names_of,
    new_authority,
    new_certificate,
    split,
)

AUTHORITIES: Final = "ca.crt"
AUTHORITY_KEY: Final = "ca.key"
CERTIFICATE: Final = "tls.crt"
KEY: Final = "tls.key"
_FIELDS: Final = (AUTHORITIES, AUTHORITY_KEY, CERTIFICATE, KEY)
_RENEWED_AT: Final = 3  # renewed when one third of the lifetime is left


@dataclass(frozen=True, slots=True, kw_only=True)
class CertificateTerms:
    """Names in the certificate, and the lifetimes in seconds."""

    names: tuple[str, ...]
    valid_for: float
    authority_valid_for: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CertificateChain:
    """The content of the Secret.

    Attributes:
        authorities: to be trusted; the first one signs, the earlier ones stay until they expire.
        authority_key: private key of the first.
        server: certificate and key of the server.
    """

    authorities: tuple[bytes, ...]
    authority_key: bytes
    server: KeyPair

    @property
    def bundle(self) -> bytes:
        """The authorities in the form of ``caBundle``."""
        return b"".join(self.authorities)

    @property
    def signing_pair(self) -> KeyPair:
        """The authority that signs, with its key."""
        return KeyPair(self.authorities[0], self.authority_key)

    @property
    def secret_data(self) -> dict[str, str]:
        """The ``data`` of the Secret."""
        fields = (self.bundle, self.authority_key, self.server.certificate, self.server.key)
        return {key: base64.b64encode(value).decode() for key, value in zip(_FIELDS, fields, strict=True)}


def chain_in(data: Mapping[str, Any]) -> CertificateChain:
    """Return the chain in the ``data`` of a Secret.

    Raises:
        BadCertificate: the first problem.
    """
    missing = [key for key in _FIELDS if not data.get(key)]
    if missing:
        raise BadCertificate(f"{', '.join(missing)} is missing")
    try:
        bundle, authority_key, certificate, key = (base64.b64decode(data[key], validate=True) for key in _FIELDS)
    except (binascii.Error, TypeError, ValueError) as fault:
        raise BadCertificate(f"it cannot be decoded: {fault}") from fault
    chain = CertificateChain(authorities=split(bundle), authority_key=authority_key, server=KeyPair(certificate, key))
    check_key_matches(chain.signing_pair, AUTHORITIES)
    check_key_matches(chain.server, CERTIFICATE)
    if not any(_signs(authority, certificate) for authority in chain.authorities):
        raise BadCertificate(f"{CERTIFICATE} is not signed by an authority of {AUTHORITIES}")
    return chain


def renewed_chain(chain: CertificateChain | None, terms: CertificateTerms, now: datetime) -> CertificateChain | None:
    """Return the chain that replaces this one, or a first one; None if no renewal is due (WH-021)."""
    if chain is None or _is_due(chain.authorities[0], terms.authority_valid_for, now):
        authority = new_authority(now, terms.authority_valid_for)
        before = () if chain is None else tuple(one for one in chain.authorities if expiry_of(one) > now)
        server = new_certificate(authority, terms.names, now, terms.valid_for)
        return CertificateChain(
            authorities=(authority.certificate, *before), authority_key=authority.key, server=server
        )
    current = chain.server.certificate
    if _is_due(current, terms.valid_for, now) or not names_of(current) >= set(terms.names):
        server = new_certificate(chain.signing_pair, terms.names, now, terms.valid_for)
        return CertificateChain(authorities=chain.authorities, authority_key=chain.authority_key, server=server)
    return None


def _is_due(certificate: bytes, seconds: float, now: datetime) -> bool:
    return (expiry_of(certificate) - now).total_seconds() <= seconds / _RENEWED_AT


def _signs(authority: bytes, certificate: bytes) -> bool:
    try:
        check_signed(certificate, authority)
    except BadCertificate:
        return False
    return True
