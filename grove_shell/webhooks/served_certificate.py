"""The TLS context of the server; its certificate can be replaced while it is in use."""

import asyncio
import ssl
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from grove_shell.webhooks.certificates import BadCertificate, KeyPair, check_key_matches, expiry_of


class ServedCertificate:
    """The certificate that new connections get; existing connections keep theirs.

    Attributes:
        context: of the server.
        key_pair: the served one; None before the first.
        loaded: set with the first certificate.
    """

    def __init__(self) -> None:
        """Begin without a certificate."""
        self.context = _context()
        self.key_pair: KeyPair | None = None
        self.loaded = asyncio.Event()

    @property
    def expires(self) -> float:
        """When the certificate expires, in seconds since 1970; 0 without one."""
        return expiry_of(self.key_pair.certificate).timestamp() if self.key_pair is not None else 0.0

    @property
    def is_valid(self) -> bool:
        """Whether there is a certificate that has not expired."""
        return self.expires > datetime.now(UTC).timestamp()

    def load(self, key_pair: KeyPair) -> None:
        """Serve a certificate from the next connection on.

        It is loaded into a scratch context first: a pair that does not match would leave this context without a key.

        Raises:
            BadCertificate: the certificate that was served before stays.
        """
        check_key_matches(key_pair, "the certificate")
        expiry_of(key_pair.certificate)
        with TemporaryDirectory(prefix="grove-") as folder:  # only this user can read it; the ssl module takes files
            certificate, key = Path(folder, "tls.crt"), Path(folder, "tls.key")
            certificate.write_bytes(key_pair.certificate)
            key.write_bytes(key_pair.key)
            try:
                _context().load_cert_chain(certificate, key)
                self.context.load_cert_chain(certificate, key)
            except ssl.SSLError as fault:
                raise BadCertificate(f"it cannot be served: {fault}") from fault
        self.key_pair = key_pair
        self.loaded.set()


def _context() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context
