"""One process of the webhooks. Several replicas run side by side without a leader."""

import asyncio
from collections.abc import Coroutine, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TextIO

from grove_core.resources.configuration import NOT_DISCOVERED, ServedApis
from grove_core.version import VERSION
from grove_shell.client.api_session import ApiSession
from grove_shell.client.connection_settings import ConnectionSettings
from grove_shell.client.reflector import Reflector
from grove_shell.exit_codes import DONE
from grove_shell.operator.crd_name_clashes import log_crd_name_clashes
from grove_shell.operator.health_server import CannotListen, HealthServer
from grove_shell.operator.json_log import JsonLog
from grove_shell.settings.webhook_settings import WebhookSettings
from grove_shell.until_stopped import run_until_stopped
from grove_shell.webhooks.admission_cache import AdmissionCache
from grove_shell.webhooks.admission_server import AdmissionServer, WebhookMetrics
from grove_shell.webhooks.certificate_rotation import CertificatesFromFiles, CertificatesFromSecret
from grove_shell.webhooks.certificates import ServedCertificate
from grove_shell.webhooks.webhook_registration import WebhookRegistration


@dataclass(kw_only=True)
class WebhookProcess:
    """The options of one process of the webhooks.

    Attributes:
        connection: to the API server.
        settings: the configuration file.
        namespace: of the Service and the Secret.
        watched: the namespace whose sets are admitted; empty for all.
        url_host: name or address by which an API server outside the cluster's network calls; empty inside.
        served: what the API server serves.
        out: where the log is written; standard error by default.
        stop: stops the process when it is set, as a signal does.
    """

    connection: ConnectionSettings
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
            CannotListen: a port is not available; nothing was served.
        """
        served = ServedCertificate()
        metrics = WebhookMetrics(lambda: served.expires)
        agent = f"grove-webhooks/{VERSION}"
        async with ApiSession(self.connection, on_response=metrics.count_request, user_agent=agent) as api:
            return await _Running(self, api, served, metrics).run()


class _Running:
    """A running process and its parts."""

    def __init__(
        self, options: WebhookProcess, api: ApiSession, served: ServedCertificate, metrics: WebhookMetrics
    ) -> None:
        self._options = options
        self._api = api
        self._served = served
        self._metrics = metrics
        self._log = JsonLog(options.out)
        self._cache = AdmissionCache(options.settings.configuration, options.served, everywhere=not options.watched)
        self._reflectors = [
            Reflector(
                api, self._cache.kinds[kind], self._cache, namespace=options.watched, report=self._report_unlisted
            )
            for kind in self._cache.stores
        ]
        registered, certificates = options.settings.registration, options.settings.certificates
        suffix = f"-{options.watched}" if options.watched else ""
        self._registration = WebhookRegistration(
            api,
            mutating=f"{registered.mutating}{suffix}",
            validating=f"{registered.validating}{suffix}",
            sharing=self._cache.shares,
            validates_topologies=self._cache.validates_topologies,
        )
        report = self._log.report
        names = self._dns_names()
        make = partial(
            CertificatesFromSecret, api, served, self._registration, namespace=options.namespace, names=names
        )
        self._secret = make(certificates, report=report) if certificates.mode == "auto" else None
        self._certificates = self._secret or CertificatesFromFiles(served, certificates, report)
        self._listens = False

    async def run(self) -> int:
        """Run until a signal or ``stop``; return the exit code."""
        serving = self._options.settings.serving
        health = HealthServer(host=serving.host, port=serving.port, missing=self._missing, metrics=self._metrics.render)
        errors: list[CannotListen] = []
        async with health as port:
            self._log.report(
                "info",
                "webhooks start",
                version=VERSION,
                server=self._options.connection.server,
                port=port,
                namespace=self._options.namespace,
                certificates=self._options.settings.certificates.mode,
            )
            try:
                await run_until_stopped(self._options.stop, self._tasks(), self._drain)
            except* CannotListen as faults:
                errors += [fault for fault in faults.exceptions if isinstance(fault, CannotListen)]
        if errors:
            raise errors[0]
        self._log.report("info", "webhooks stop", code=DONE)
        return DONE

    def _tasks(self) -> Iterator[Coroutine[Any, Any, None]]:
        for reflector in self._reflectors:
            yield reflector.run()
        yield self._certificates.run()
        yield log_crd_name_clashes(self._api, self._log.report)
        yield self._serve()

    async def _drain(self) -> None:
        """Become unready, and serve on until clients have noticed."""
        if self._listens:
            self._listens = False
            await asyncio.sleep(self._options.settings.farewell)

    async def _serve(self) -> None:
        """Listen once there is a certificate, until cancelled."""
        await self._served.loaded.wait()
        listening = self._options.settings.listening
        server = AdmissionServer(
            host=listening.host,
            port=listening.port,
            tls=self._served.context,
            api=self._api,
            cache=self._cache,
            metrics=self._metrics,
            report=self._log.report,
        )
        async with server as port:
            self._listens = True
            host = self._options.url_host
            self._registration.url = f"https://{f'[{host}]' if ':' in host else host}:{port}" if host else ""
            if self._secret is not None:
                self._secret.listening.set()
            self._log.report("info", "listening", port=port)
            await asyncio.Event().wait()

    def _dns_names(self) -> tuple[str, ...]:
        """Return the names by which API servers call: those of the Service, and the given host."""
        service = f"{self._options.settings.registration.service}.{self._options.namespace}.svc"
        host = (self._options.url_host,) if self._options.url_host else ()
        return (service, f"{service}.cluster.local", *host)

    def _missing(self) -> list[str]:
        """Return what is missing until the process is ready (OP-034)."""
        found = []
        if not self._served.is_valid:
            found.append("a valid certificate")
        if not self._listens:
            found.append("the listener")
        unlisted = (one.kind.kind for one in self._reflectors if not one.synced.is_set())
        return found + [f"the first list of {kind}" for kind in unlisted]

    def _report_unlisted(self, kind: str, error: str) -> None:
        self._log.report("warning", "cannot follow", kind=kind, error=error)
