"""What is shown to who calls: a TLS context whose certificate is changed while it is in use."""

import asyncio
import ssl
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from grove_shell.webhooks.certificates import BadCertificate, KeyPair, check_key_matches, expiry_of


class ServedCertificate:
    """The certificate that new connections see; those that exist keep theirs.

    Attributes:
        context: of the server.
        pair: what is shown; None before the first.
        there: set with the first.
    """

    def __init__(self) -> None:
        """Nothing is shown yet."""
        self.context = _context()
        self.pair: KeyPair | None = None
        self.there = asyncio.Event()

    @property
    def expires(self) -> float:
        """When it ends, in seconds since 1970; 0 where nothing is shown."""
        return expiry_of(self.pair.certificate).timestamp() if self.pair is not None else 0.0

    @property
    def is_valid(self) -> bool:
        """Whether there is one, and it has not ended."""
        return self.expires > datetime.now(UTC).timestamp()

    def show(self, pair: KeyPair) -> None:
        """Show it from the next connection on.

        It is tried on another context first: one that does not fit would leave this one without a key.

        Raises:
            BadCertificate: what was shown before stays.
        """
        check_key_matches(pair, "the certificate")
        expiry_of(pair.certificate)
        with TemporaryDirectory(prefix="grove-") as folder:  # readable by this user alone; the library takes files
            certificate, key = Path(folder, "tls.crt"), Path(folder, "tls.key")
            certificate.write_bytes(pair.certificate)
            key.write_bytes(pair.key)
            try:
                _context().load_cert_chain(certificate, key)
                self.context.load_cert_chain(certificate, key)
            except ssl.SSLError as fault:
                raise BadCertificate(f"it cannot be shown: {fault}") from fault
        self.pair = pair
        self.there.set()


def _context() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context
