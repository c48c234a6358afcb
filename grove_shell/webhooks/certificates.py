"""The certificates of the webhooks as PEM: one authority and one server certificate, made, read, renewed and served."""

import asyncio
import base64
import ipaddress
import ssl
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.types import CertificateIssuerPrivateKeyTypes
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from grove_shell.settings.webhook_settings import CertificateSettings

FIELDS: Final = ("ca.crt", "ca.key", "tls.crt", "tls.key")
_RENEWED_AT: Final = 3  # renewed when one third of the lifetime is left
_SKEW: Final = timedelta(minutes=5)  # between our clock and those of the API servers
_LONGEST_NAME: Final = 64
_SIGNS_HANDSHAKES: Final = x509.KeyUsage(*(use == 0 for use in range(9)))  # digitalSignature
_SIGNS_CERTIFICATES: Final = x509.KeyUsage(*(use in (5, 6) for use in range(9)))  # keyCertSign and cRLSign


class BadCertificate(Exception):
    """A certificate or a key cannot be parsed or does not match; the message says what is wrong."""


@dataclass(frozen=True, slots=True)
class CertificateKeyPair:
    """A certificate and its private key, as PEM."""

    certificate: bytes
    key: bytes


@dataclass(frozen=True, slots=True)
class WebhookCertificates:
    """The content of the Secret that the replicas share.

    Attributes:
        authorities: to be trusted; the first one signs, the earlier ones stay until they expire.
        authority_key: private key of the first.
        server: certificate and key of the server.
    """

    authorities: tuple[bytes, ...]
    authority_key: bytes
    server: CertificateKeyPair

    @property
    def ca_bundle(self) -> bytes:
        """The authorities in the form of ``caBundle``."""
        return b"".join(self.authorities)

    @property
    def secret_data(self) -> dict[str, str]:
        """The ``data`` of the Secret."""
        values = (self.ca_bundle, self.authority_key, self.server.certificate, self.server.key)
        return {field: base64.b64encode(value).decode() for field, value in zip(FIELDS, values, strict=True)}


def certificate_chain_from_secret(data: Mapping[str, Any]) -> WebhookCertificates:
    """Return the chain in the ``data`` of a Secret. Raises BadCertificate with the first problem."""
    if missing := [field for field in FIELDS if not data.get(field)]:
        raise BadCertificate(f"{', '.join(missing)} is missing")
    try:
        bundle, authority_key, certificate, key = (base64.b64decode(data[field], validate=True) for field in FIELDS)
    except (TypeError, ValueError) as fault:
        raise BadCertificate(f"it cannot be decoded: {fault}") from fault
    try:
        authorities = x509.load_pem_x509_certificates(bundle)
    except ValueError as fault:
        raise BadCertificate(f"{FIELDS[0]}: this is no certificate in PEM ({fault})") from fault
    _check_key(bundle, authority_key, FIELDS[0])
    _check_key(certificate, key, FIELDS[2])
    if not any(is_signed_by_authority(certificate, authority) for authority in authorities):
        raise BadCertificate(f"{FIELDS[2]} is not signed by an authority of {FIELDS[0]}")
    return WebhookCertificates(tuple(map(_pem, authorities)), authority_key, CertificateKeyPair(certificate, key))


def renewed_certificate_chain(
    chain: WebhookCertificates | None, settings: CertificateSettings, names: Sequence[str], now: datetime
) -> WebhookCertificates | None:
    """Return the chain that replaces this one, or a first one; None if no renewal is due (WH-021).

    Args:
        chain: of the Secret; None without one.
        settings: the lifetimes.
        names: DNS names and IP addresses that the certificate must have; it may have more.
        now: the time.
    """
    authority_seconds, seconds = settings.authority_valid_for, settings.valid_for
    if chain is None or _is_due(chain.authorities[0], authority_seconds, now):
        before = () if chain is None else tuple(one for one in chain.authorities if certificate_expiry(one) > now)
        authority = _issued("grove-webhooks", now + timedelta(seconds=authority_seconds), now, None)
        authorities = (authority.certificate, *before)
    elif _is_due(chain.server.certificate, seconds, now) or not (
        subject_alternative_names(chain.server.certificate) >= set(map(as_in_certificates, names))
    ):
        authority, authorities = CertificateKeyPair(chain.authorities[0], chain.authority_key), chain.authorities
    else:
        return None
    until = min(now + timedelta(seconds=seconds), certificate_expiry(authority.certificate))
    return WebhookCertificates(authorities, authority.key, _issued(names[0], until, now, authority, names))


def certificate_expiry(certificate: bytes) -> datetime:
    """Return when a certificate expires. Raises BadCertificate."""
    return _parsed(certificate).not_valid_after_utc


def as_in_certificates(name: str) -> str:
    """Return a DNS name, or an address in the one spelling that certificates are read with."""
    return str(_general(name).value)


def subject_alternative_names(certificate: bytes) -> frozenset[str]:
    """Return the DNS names and IP addresses of a certificate. Raises BadCertificate."""
    try:
        found = _parsed(certificate).extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return frozenset()
    return frozenset(str(one.value) for one in found)


def is_signed_by_authority(certificate: bytes, authority: x509.Certificate) -> bool:
    """Return whether an authority has signed a certificate."""
    try:
        _parsed(certificate).verify_directly_issued_by(authority)
    except (ValueError, TypeError, InvalidSignature):
        return False
    return True


class ServedCertificate:
    """The certificate that new connections get; existing connections keep theirs.

    Attributes:
        context: of the server.
        key_pair: the served one; None before the first.
        loaded: set with the first certificate.
    """

    def __init__(self, callers: str = "") -> None:
        """Serve nothing yet.

        Args:
            callers: file with the authority of client certificates; with one, each connection needs such a certificate.

        Raises:
            BadCertificate: the file has no certificates.
        """
        self.context = _context()
        if callers:
            try:
                self.context.load_verify_locations(callers)
            except OSError as fault:  # also of the ssl module
                raise BadCertificate(f"{callers}: {fault.strerror or fault}") from fault
            self.context.verify_mode = ssl.CERT_REQUIRED
        self.key_pair: CertificateKeyPair | None = None
        self.loaded = asyncio.Event()

    @property
    def expiry_timestamp(self) -> float:
        """When the certificate expires, in seconds since 1970; 0 without one."""
        return certificate_expiry(self.key_pair.certificate).timestamp() if self.key_pair is not None else 0.0

    @property
    def is_valid(self) -> bool:
        """Whether there is a certificate that has not expired."""
        return self.expiry_timestamp > datetime.now(UTC).timestamp()

    def serve_from_next_connection(self, key_pair: CertificateKeyPair) -> None:
        """Serve a certificate from the next connection on.

        It is loaded into a scratch context first: a pair that does not match would leave this context without a key.

        Raises:
            BadCertificate: the certificate that was served before stays.
        """
        _check_key(key_pair.certificate, key_pair.key, "the certificate")
        with TemporaryDirectory(prefix="grove-") as folder:  # only this user can read it; the ssl module takes files
            certificate, key = Path(folder, "tls.crt"), Path(folder, "tls.key")
            certificate.write_bytes(key_pair.certificate)
            key.write_bytes(key_pair.key)
            try:
                for context in (_context(), self.context):
                    context.load_cert_chain(certificate, key)
            except ssl.SSLError as fault:
                raise BadCertificate(f"it cannot be served: {fault}") from fault
        self.key_pair = key_pair
        self.loaded.set()


def _context() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context


def _is_due(certificate: bytes, seconds: float, now: datetime) -> bool:
    return (certificate_expiry(certificate) - now).total_seconds() <= seconds / _RENEWED_AT


def _issued(
    subject: str, until: datetime, now: datetime, issuer: CertificateKeyPair | None, names: Sequence[str] = ()
) -> CertificateKeyPair:
    """Return a new certificate and its key: of a server if there is an issuer, and otherwise of an authority."""
    key = ec.generate_private_key(ec.SECP256R1())
    signing_key, limit = (key, 0) if issuer is None else (_key(issuer.key), None)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, subject[:_LONGEST_NAME])])
    builder = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name if issuer is None else _parsed(issuer.certificate).subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _SKEW)
        .not_valid_after(until.astimezone(UTC))
        .add_extension(x509.BasicConstraints(ca=issuer is None, path_length=limit), critical=True)
        .add_extension(_SIGNS_CERTIFICATES if issuer is None else _SIGNS_HANDSHAKES, critical=True)
    )
    extensions: tuple[x509.ExtensionType, ...] = (x509.SubjectKeyIdentifier.from_public_key(key.public_key()),)
    if issuer is not None:
        extensions = (
            x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]),
            x509.SubjectAlternativeName(map(_general, names)),
            x509.AuthorityKeyIdentifier.from_issuer_public_key(signing_key.public_key()),
        )
    for extension in extensions:
        builder = builder.add_extension(extension, critical=False)
    encoding, no_encryption = serialization.Encoding.PEM, serialization.NoEncryption()
    key_text = key.private_bytes(encoding, serialization.PrivateFormat.PKCS8, no_encryption)
    return CertificateKeyPair(_pem(builder.sign(signing_key, hashes.SHA256())), key_text)


def _general(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _parsed(text: bytes) -> x509.Certificate:
    try:
        return x509.load_pem_x509_certificate(text)
    except ValueError as fault:
        raise BadCertificate(f"this is no certificate in PEM ({fault})") from fault


def _key(text: bytes) -> CertificateIssuerPrivateKeyTypes:
    try:
        key = serialization.load_pem_private_key(text, None)
    except (ValueError, TypeError) as fault:
        raise BadCertificate(f"this is no private key in PEM ({fault})") from fault
    return key  # type: ignore[return-value]  # keys that cannot sign have no certificate either


def _check_key(certificate: bytes, key: bytes, what: str) -> None:
    if _parsed(certificate).public_key() != _key(key).public_key():
        raise BadCertificate(f"the private key does not belong to {what}")


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)
