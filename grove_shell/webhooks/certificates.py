"""Makes and reads certificates as PEM: a private authority and the certificates it signs. Nothing is stored."""

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.types import CertificateIssuerPrivateKeyTypes
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_SKEW: Final = timedelta(minutes=5)  # between our clock and those of the API servers
_LONGEST_NAME: Final = 64


class BadCertificate(Exception):
    """A certificate or a key cannot be parsed or does not match; the message says what is wrong."""


@dataclass(frozen=True, slots=True)
class KeyPair:
    """A certificate and its private key, as PEM."""

    certificate: bytes
    key: bytes


def new_authority(now: datetime, seconds: float) -> KeyPair:
    """Return a new authority that is valid for so many seconds."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = _name("grove-webhooks")
    own = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    builder = (
        _builder(name, name, key, now, now + timedelta(seconds=seconds))
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs_certificates=True), critical=True)
        .add_extension(own, critical=False)
    )
    return _pair(builder.sign(key, hashes.SHA256()), key)


def new_certificate(authority: KeyPair, names: Sequence[str], now: datetime, seconds: float) -> KeyPair:
    """Return a server certificate for DNS names or IP addresses; it expires no later than its authority."""
    issuer, issuer_key = _certificate(authority.certificate), _key(authority.key)
    key = ec.generate_private_key(ec.SECP256R1())
    until = min(now + timedelta(seconds=seconds), issuer.not_valid_after_utc)
    builder = (
        _builder(_name(names[0]), issuer.subject, key, now, until)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectAlternativeName([_general(name) for name in names]), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key()), critical=False)
    )
    return _pair(builder.sign(issuer_key, hashes.SHA256()), key)


def expiry_of(certificate: bytes) -> datetime:
    """Return when the first certificate of a PEM text expires. Raises BadCertificate."""
    return _certificate(certificate).not_valid_after_utc


def names_of(certificate: bytes) -> frozenset[str]:
    """Return the DNS names and IP addresses of a certificate. Raises BadCertificate."""
    try:
        found = _certificate(certificate).extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return frozenset()
    return frozenset((*found.get_values_for_type(x509.DNSName), *map(str, found.get_values_for_type(x509.IPAddress))))


def split(bundle: bytes) -> tuple[bytes, ...]:
    """Return each certificate of a PEM text with several. Raises BadCertificate."""
    try:
        return tuple(_pem(one) for one in x509.load_pem_x509_certificates(bundle))
    except ValueError as fault:
        raise BadCertificate(f"this is no certificate in PEM ({fault})") from fault


def check_key_matches(pair: KeyPair, what: str) -> None:
    """Raise BadCertificate unless the key belongs to the certificate."""
    if _certificate(pair.certificate).public_key() != _key(pair.key).public_key():
        raise BadCertificate(f"the private key does not belong to {what}")


def check_signed(certificate: bytes, authority: bytes) -> None:
    """Raise BadCertificate unless the authority signed the certificate."""
    try:
        _certificate(certificate).verify_directly_issued_by(_certificate(authority))
    except Exception as fault:  # the library raises three kinds of exceptions
        raise BadCertificate("the certificate is not signed by the authority beside it") from fault


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, now: datetime, until: datetime
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _SKEW)
        .not_valid_after(until.astimezone(UTC))
    )


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        encipher_only=False,
        decipher_only=False,
    )


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text[:_LONGEST_NAME])])


def _general(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _certificate(text: bytes) -> x509.Certificate:
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


def _pair(certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> KeyPair:
    return KeyPair(
        _pem(certificate),
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()),
    )


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)
