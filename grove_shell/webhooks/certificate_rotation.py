"""Certificates that are always valid and always trusted: from a Secret that the replicas share, or from files."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from grove_core.kernel.refs import Ref
from grove_core.resources.api_names import CORE, MANAGED_BY
from grove_shell.client.api import Api, Unreachable
from grove_shell.client.response import CONFLICT
from grove_shell.client.response_check import confirms_absence, shows_object
from grove_shell.settings.webhooks import CertificateSettings
from grove_shell.webhooks.certificate_chain import CertificateChain, CertificateTerms, chain_in, renewed_chain
from grove_shell.webhooks.certificates import BadCertificate, KeyPair
from grove_shell.webhooks.registration import NotRegistered, Registration
from grove_shell.webhooks.served_certificate import ServedCertificate

MANAGER: Final = "grove-webhooks"
_SECRETS: Final = "/api/v1/namespaces/{}/secrets"
_SOON: Final = 1.0

Say = Callable[..., None]


class UnusableSecret(Exception):
    """The Secret belongs to somebody else, or is kept from us; the message says what to do."""


class CertificateFiles:
    """Certificates that somebody else renews, such as cert-manager (WH-024)."""

    def __init__(self, shown: ServedCertificate, told: CertificateSettings, say: Say) -> None:
        """Read nothing yet."""
        self._shown = shown
        self._folder = Path(told.directory)
        self._pause = told.check_every
        self._trouble = _Trouble(say)
        self._say = say

    async def run(self) -> None:
        """Look at the files again and again; what does not fit is told, and what was shown before stays."""
        while True:
            try:
                pair = KeyPair((self._folder / "tls.crt").read_bytes(), (self._folder / "tls.key").read_bytes())
                if pair != self._shown.pair:
                    self._shown.show(pair)
                    self._say("info", "certificate loaded", folder=str(self._folder), expires=_date(self._shown))
                self._trouble.over()
            except OSError as fault:
                self._trouble.tell(f"{fault.filename}: {fault.strerror}")
            except BadCertificate as fault:
                self._trouble.tell(f"{self._folder}: {fault}")
            await asyncio.sleep(min(self._pause, _SOON) if self._shown.pair is None else self._pause)


class CertificateSecret:
    """Certificates that the replicas make themselves and share in a Secret; whoever comes first makes them."""

    def __init__(
        self,
        api: Api,
        shown: ServedCertificate,
        registration: Registration,
        told: CertificateSettings,
        *,
        namespace: str,
        names: tuple[str, ...],
        say: Say,
    ) -> None:
        """Ask nothing yet; ``listening`` is to be set when the server is there to be called, by one of ``names``."""
        self.listening = asyncio.Event()
        self._api = api
        self._shown = shown
        self._registration = registration
        self._told = told
        self._place = _SECRETS.format(namespace)
        self._namespace = namespace
        self._ref = Ref(CORE, "Secret", namespace, told.secret)
        self._names = names
        self._say = say
        self._trouble = _Trouble(say)
        self._authority = b""

    async def run(self) -> None:
        """Look at the Secret and at the registration again and again."""
        while True:
            pause = self._told.check_every
            try:
                await self._keep(await self._chain())
                self._trouble.over()
            except (UnusableSecret, NotRegistered, BadCertificate, Unreachable) as fault:
                self._trouble.tell(str(fault))
                pause = min(pause, _SOON)
            await asyncio.sleep(pause)

    async def _keep(self, chain: CertificateChain) -> None:
        """Trusted first, shown then (WH-022).

        Shown at once is what is trusted already, being of the same authority, and what takes the place of nothing.
        """
        is_known = chain.authorities[0] == self._authority
        if not self._shown.is_valid or (is_known and chain.server != self._shown.pair):
            self._show(chain)
        await self.listening.wait()
        changed = await self._registration.trust(chain.bundle)
        if changed:
            self._say("info", "authority registered", at=changed)
        if chain.server != self._shown.pair:
            await asyncio.sleep(self._told.settle)
            self._show(chain)

    def _show(self, chain: CertificateChain) -> None:
        self._shown.show(chain.server)
        self._authority = chain.authorities[0]
        self._say("info", "certificate loaded", secret=self._told.secret, expires=_date(self._shown))

    async def _chain(self) -> CertificateChain:
        """What the replicas share; made or renewed where that is due (WH-020, WH-021).

        Raises:
            NotOurs, Unreachable.
        """
        terms = CertificateTerms(
            names=self._names, valid_for=self._told.valid_for, authority_valid_for=self._told.authority_valid_for
        )
        while True:
            answer = await self._api.request("GET", f"{self._place}/{self._told.secret}")
            if not (shows_object(answer, self._ref) or confirms_absence(answer, self._ref)):
                raise UnusableSecret(answer.message)
            raw: dict[str, Any] = answer.json() if answer.ok else {}
            chain = self._read(raw) if raw else None
            due = renewed_chain(chain, terms, datetime.now(UTC))
            if due is None and chain is not None:
                return chain
            if due is not None and await self._write(raw, due):
                self._say("info", "certificate made" if chain is None else "certificate renewed")
                return due

    def _read(self, raw: dict[str, Any]) -> CertificateChain | None:
        """The chain of our Secret; None where it is broken and to be made anew. Raises NotOurs (WH-023)."""
        secret = f"Secret {self._namespace}/{self._told.secret}"
        if (raw["metadata"].get("labels") or {}).get(MANAGED_BY) != MANAGER:
            raise UnusableSecret(
                f"{secret} was not made by grove webhooks (its label {MANAGED_BY} is not {MANAGER}) and is left alone:"
                " delete it, or name another one in certificates.secret, or use certificates.mode: manual"
            )
        try:
            return chain_in(raw.get("data") or {})
        except BadCertificate as fault:
            self._say("warning", "certificate is made anew", secret=secret, error=str(fault))
            return None

    async def _write(self, before: dict[str, Any], chain: CertificateChain) -> bool:
        """Whether ours is the one that counts; of several replicas one is first, and the others read again."""
        labels = {MANAGED_BY: MANAGER}
        metadata = {"name": self._told.secret, "namespace": self._namespace, "labels": labels}
        body = {"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls", "metadata": metadata}
        if before:
            body = {**before, "data": chain.as_data}
            answer = await self._api.request("PUT", f"{self._place}/{self._told.secret}", body=body)
        else:
            answer = await self._api.request("POST", self._place, body={**body, "data": chain.as_data})
        is_written = shows_object(answer, self._ref)
        if is_written or answer.status == CONFLICT:
            return is_written
        raise UnusableSecret(answer.message)


class _Trouble:
    """What is wrong is said when it begins, and not again until it is over."""

    def __init__(self, say: Say) -> None:
        self._say = say
        self._told = ""

    def tell(self, words: str) -> None:
        if words != self._told:
            self._told = words
            self._say("error", "certificates", error=words)

    def over(self) -> None:
        self._told = ""


def _date(shown: ServedCertificate) -> str:
    return f"{datetime.fromtimestamp(shown.expires, UTC):%Y-%m-%dT%H:%M:%SZ}"
