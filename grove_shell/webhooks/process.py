"""One process of the webhooks; several run side by side, and none of them leads."""

import asyncio
from collections.abc import Coroutine, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TextIO

from grove_core.resources.configuration import NOT_DISCOVERED, ServedApis
from grove_core.version import VERSION
from grove_shell.client.api import Api
from grove_shell.client.connection import Connection
from grove_shell.client.reflector import Reflector
from grove_shell.exits import DONE
from grove_shell.operator.health_server import CannotListen, HealthServer, listening_at
from grove_shell.operator.json_log import JsonLog
from grove_shell.operator.taken_names import log_taken_names
from grove_shell.settings.webhooks import WebhookSettings
from grove_shell.until_stopped import until_stopped
from grove_shell.webhooks.admission_server import AdmissionServer
from grove_shell.webhooks.caches import caches_for
from grove_shell.webhooks.certificate_rotation import CertificateFiles, CertificateSecret
from grove_shell.webhooks.registration import Registration
from grove_shell.webhooks.served_certificate import ServedCertificate
from grove_shell.webhooks.webhook_metrics import WebhookMetrics


@dataclass(kw_only=True)
class Process:
    """What one process of the webhooks is told.

    Attributes:
        namespace: where the Service and the Secret are.
        watched: whose sets are known and judged; empty for all namespaces.
        served: what the API server offers.
        url_host: name or address by which the API server calls from outside the cluster's network; empty inside.
        stop: ends the process when it is set, as a signal does.
    """

    connection: Connection
    settings: WebhookSettings
    namespace: str
    watched: str = ""
    url_host: str = ""
    served: ServedApis = NOT_DISCOVERED
    out: TextIO | None = None
    stop: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self) -> int:
        """Run until a signal; returns the exit code.

        Raises:
            CannotListen: then nothing was served.
        """
        shown = ServedCertificate()
        telemetry = WebhookMetrics(lambda: shown.expires)
        agent = f"grove-webhooks/{VERSION}"
        async with Api(self.connection, on_response=telemetry.requested, user_agent=agent) as api:
            return await _Running(self, api, shown, telemetry).run()


class _Running:
    """The parts of a process that runs."""

    def __init__(self, told: Process, api: Api, shown: ServedCertificate, telemetry: WebhookMetrics) -> None:
        self._told = told
        self._api = api
        self._shown = shown
        self._telemetry = telemetry
        self._journal = JsonLog(told.out)
        self._copies = caches_for(api, told.settings.configuration, told.served, everywhere=not told.watched)
        self._reflectors = [
            Reflector(api, self._copies.kinds[kind], copy, namespace=told.watched, report=self._trouble)
            for kind, copy in self._copies.cache.items()
        ]
        registered, certificates = told.settings.registration, told.settings.certificates
        suffix = f"-{told.watched}" if told.watched else ""
        self._registration = Registration(
            api,
            mutating=f"{registered.mutating}{suffix}",
            validating=f"{registered.validating}{suffix}",
            shared=self._copies.sharing is not None,
            guarded=self._copies.placing is not None and self._copies.placing.guarded,
        )
        make = partial(
            CertificateSecret, api, shown, self._registration, namespace=told.namespace, names=self._dns_names()
        )
        self._shared = make(certificates, say=self._journal.report) if certificates.mode == "auto" else None
        self._keeping = self._shared or CertificateFiles(shown, certificates, self._journal.report)
        self._listens = False

    async def run(self) -> int:
        """Until somebody asks for the end."""
        served = self._told.settings.serving
        serving = HealthServer(host=served.host, port=served.port, missing=self._missing, metrics=self._telemetry.page)
        troubles: list[CannotListen] = []
        async with listening_at(serving, served.host, served.port) as port:
            self._journal.report(
                "info",
                "webhooks start",
                version=VERSION,
                server=self._told.connection.server,
                port=port,
                namespace=self._told.namespace,
                certificates=self._told.settings.certificates.mode,
            )
            try:
                await until_stopped(self._told.stop, self._work(), self._farewell)
            except* CannotListen as faults:
                troubles += [fault for fault in faults.exceptions if isinstance(fault, CannotListen)]
        if troubles:
            raise troubles[0]
        self._journal.report("info", "webhooks stop", code=DONE)
        return DONE

    def _work(self) -> Iterator[Coroutine[Any, Any, None]]:
        for reflector in self._reflectors:
            yield reflector.run()
        yield self._keeping.run()
        yield log_taken_names(self._api, self._journal.report)
        yield self._serve()

    async def _farewell(self) -> None:
        """Not ready any more, and still there for those who have not heard of it."""
        if self._listens:
            self._listens = False
            await asyncio.sleep(self._told.settings.farewell)

    async def _serve(self) -> None:
        """Listen as soon as there is a certificate to show, until cancelled."""
        await self._shown.there.wait()
        listening = self._told.settings.listening
        reviews = AdmissionServer(
            host=listening.host,
            port=listening.port,
            tls=self._shown.context,
            copies=self._copies,
            configuration=self._told.settings.configuration,
            telemetry=self._telemetry,
            say=self._journal.report,
        )
        async with listening_at(reviews, listening.host, listening.port) as port:
            self._listens = True
            host = self._told.url_host
            self._registration.url = f"https://{f'[{host}]' if ':' in host else host}:{port}" if host else ""
            if self._shared is not None:
                self._shared.listening.set()
            self._journal.report("info", "listening", port=port)
            await asyncio.Event().wait()

    def _dns_names(self) -> tuple[str, ...]:
        """By which an API server calls: the Service, and the host that was given."""
        service = f"{self._told.settings.registration.service}.{self._told.namespace}.svc"
        host = (self._told.url_host,) if self._told.url_host else ()
        return (service, f"{service}.cluster.local", *host)

    def _missing(self) -> list[str]:
        """What keeps us from being of use (WH-030)."""
        found = []
        if not self._shown.is_valid:
            found.append("a valid certificate")
        if not self._listens:
            found.append("the listener")
        late = (one.kind.kind for one in self._reflectors if not one.synced.is_set())
        return found + [f"the first list of {kind}" for kind in late]

    def _trouble(self, kind: str, words: str) -> None:
        self._journal.report("warning", "cannot follow", kind=kind, error=words)
