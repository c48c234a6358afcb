"""One operator that is killed and restarted, and checks that it terminates nothing healthy."""

import asyncio
import io
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from contextlib import suppress
from random import Random
from typing import Final

from grove_core.resources.api_names import GROUP_KIND
from grove_core.resources.labels import GROUP, GROUP_REPLICA
from grove_shell.client.connection_settings import ConnectionSettings
from grove_shell.operator.operator_process import OperatorProcessOptions
from grove_shell.operator.reconcile_schedule import RootReconcileSchedule
from grove_shell.settings.operator_settings import OperatorSettings
from tests.fault_injection.api_server import ApiServer
from tests.fault_injection.api_store import Address, Json, Store, is_leaving
from tests.fault_injection.fault_rates import FaultRates
from tests.fault_injection.health_history import HealthHistory
from tests.fault_injection.kubelet import Kubelet, is_ready
from tests.fault_injection.virtual_time import seconds
from tests.operator.stub_server import no_token

NAMESPACE: Final = "ml"
_HEARD: Final = 0.05  # seconds: what a watch brought longer ago the operator knows
_LONGEST_END: Final = 120
_SETTINGS: Final = {"leaderElection": {"enabled": False}, "serving": {"host": "127.0.0.1", "port": 0}}
_MINUTE: Final = 60  # seconds
_OFTEN: Final = 6  # ends of one name in a minute
_OURS: Final = ("internal error", "broken invariant")
_MUCH: Final = 400  # characters of a line


class OperatorRun:
    """A cluster and its operator.

    Attributes:
        faults: what went wrong, by when.
        recoveries: how often everything becomes well while a deletion of a clique is on its way.
        ends: how many deletions of cliques the server was asked for.
        ended: name of a clique -> uid of the earlier holder -> when it was deleted.
        courses: health of each clique over time.
        judges: whether every such deletion needs a breach: not where sets are scaled, updated or deleted.
    """

    def __init__(self, seed: int, rules: str = "design") -> None:
        self.random = Random(seed)
        self.store = Store()
        self.fault_rates = FaultRates(self.random)
        self.api_server = ApiServer(self.store, self.fault_rates)
        self.api_server.hear_deletion, self.api_server.hear_event = self._hear_deletion, self._hear_event
        self.kubelet = Kubelet(self.store, self.random)
        self.faults: list[str] = []
        self.recoveries = 0.2
        self.ends = 0
        self.judges = True
        self.log = io.StringIO()
        self._settings = OperatorSettings.model_validate({**_SETTINGS, "rules": rules})
        self.ended: dict[str, dict[str, float]] = {}
        self.health = HealthHistory(self.fault_rates)
        self._reported: dict[str, tuple[float, Json]] = {}  # uid of a pod -> when a watch reported it, and its state
        self._server = ""
        self._process: OperatorProcessOptions | None = None
        self._running: asyncio.Task[int] | None = None

    def begin(self, server: str = "") -> None:
        """Start an operator, of the same server as the last one where none is named."""
        self.health.forget()
        self._server = server or self._server
        self._process = OperatorProcessOptions(
            connection=ConnectionSettings(self._server, None, no_token), settings=self._settings, out=self.log
        )
        self._running = asyncio.ensure_future(self._process.run())

    async def end(self) -> None:
        """As a SIGTERM does it."""
        assert self._process is not None
        assert self._running is not None
        self._process.stop.set()
        async with asyncio.timeout(_LONGEST_END):
            code = await self._running
        if code:
            self.fault(f"the operator left with {code}")
        for line in self.log.getvalue().splitlines():
            if any(words in line for words in _OURS):
                self.fault(line[:_MUCH])

    async def kill(self) -> None:
        """As a SIGKILL does it: nothing of it goes on, wherever it is."""
        for task in asyncio.all_tasks():
            if "/grove_shell/" in getattr(task.get_coro(), "cr_code").co_filename:  # noqa: B009 - typed as any awaitable
                task.cancel()
        for handle in asyncio.get_running_loop()._scheduled:  # type: ignore[attr-defined]  # noqa: SLF001 - what wakes it
            if isinstance(getattr(handle._callback, "__self__", None), RootReconcileSchedule):  # noqa: SLF001 - as above
                handle.cancel()
        with suppress(asyncio.CancelledError):
            await self._gone()

    async def _gone(self) -> None:
        assert self._running is not None
        async with asyncio.timeout(_LONGEST_END):
            await self._running

    def look_after(self) -> None:
        """It never ends by itself."""
        if self._running is not None and self._running.done():
            self.fault(f"the operator died: {self._running}")
            self.begin()

    async def watch(self) -> None:
        """Check once a second the health of all cliques, and that none is sick for too long; without end."""
        while True:
            await asyncio.sleep(1)
            cliques = self.cliques()
            parts = (*cliques, *self.store.of(GROUP_KIND, NAMESPACE))
            reported = self._well(parts, {one["metadata"]["name"] for one in cliques if self._is_well(one)})
            well = self._well(
                parts, {one["metadata"]["name"] for one in cliques if has_enough_ready_pods(one, self.pods_of(one))}
            )
            counts = self.fault_rates.is_without_faults and self._running is not None and not self._running.done()
            for raw in parts:
                name, uid = raw["metadata"]["name"], raw["metadata"]["uid"]
                is_plain = (name in reported) == (name in well)  # no watch reports what a list shows
                self.health.go_on(name, uid, well=name in reported, counts=counts and is_plain)
            for raw in cliques if self.judges else ():
                template = self._template_of(raw)
                if template is not None and (words := self.health.too_late(raw, template)):
                    self.fault(words)

    def fault(self, words: str) -> None:
        self.faults.append(f"after {seconds():.1f} s: {words}")

    def cliques(self) -> list[Json]:
        return [raw for raw in self.store.of("PodClique", NAMESPACE) if not is_leaving(raw)]

    def pods_of(self, clique: Json) -> list[Json]:
        return self.store.owned_by(clique["metadata"]["uid"], "Pod")

    def groups_of(self, root: str) -> list[Json]:
        return [raw for raw in self.store.of(GROUP_KIND, NAMESPACE) if raw["metadata"]["name"].startswith(f"{root}-")]

    def _hear_event(self, what: str, raw: Json) -> None:
        if raw.get("kind") == "Pod":
            self._reported[raw["metadata"]["uid"]] = (seconds(), {} if what == "DELETED" else raw)

    def _is_well(self, clique: Json) -> bool:
        """Whether enough of its pods are ready, and the operator must know that."""

        def is_known(pod: Json) -> bool:
            when, raw = self._reported.get(pod["metadata"]["uid"], (seconds(), {}))
            return when < seconds() - _HEARD and bool(raw) and is_ready(raw) and not is_leaving(raw)

        return has_enough_ready_pods(clique, filter(is_known, self.pods_of(clique)))

    def _well(self, parts: Iterable[Json], cliques: AbstractSet[str]) -> set[str]:
        """The names of these that are well where these PodCliques are."""
        groups = (one for one in parts if one["kind"] == GROUP_KIND)
        return {*cliques, *(one["metadata"]["name"] for one in groups if self._is_well_group(one, cliques))}

    def _hear_deletion(self, address: Address, write_key: Json) -> None:
        """When the deletion is sent, its target must not be well as far as a watch reported (GT-033, GT-050)."""
        raw = self.store.there.get(address)
        if (
            address.kind != "PodClique"
            or raw is None
            or raw["metadata"]["resourceVersion"] != write_key["resourceVersion"]
        ):
            return
        self.ends += 1
        self._see_how_often(raw["metadata"]["name"], raw["metadata"]["uid"])
        if self.random.random() < self.recoveries:
            self.kubelet.sick.clear()
        labels = raw["metadata"]["labels"]
        root = Address("PodCliqueSet", NAMESPACE, labels["app.kubernetes.io/part-of"])
        if not self.judges or root not in self.store.there:
            return
        if self._is_well_there(root, labels):
            self.fault(f"{address.name} is well, and ended")
        elif words := self.health.too_early(raw, self.store.there[root]["spec"]["template"]):
            self.fault(words)

    def _see_how_often(self, name: str, uid: str) -> None:
        """The replacement of a terminated clique is not terminated again at once, and again (OP-023, WL-076)."""
        ended = self.ended.setdefault(name, {})
        ended[uid] = seconds()
        if sum(when > seconds() - _MINUTE for when in ended.values()) >= _OFTEN:
            self.fault(f"{name} is ended again and again")

    def _is_well_there(self, root: Address, labels: dict[str, str]) -> bool:
        """Whether the replica of a set with these labels is, and that of a group where they name one."""
        template = self.store.there[root]["spec"]["template"]
        replica = f"{root.name}-{labels['grove.io/podcliqueset-replica-index']}"
        well = {clique["metadata"]["name"] for clique in self.cliques() if self._is_well(clique)}
        grouped = {name for group in template["podCliqueScalingGroups"] for name in group["cliqueNames"]}
        alone = {f"{replica}-{one['name']}" for one in template["cliques"] if one["name"] not in grouped}
        for group in template["podCliqueScalingGroups"]:
            raw = self.store.get(Address(GROUP_KIND, NAMESPACE, f"{replica}-{group['name']}"))
            own = labels.get(GROUP.primary) != raw["metadata"]["name"] or _is_well_part(
                raw, labels[GROUP_REPLICA.primary], well
            )
            if not self._is_well_group(raw, well) or not own:
                return False
        return alone <= well

    def _is_well_group(self, raw: Json, well: AbstractSet[str]) -> bool:
        """Whether enough of its replicas are."""
        parts = [_is_well_part(raw, str(index), well) for index in range(raw["spec"]["replicas"])]
        return sum(parts) >= int(raw["spec"]["minAvailable"])

    def _template_of(self, clique: Json) -> Json | None:
        """Of its set; None where that is gone."""
        root = Address("PodCliqueSet", NAMESPACE, clique["metadata"]["labels"]["app.kubernetes.io/part-of"])
        found: Json | None = self.store.there.get(root)
        return None if found is None else found["spec"]["template"]


def has_enough_ready_pods(clique: Json, pods: Iterable[Json]) -> bool:
    """Whether it stays, and as many of these pods are ready as it needs."""
    ready = [pod for pod in pods if is_ready(pod) and not is_leaving(pod)]
    return not is_leaving(clique) and len(ready) >= clique["spec"]["minAvailable"]


def _is_well_part(group: Json, index: str, well: AbstractSet[str]) -> bool:
    """Whether all PodCliques of one replica of a scaling group are."""
    return {f"{group['metadata']['name']}-{index}-{one}" for one in group["spec"]["cliqueNames"]} <= well
