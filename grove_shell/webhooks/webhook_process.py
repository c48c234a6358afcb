"""One process of the webhooks. Several replicas run side by side without a leader."""

import asyncio
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

from grove_core.resources.configuration import NOT_DISCOVERED, ServedApis
from grove_core.version import VERSION
from grove_shell.client.api_session import ApiSession
from grove_shell.client.connection_settings import ConnectionSettings
from grove_shell.client.reflector import Reflector
from grove_shell.exit_codes import DONE, CommandFailed
from grove_shell.operator.crd_name_clashes import log_crd_name_clashes
from grove_shell.operator.health_server import CannotListen, HealthServer
from grove_shell.operator.json_log import OperatorJsonLog
from grove_shell.python_gc import exempt_existing_objects_from_gc
from grove_shell.settings.webhook_settings import PREVIEW, WebhookSettings
from grove_shell.until_stopped import run_until_stopped
from grove_shell.webhooks.admission_cache import AdmissionCache
from grove_shell.webhooks.admission_server import AdmissionServer, Handler, WebhookMetrics, handlers_by_webhook
from grove_shell.webhooks.certificate_rotation import CertificatesFromFiles, CertificatesFromSecret
from grove_shell.webhooks.certificates import BadCertificate, ServedCertificate
from grove_shell.webhooks.webhook_registration import (
    RegisteredConfiguration,
    WebhookRegistration,
    admission_configurations,
    preview_webhook_configurations,
)

if TYPE_CHECKING:
    from grove_shell.policies.policy import Policy


class _Part(NamedTuple):
    """What one process serves: its handlers, what it watches, and the configurations that call it."""

    handlers: Mapping[str, Handler]
    reflectors: tuple[Reflector, ...]
    configurations: tuple[RegisteredConfiguration, ...]


class WebhookProcess:
    """One process of the webhooks, and its parts.

    Attributes:
        stop: stops the process when it is set, as a signal does.
    """

    def __init__(
        self,
        *,
        connection: ConnectionSettings,
        settings: WebhookSettings,
        namespace: str,
        watched: str = "",
        url_host: str = "",
        served: ServedApis = NOT_DISCOVERED,
        previews: "Sequence[Policy] | None" = None,
        out: TextIO | None = None,
    ) -> None:
        """Send no request yet.

        Args:
            connection: to the API server.
            settings: the configuration file.
            namespace: of the Service and the Secret.
            watched: the namespace whose sets are admitted; empty for all.
            url_host: name or address by which an API server outside the cluster's network calls; empty inside.
            served: what the API server serves.
            previews: the policies that updates have to keep, where it previews updates and does nothing else (WH-047);
                None for the other webhooks.
            out: where the log is written; standard error by default.

        Raises:
            CommandFailed: the authority of the callers cannot be read.
        """
        self._settings, self._namespace, self._url_host = settings, namespace, url_host
        self.stop = asyncio.Event()
        self._served = served_certificate = _served_certificate(settings.listening.callers.authority_file)
        self._metrics = WebhookMetrics(lambda: served_certificate.expiry_timestamp)
        agent = f"grove-webhooks/{VERSION}"
        self._api = ApiSession(connection, on_response=self._metrics.count_request, user_agent=agent)
        self._log = OperatorJsonLog(out)
        self._part = (
            self._admission_part(watched, served) if previews is None else self._preview_part(watched, served, previews)
        )
        certificates = settings.certificates
        self._registration = WebhookRegistration(self._api, self._part.configurations)
        report, names = self._log.write_line, self._dns_names()
        make = partial(
            CertificatesFromSecret, self._api, self._served, self._registration, namespace=namespace, names=names
        )
        self._secret = make(certificates, report=report) if certificates.mode == "auto" else None
        self._certificates = self._secret or CertificatesFromFiles(
            self._served, certificates, report, name=self._url_host or names[0]
        )
        self._listens = False

    def _admission_part(self, watched: str, served: ServedApis) -> _Part:
        """Return the webhooks that default and validate."""
        cache = AdmissionCache(self._settings.configuration, served, everywhere=not watched)
        registered, suffix = self._settings.registration, f"-{watched}" if watched else ""
        return _Part(
            handlers=handlers_by_webhook(self._api, cache),
            reflectors=tuple(
                Reflector(self._api, cache.kinds[kind], cache, namespace=watched, report=self._report_unlisted)
                for kind in cache.stores
            ),
            configurations=admission_configurations(
                f"{registered.mutating}{suffix}",
                f"{registered.validating}{suffix}",
                sharing=cache.shares,
                validates_topologies=cache.validates_topologies,
            ),
        )

    def _preview_part(self, watched: str, served: ServedApis, policies: "Sequence[Policy]") -> _Part:
        """Return the webhook that previews updates; it watches nothing."""
        from grove_shell.webhooks.update_preview import UpdatePreviewer  # noqa: PLC0415 - the other webhooks forecast nothing

        settings, suffix = self._settings, f"-{watched}" if watched else ""
        preview = UpdatePreviewer(
            self._api,
            settings.preview,
            settings.configuration,
            served,
            report=self._log.write_line,
            policies=policies,
        )
        name = f"{settings.registration.validating}{suffix}"
        return _Part({PREVIEW: preview.respond}, (), preview_webhook_configurations(name))

    async def run(self) -> int:
        """Run until a signal or ``stop``; return the exit code.

        Raises:
            CannotListen: a port is not available; nothing was served.
        """
        serving = self._settings.serving
        health = HealthServer(
            host=serving.host, port=serving.port, missing=self._missing, metrics=self._metrics.as_prometheus_text
        )
        errors: list[CannotListen] = []
        async with self._api, health as port:
            self._log.write_line(
                "info",
                "webhooks start",
                version=VERSION,
                server=self._api.connection.server,
                port=port,
                namespace=self._namespace,
                certificates=self._settings.certificates.mode,
            )
            try:
                await run_until_stopped(self.stop, self._tasks(), self._drain)
            except* CannotListen as faults:
                errors += [fault for fault in faults.exceptions if isinstance(fault, CannotListen)]
        if errors:
            raise errors[0]
        self._log.write_line("info", "webhooks stop", code=DONE)
        return DONE

    def _tasks(self) -> Iterator[Coroutine[Any, Any, None]]:
        for reflector in self._part.reflectors:
            yield reflector.run()
        yield self._certificates.run()
        if self._part.reflectors:
            yield log_crd_name_clashes(self._api, self._log.write_line)
        yield self._serve()

    async def _drain(self) -> None:
        """Become unready, and serve on until clients have noticed."""
        if self._listens:
            self._listens = False
            await asyncio.sleep(self._settings.farewell)

    async def _serve(self) -> None:
        """Listen once there is a certificate, until cancelled."""
        await self._served.loaded.wait()
        listening = self._settings.listening
        server = AdmissionServer(
            host=listening.host,
            port=listening.port,
            tls=self._served.context,
            handlers=self._part.handlers,
            metrics=self._metrics,
            report=self._log.write_line,
            callers=frozenset(listening.callers.names),
        )
        async with server as port:
            self._listens = True
            host = self._url_host
            self._registration.url = f"https://{f'[{host}]' if ':' in host else host}:{port}" if host else ""
            if self._secret is not None:
                self._secret.listening.set()
            self._log.write_line("info", "listening", port=port)
            exempt_existing_objects_from_gc()
            await asyncio.Event().wait()

    def _dns_names(self) -> tuple[str, ...]:
        """Return the names by which API servers call: those of the Service, and the given host."""
        service = f"{self._settings.registration.service}.{self._namespace}.svc"
        host = (self._url_host,) if self._url_host else ()
        return (service, f"{service}.cluster.local", *host)

    def _missing(self) -> list[str]:
        """Return what is missing until the process is ready (OP-034)."""
        found = []
        if not self._served.is_valid:
            found.append("a valid certificate")
        if not self._listens:
            found.append("the listener")
        unlisted = (one.kind.kind for one in self._part.reflectors if not one.synced.is_set())
        return found + [f"the first list of {kind}" for kind in unlisted]

    def _report_unlisted(self, kind: str, error: str) -> None:
        self._log.write_line("warning", "cannot follow", kind=kind, error=error)


def _served_certificate(callers: str) -> ServedCertificate:
    try:
        return ServedCertificate(callers)
    except BadCertificate as fault:
        raise CommandFailed(f"listening.callers.authorityFile: expected certificates in PEM, got {fault}\n") from fault
