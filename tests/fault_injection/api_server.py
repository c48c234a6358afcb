"""The HTTP API of a store: paths, lists in pages, watches with label selectors."""

import asyncio
import json
from bisect import bisect_right
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Final
from urllib.parse import parse_qsl

from aiohttp import web

from grove_shell.client.api_kinds import KINDS, ApiKind
from tests.fault_injection.api_store import Address, Change, Json, Refused, Store
from tests.fault_injection.fault_rates import FaultRates
from tests.operator.stub_server import not_found

_PLURALS: Final = {kind.plural: kind for kind in KINDS.values()}
_METADATA: Final = {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1"}
_ALL: Final = 10**9


class ApiServer:
    """One server.

    Attributes:
        requests: how many there were, watches apart.
        hear_deletion: of what, aimed at which uid and version, before anything comes of it.
        hear_event: what a watch reported of an object.
    """

    def __init__(self, store: Store, fault_rates: FaultRates) -> None:
        self.store, self.fault_rates = store, fault_rates
        self.requests = 0
        self.hear_deletion: Callable[[Address, Json], None] = lambda _address, _aim: None
        self.hear_event: Callable[[str, Json], None] = lambda _what, _raw: None
        self._more = asyncio.Event()
        self._closes = False
        store.changed = self._hurry

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[str]:
        """Where."""
        application = web.Application()
        application.router.add_route("*", "/{path:.*}", self._answer)
        runner = web.AppRunner(application, shutdown_timeout=0.1, access_log=None, keepalive_timeout=_ALL)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        try:
            yield f"http://127.0.0.1:{runner.addresses[0][1]}"
        finally:
            self._closes = True
            self._hurry()
            await runner.cleanup()

    def _hurry(self) -> None:
        self._more.set()
        self._more = asyncio.Event()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        parts = request.path.removesuffix("/status").strip("/").split("/")
        kind, name = (_PLURALS.get(parts[-1]), "") if parts[-1] in _PLURALS else (_PLURALS.get(parts[-2]), parts[-1])
        if kind is None:  # an Event, a Lease
            return web.json_response({}, status=201) if request.method == "POST" else not_found(request)
        address = Address(kind.kind, parts[parts.index("namespaces") + 1] if "namespaces" in parts else "", name)
        if request.query.get("watch"):
            return await self._watch(request, kind)
        self.requests += 1
        body = await request.json() if request.can_read_body else {}
        if request.method == "DELETE":
            self.hear_deletion(address, body["preconditions"])
        if (trouble := await self.fault_rates.before(request)) is not None:
            return trouble
        try:
            code, found = self._done(request, kind, address, body)
        except Refused as fault:
            code = fault.code
            about = {"reason": fault.reason, "message": str(fault), "details": {"name": name}}
            found = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, **about}
        text = json.dumps(found)  # as it is now, however late it comes
        await self.fault_rates.after(request)
        return web.Response(text=text, status=code, content_type="application/json")

    def _done(self, request: web.Request, kind: ApiKind, address: Address, body: Json) -> tuple[int, Json]:
        match request.method:
            case "GET" if address.name:
                return 200, _shown(self.store.get(address), kind)
            case "GET":
                return 200, self._listed(request, kind, address.namespace)
            case "POST":
                made = {"apiVersion": kind.api_version, "kind": kind.kind, **body}
                return 201, _shown(self.store.create(address._replace(name=made["metadata"]["name"]), made), kind)
            case "DELETE":
                return 200, self._deleted(kind, address, body)
        return 200, _shown(self._patched(request, address, body), kind)

    def _deleted(self, kind: ApiKind, address: Address, body: Json) -> Json:
        write_key = body["preconditions"]
        self.store.delete(address, write_key, foreground=body["propagationPolicy"] == "Foreground")
        if address in self.store.there:
            return _shown(self.store.get(address), kind)
        done = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}
        return {**done, "details": {"name": address.name, "uid": write_key["uid"]}}

    def _patched(self, request: web.Request, address: Address, body: Json) -> Json:
        if request.path.endswith("/status"):
            self.store.check(address, {"resourceVersion": body["metadata"]["resourceVersion"]})
            return self.store.change(address, lambda raw: raw.update(status=body["status"]))
        if "strategic" not in request.headers["Content-Type"]:
            return self.store.patch(address, body)
        self.store.check(address, body["metadata"])
        removed, stored = body["spec"]["schedulingGates"], self.store.get(address)["spec"].get("schedulingGates", ())
        opened = {gate["name"] for gate in removed or stored}  # null removes the whole list
        gates = [gate for gate in stored if gate["name"] not in opened]
        return self.store.change(address, lambda raw: raw["spec"].update(schedulingGates=gates))

    def _listed(self, request: web.Request, kind: ApiKind, namespace: str) -> Json:
        wanted = _selector(request)
        found = [_shown(raw, kind) for raw in self.store.of(kind.kind, namespace) if _fits(raw, wanted)]
        begin, limit = int(request.query.get("continue", 0)), int(request.query.get("limit", _ALL))
        meta = {"resourceVersion": str(self.store.version)}
        more = {"continue": str(begin + limit)} if begin + limit < len(found) else {}
        return {"kind": f"{kind.kind}List", "metadata": {**meta, **more}, "items": found[begin : begin + limit]}

    async def _watch(self, request: web.Request, kind: ApiKind) -> web.StreamResponse:
        stream = web.StreamResponse()
        await stream.prepare(request)
        wanted, history = _selector(request), self.store.history.setdefault(kind.kind, [])
        reported = bisect_right(history, int(request.query["resourceVersion"]), key=lambda change: change.version)
        with suppress(ConnectionError):
            while not self._closes:
                more = self._more
                for change in history[reported:]:
                    reported += 1
                    what, raw = _event(change, wanted)
                    if not what:
                        continue
                    if self.fault_rates.ends_watch():
                        return stream
                    await stream.write(json.dumps({"type": what, "object": _shown(raw, kind)}).encode() + b"\n")
                    self.hear_event(what, raw)
                if reported == len(history):
                    with suppress(TimeoutError):
                        await asyncio.wait_for(more.wait(), 3600)
        return stream


def _shown(raw: Json, kind: ApiKind) -> Json:
    return {**_METADATA, "metadata": raw["metadata"]} if kind.metadata_only else raw


def _selector(request: web.Request) -> dict[str, str]:
    return dict(parse_qsl(request.query.get("labelSelector", "")))


def _fits(raw: Json | None, wanted: dict[str, str]) -> bool:
    labels = (raw or {}).get("metadata", {}).get("labels") or {}
    return raw is not None and all(labels.get(key) == value for key, value in wanted.items())


def _event(change: Change, wanted: dict[str, str]) -> tuple[str, Json]:
    """What a watch reports about it, in the version of the change; nothing where it does not select it."""
    was, is_there = _fits(change.before, wanted), _fits(change.after, wanted)
    raw = (change.after if is_there else change.before) or {"metadata": {}}
    what = ("MODIFIED" if was else "ADDED") if is_there else "DELETED"
    return what if was or is_there else "", {
        **raw,
        "metadata": {**raw["metadata"], "resourceVersion": str(change.version)},
    }
