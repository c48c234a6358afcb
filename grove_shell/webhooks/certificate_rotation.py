"""Keeps the served certificate valid and trusted: from a Secret that the replicas share, or from files."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from grove_core.kernel.refs import Ref
from grove_core.resources.api_names import CORE, MANAGED_BY
from grove_core.resources.object_metadata import metadata_in
from grove_shell.client.api_kinds import url_path_of_ref
from grove_shell.client.api_response import CONFLICT
from grove_shell.client.api_session import ApiSession, NoServerResponse
from grove_shell.client.proxy_response_check import response_confirms_absence, response_is_about_object
from grove_shell.settings.webhook_settings import CertificateSettings
from grove_shell.webhooks.certificates import (
    BadCertificate,
    CertificateKeyPair,
    ServedCertificate,
    WebhookCertificates,
    as_in_certificates,
    certificate_chain_from_secret,
    renewed_certificate_chain,
    subject_alternative_names,
)
from grove_shell.webhooks.webhook_registration import WebhookNotRegistered, WebhookRegistration

MANAGER: Final = "grove-webhooks"
_RETRY: Final = 1.0  # s

Report = Callable[..., None]
"""Writes a log line: level, message and fields."""


class UnusableCertificateSecret(Exception):
    """The Secret was made by something else, or cannot be read or written; the message says what to do."""


class CertificateRefresher:
    """Refreshes the served certificate again and again; an error is logged once until it ends."""

    def __init__(self, served: ServedCertificate, settings: CertificateSettings, report: Report) -> None:
        self._served = served
        self._settings = settings
        self._report = report

    async def run(self) -> None:
        """Refresh it until cancelled."""
        last_error = ""
        while True:
            error = ""
            try:
                await self._refresh()
            except OSError as fault:
                error = f"{fault.filename}: {fault.strerror}"
            except (UnusableCertificateSecret, WebhookNotRegistered, BadCertificate, NoServerResponse) as fault:
                error = str(fault)
            if error and error != last_error:
                self._report("error", "certificates", error=error)
            last_error = error
            await asyncio.sleep(min(self._settings.check_every, _RETRY) if error else self._settings.check_every)

    async def _refresh(self) -> None:
        """Serve the certificate that is to be served now. Raises why it is not."""
        raise NotImplementedError

    def _serve(self, pair: CertificateKeyPair, **source: str) -> None:
        self._served.serve_from_next_connection(pair)
        expires = datetime.fromtimestamp(self._served.expiry_timestamp, UTC)
        self._report("info", "certificate loaded", **source, expires=f"{expires:%Y-%m-%dT%H:%M:%SZ}")


class CertificatesFromFiles(CertificateRefresher):
    """Serves certificates from files that something else renews, such as cert-manager (WH-021)."""

    def __init__(self, served: ServedCertificate, settings: CertificateSettings, report: Report, *, name: str) -> None:
        """Read no file yet.

        Args:
            served, settings, report: of the process.
            name: DNS name or address by which the API server calls.
        """
        super().__init__(served, settings, report)
        self._name = as_in_certificates(name)

    async def _refresh(self) -> None:
        folder = Path(self._settings.directory)
        pair = CertificateKeyPair((folder / "tls.crt").read_bytes(), (folder / "tls.key").read_bytes())
        if pair != self._served.key_pair:
            try:
                self._serve(pair, folder=str(folder))
            except BadCertificate as fault:
                raise BadCertificate(f"{folder}: {fault}") from fault
            found = subject_alternative_names(pair.certificate)
            if not found & {self._name, f"*.{self._name.partition('.')[2]}"}:
                self._report(
                    "warning",
                    "the API server refuses this certificate",
                    folder=str(folder),
                    error=f"it has no subject alternative name {self._name}, by which the API server calls",
                    names=sorted(found),
                )


class CertificatesFromSecret(CertificateRefresher):
    """Serves certificates that the replicas make and share in a Secret; the first replica makes them.

    Attributes:
        listening: set by the caller once the server accepts connections.
    """

    def __init__(
        self,
        api: ApiSession,
        served: ServedCertificate,
        registration: WebhookRegistration,
        settings: CertificateSettings,
        *,
        namespace: str,
        names: tuple[str, ...],
        report: Report,
    ) -> None:
        """Send no request yet.

        Args:
            api, served, registration, settings, report: of the process.
            namespace: of the Secret.
            names: DNS names and addresses by which the API server calls.
        """
        super().__init__(served, settings, report)
        self.listening = asyncio.Event()
        self._api = api
        self._registration = registration
        self._ref = Ref(CORE, "Secret", namespace, settings.secret)
        self._names = names
        self._authority = b""

    async def _refresh(self) -> None:
        """Register the authority first, then serve its certificate (WH-021).

        A certificate is served at once if its authority is trusted already, or if no valid one is served.
        """
        chain = await self._chain()
        is_known = chain.authorities[0] == self._authority
        if not self._served.is_valid or (is_known and chain.server != self._served.key_pair):
            self._serve_chain(chain)
        await self.listening.wait()
        if changed := await self._registration.register_authorities(chain.ca_bundle):
            self._report("info", "authority registered", at=changed)
        if chain.server != self._served.key_pair:
            await asyncio.sleep(self._settings.settle)
            self._serve_chain(chain)

    def _serve_chain(self, chain: WebhookCertificates) -> None:
        self._serve(chain.server, secret=self._ref.name)
        self._authority = chain.authorities[0]

    async def _chain(self) -> WebhookCertificates:
        """Return the shared chain, made or renewed if that is due (WH-020, WH-021).

        Raises:
            UnusableCertificateSecret, Unreachable.
        """
        while True:
            response = await self._api.request("GET", url_path_of_ref(self._ref))
            if not (response_is_about_object(response, self._ref) or response_confirms_absence(response, self._ref)):
                raise UnusableCertificateSecret(response.error_message)
            raw: dict[str, Any] = response.json_body() if response.is_success else {}
            chain = self._parse(raw) if raw else None
            due = renewed_certificate_chain(chain, self._settings, self._names, datetime.now(UTC))
            if due is None and chain is not None:
                return chain
            if due is not None and await self._write(raw, due):
                self._report("info", "certificate made" if chain is None else "certificate renewed")
                return due

    def _parse(self, raw: dict[str, Any]) -> WebhookCertificates | None:
        """Return the chain in our Secret, or None if it is broken (WH-020). Raises UnusableCertificateSecret."""
        secret = f"Secret {self._ref.namespace}/{self._ref.name}"
        if metadata_in(raw).labels.get(MANAGED_BY) != MANAGER:
            raise UnusableCertificateSecret(
                f"{secret} was not made by grove webhooks (its label {MANAGED_BY} is not {MANAGER}) and is left alone:"
                " delete it, or name another one in certificates.secret, or use certificates.mode: manual"
            )
        try:
            return certificate_chain_from_secret(raw.get("data") or {})
        except BadCertificate as fault:
            self._report("warning", "broken certificate is replaced", secret=secret, error=str(fault))
            return None

    async def _write(self, before: dict[str, Any], chain: WebhookCertificates) -> bool:
        """Create or replace the Secret; return False if another replica wrote first, and it has to be read again."""
        path, data = url_path_of_ref(self._ref), {"data": chain.secret_data}
        if before:
            response = await self._api.request("PUT", path, body={**before, **data})
        else:
            meta = {"name": self._ref.name, "namespace": self._ref.namespace, "labels": {MANAGED_BY: MANAGER}}
            body = {"apiVersion": CORE, "kind": "Secret", "type": "kubernetes.io/tls", "metadata": meta, **data}
            response = await self._api.request("POST", path.rpartition("/")[0], body=body)
        is_written = response_is_about_object(response, self._ref)
        if is_written or response.status == CONFLICT:
            return is_written
        raise UnusableCertificateSecret(response.error_message)
