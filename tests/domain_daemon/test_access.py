"""What daemons and their controller ask for is what their roles are given."""

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

from grove_core.areas.domain_cliques.daemon.daemon_input import DaemonInput
from grove_core.areas.domain_cliques.daemon.judge import next_daemon_action
from grove_core.areas.domain_cliques.daemon.verdicts import REQUEST_TYPES, DaemonAction
from grove_core.kernel.decisions import Decision
from grove_core.resources.api_names import DOMAIN
from grove_shell.actions.manifests import installation_objects
from grove_shell.client.api_session import ApiSession
from grove_shell.client.rbac_rules import DAEMON, DOMAIN_CONTROLLER, ResourceAccess
from grove_shell.client.reflector import Reflector
from grove_shell.domain_controller.domain_cache import ComputeDomainCache
from grove_shell.domain_controller.domain_reconcile_loop import DomainReconcileLoop
from grove_shell.domain_daemon.daemon_requests import CLIQUES, DOMAINS, PODS, http_request_of
from grove_shell.domain_daemon.domain_daemon_loop import MonotonicClock
from grove_shell.manifests.installation import InstallationOptions
from tests.domain_daemon.single_domain import GROUP, SingleDomainServer
from tests.manifests.request_recorder import Asked, Recorder, asked_by
from tests.property.domain_cliques.core_functions import CoreFunctions
from tests.property.domain_cliques.random_run import run_seed

Json = dict[str, Any]


def requests_of_worlds() -> Iterator[Asked]:
    """Whatever daemons ask for in clusters with every protocol and every fault."""
    found: set[Asked] = set()

    def watched(context: DaemonInput) -> Decision[DaemonAction]:
        decision = next_daemon_action(context)
        action = decision.verdict
        if isinstance(action, REQUEST_TYPES):
            http = http_request_of(action, context.identity)
            found.add(asked_by(http.method, http.path, watches=False)._replace(name=""))
        return decision

    for seed in range(60):
        run_seed(seed, CoreFunctions(next_action=watched))
    yield from found


def declared(access: tuple[ResourceAccess, ...]) -> set[Asked]:
    return {Asked(one.group, one.resource, verb) for one in access if not one.unrequested for verb in one.verbs}


def test_dc110_daemons_use_exactly_their_permissions() -> None:
    kinds = (DOMAINS, CLIQUES, PODS)
    followed = {Asked(kind.group, kind.plural, verb) for kind in kinds for verb in ("list", "watch")}
    known = {Asked("", "pods", "get"), Asked(GROUP, "computedomains", "get")}  # its identity is read at the start
    assert followed | known | set(requests_of_worlds()) == declared(DAEMON)


def test_dc110_controller_uses_exactly_its_permissions() -> None:
    """A stale entry in a clique, a pod without fabric, and a domain without its entry."""
    labels = {DOMAIN: "uid-of-domain"}
    held = {"nodeName": "n9", "ipAddress": "10.0.0.9", "cliqueID": "rack.1", "index": 0}
    meta = {"namespace": "driver", "uid": "u", "resourceVersion": "3"}
    clique = {"metadata": {**meta, "name": "uid-of-domain.rack.1", "labels": labels}, "daemons": [held]}
    pod = {
        "metadata": {**meta, "name": "p", "labels": labels},
        "spec": {"nodeName": "n1"},
        "status": {"podIP": "10.0.0.1"},
    }
    items = {"computedomains": SingleDomainServer(Path()).domain, "computedomaincliques": clique, "pods": pod}

    def answer(one: Asked, _before: int) -> tuple[int, Json]:
        if one.verb == "list":
            return 200, {"metadata": {"resourceVersion": "9"}, "items": [items[one.resource]]}
        return 409, {}

    recorder = Recorder(answer)

    async def live() -> None:
        async with recorder.connection() as connection, ApiSession(connection) as api:
            cache = ComputeDomainCache()
            loop = DomainReconcileLoop(
                api, cache, lambda *_: None, MonotonicClock(), cleanup_interval=timedelta(milliseconds=20)
            )
            tasks = [asyncio.create_task(Reflector(api, kind, cache).run()) for kind in (DOMAINS, CLIQUES, PODS)]
            tasks.append(asyncio.create_task(loop.run()))
            await recorder.until(*declared(DOMAIN_CONTROLLER))
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    asyncio.run(live())
    assert {one._replace(name="") for one in recorder.asked} == declared(DOMAIN_CONTROLLER)


def test_dc110_roles_are_printed_on_request() -> None:
    plain, more = (
        installation_objects(InstallationOptions()),
        installation_objects(InstallationOptions(), (), ("daemons",)),
    )
    assert more[2:] == plain
    for role, access in zip(more[:2], (DAEMON, DOMAIN_CONTROLLER), strict=True):
        assert (role["kind"], role["metadata"].get("namespace")) == ("ClusterRole", None)
        granted = {
            Asked(group, resource, verb)
            for rule in role["rules"]
            for group in rule["apiGroups"]
            for resource in rule["resources"]
            for verb in rule["verbs"]
        }
        assert granted == {Asked(one.group, one.resource, verb) for one in access for verb in one.verbs}
