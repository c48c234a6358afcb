"""Roles: made of the declared access, which is what the code really asks of an API server (MF-020)."""

import asyncio
import functools
import io
import itertools
import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from grove_core.areas.topology.cluster_topology_snapshot import topology_snapshots
from grove_core.kernel.frozen import thaw_json
from grove_core.kernel.steps import Create, Step
from grove_core.kernel.time_formats import parse_time
from grove_core.plan.plan import Plan
from grove_core.reconcile import finalizer_steps_for_orphans, reconcile
from grove_core.reconcile_topology import reconcile_topology
from grove_core.resources.api_names import GROUP_FINALIZER, MANAGED_BY, SET_FINALIZER
from grove_core.resources.configuration import GangBackend, MnnvlConfiguration, MnnvlMode, TopologyAwareSettings
from grove_core.resources.scaling_group import scaling_group_from_json
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.actions.configuration_files import read_operator_configuration
from grove_shell.actions.manifests import installation_objects
from grove_shell.apply.cluster_writer import ClusterWriter
from grove_shell.apply.planned_round import PlannedReconcileRound
from grove_shell.cache.cluster_cache import ClusterCache
from grove_shell.cli.main import run_command_line
from grove_shell.client.api_kinds import KINDS
from grove_shell.client.api_session import ApiSession
from grove_shell.client.rbac_rules import (
    VERBS,
    RequestScope,
    ResourceAccess,
    operator_resource_access,
    webhook_resource_access,
)
from grove_shell.client.reflector import Reflector
from grove_shell.manifests.installation import InstallationOptions
from grove_shell.operator.event_recorder import EventRecorder
from grove_shell.operator.leader_elector import LeaderElector
from grove_shell.reading.cluster_reading import load_input_files
from grove_shell.reading.input_sources import input_items_in_path, standard_input_bytes
from grove_shell.settings.operator_settings import LeaderElectionSettings, OperatorSettings
from grove_shell.settings.webhook_settings import (
    DEFAULTING,
    GUARDING,
    JOINING,
    STAMPING,
    VALIDATION,
    WebhookSettings,
    parse_webhook_settings,
)
from grove_shell.webhooks.admission_handlers import topologies_with_one_refreshed
from grove_shell.webhooks.certificate_rotation import MANAGER
from grove_shell.webhooks.webhook_process import WebhookProcess
from tests.manifests.invalid_sets import sound
from tests.manifests.request_recorder import Asked, Recorder
from tests.property.workload.sets import applied, rounds_of

Json = dict[str, Any]
GOLDEN: Final = Path(__file__).parents[1] / "golden"
SHARED: Final = ("ComputeDomain", "ResourceClaim")
TOPOLOGY_PLURALS: Final = ("clustertopologies", "clustertopologybindings")
LEVELS: Final = ({"domain": "zone", "key": "z"},)
NOW: Final = datetime(2026, 11, 20, 9, tzinfo=UTC)


def declared(access: Iterable[ResourceAccess], *, asked: bool = True) -> set[Asked]:
    """Every verb on every resource; without those that no request shows."""
    return {
        Asked(one.group, one.resource, verb) for one in access for verb in one.verbs if not (asked and one.unrequested)
    }


def cached(raws: Iterable[Json]) -> ClusterCache:
    cache = ClusterCache()
    for number, raw in enumerate(raws):
        if raw.get("kind") in KINDS:
            raw["metadata"].setdefault("uid", f"uid-{number}")
            cache.put(raw["kind"], raw)
    return cache


def golden() -> Iterator[tuple[ClusterCache, Snapshot, Plan]]:
    """Every round of every recorded cluster."""
    for case in sorted(GOLDEN.glob("*/*/case.yaml")):
        path = case.parent / "given.yaml"
        now = parse_time(yaml.load(case.read_text(encoding="utf-8"), yaml.CSafeLoader)["now"])
        assert now is not None
        cache = cached(item.value for item in input_items_in_path(str(path), [], standard_input_bytes()))
        reported = path.parent / "operator.yaml"
        configuration = read_operator_configuration(str(reported) if reported.exists() else None).configuration
        cluster = load_input_files([str(path)], io.BytesIO(), configuration=configuration).cluster
        for root in cluster.sets:
            snapshot = cluster.snapshot_of(root, now)
            yield cache, snapshot, reconcile(snapshot)


def topologies() -> Iterator[tuple[ClusterCache, Step]]:
    """Every write to a topology in every recorded cluster."""
    for case in sorted((GOLDEN / "topology").glob("*/lifecycle.yaml")):
        configuration = read_operator_configuration(str(case.parent / "operator.yaml")).configuration
        given = str(case.parent / "given.yaml")
        cluster = load_input_files([given], io.BytesIO(), configuration=configuration).cluster
        cache = cached(item.value for item in input_items_in_path(given, [], standard_input_bytes()))
        for moment in topology_snapshots(cluster, NOW):
            yield from ((cache, step) for step in reconcile_topology(moment).steps)


def ends() -> Iterator[tuple[ClusterCache, Step]]:
    """A set and a scaling group that are let go of."""
    gone = {"uid": "u", "resourceVersion": "1", "deletionTimestamp": "2026-11-20T08:00:00Z"}
    root = sound()
    root |= {"kind": "PodCliqueSet"}
    root["metadata"] |= {**gone, "finalizers": [SET_FINALIZER]}
    for step in reconcile(applied(root)).steps:
        yield cached([root]), step
    meta = {"name": "llm-0-pool", "namespace": "ml", "finalizers": [GROUP_FINALIZER]}
    owner = {"apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "name": "llm", "uid": "x", "controller": True}
    part = {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodCliqueScalingGroup",
        "metadata": {**meta, **gone, "ownerReferences": [owner]},
        "spec": {"replicas": 1, "minAvailable": 1, "cliqueNames": ["a"]},
    }
    for step in finalizer_steps_for_orphans([scaling_group_from_json(part)]):
        yield cached([part]), step


@functools.cache
def rounds_with_new_writes() -> tuple[tuple[ClusterCache, Snapshot, Plan], ...]:
    """Of these rounds those whose plan has a write that none before has: by action, and what it is done to."""
    found, known = [], set[tuple[type, str]]()
    for cache, snapshot, plan in golden():
        more = {(type(step.action), step.target.kind) for step in plan.steps} - known
        if more:
            found.append((cache, snapshot, plan))
            known |= more
    return tuple(found)


def steps() -> Iterator[tuple[ClusterCache, Step]]:
    """At least one write of every kind that a plan may hold."""
    yield from ((cache, step) for cache, _, plan in rounds_with_new_writes() for step in plan.steps)
    empty = cached([])
    for _, plan in rounds_of(applied(sound())):
        yield from ((empty, step) for step in plan.steps if isinstance(step.action, Create))
    yield from ends()
    yield from topologies()


def answer(one: Asked, before: int) -> tuple[int, Json]:
    """A server that has the names of all objects already, and a Lease from the second read on."""
    if one.resource == "leases":
        metadata = {"name": OperatorSettings().leader_election.name, "resourceVersion": "1"}
        held = {"kind": "Lease", "metadata": metadata, "spec": {"holderIdentity": "me"}}
        return (404, {}) if one.verb == "get" and before == 0 else (200, held)
    if one.verb == "list":
        return 200, {"metadata": {"resourceVersion": str(10**12)}, "items": []}
    if one.verb == "create":
        return 409, {"kind": "Status", "reason": "AlreadyExists"}
    return 404 if one.verb == "get" else 200, {}


async def act(api: ApiSession, recorder: Recorder) -> None:
    """Have the operator do everything it can do."""
    for cache, step in steps():
        await ClusterWriter(api, cache).step_executor()(step)
    for cache, snapshot, plan in rounds_with_new_writes():
        await ClusterWriter(api, cache).relist_set((snapshot.root.ref.namespace, snapshot.root.ref.name))
        events = EventRecorder(api, "me")
        events.on_round_planned(
            PlannedReconcileRound(
                root_key=("ml", "llm"), plan_name="x", observation=snapshot, plan=plan, planning_seconds=0
            )
        )
        running = asyncio.create_task(events.run())
        await events.wait_until_written()
        running.cancel()
    name = OperatorSettings().leader_election.name
    terms = LeaderElectionSettings(namespace="home", name=name).model_copy(update={"retry_period": 0.01})
    leader = LeaderElector(api, terms, "me", lambda _leads: None)
    tasks = [asyncio.create_task(leader.run())]
    tasks += [asyncio.create_task(Reflector(api, kind, ClusterCache()).run()) for kind in KINDS.values()]
    await recorder.until(
        Asked("coordination.k8s.io", "leases", "update"),
        *(Asked(kind.group, kind.plural, "watch") for kind in KINDS.values()),
    )
    await leader.release_lease()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


@pytest.mark.req("OP-050")
def test_mf020_the_operator_asks_for_what_is_declared_and_nothing_else() -> None:
    recorder = Recorder(answer)

    async def play() -> None:
        async with recorder.connection() as connection, ApiSession(connection) as api:
            await act(api, recorder)

    asyncio.run(play())
    assert {one._replace(name="") for one in recorder.asked} == declared(operator_resource_access())
    assert all("as=PartialObjectMetadata" in form for form in recorder.accepted["secrets"])
    leases = {one.name for one in recorder.asked if one.resource == "leases" and one.verb != "create"}
    assert leases == {name for one in operator_resource_access() if one.resource == "leases" for name in one.names}


def answer_webhooks(one: Asked, before: int) -> tuple[int, Json]:
    """A server with a registration, and a Secret of ours that is broken from the second read on."""
    if one.resource == "secrets":
        metadata = {"name": WebhookSettings().certificates.secret, "labels": {MANAGED_BY: MANAGER}}
        broken = {"kind": "Secret", "metadata": metadata, "data": {}}
        return (404, {}) if one.verb == "get" and before == 0 else (200, broken)
    if one.verb == "list":
        return 200, {"metadata": {"resourceVersion": str(10**12)}, "items": []}
    if one.verb == "get" and one.resource in TOPOLOGY_PLURALS:
        return 404, {}
    known = (DEFAULTING, JOINING, STAMPING) if one.resource.startswith("mutating") else (VALIDATION, *GUARDING)
    return 200, {"metadata": {"name": one.name}, "webhooks": [{"name": name, "clientConfig": {}} for name in known]}


@pytest.mark.req("WH-010")
@pytest.mark.parametrize("placing", [False, True])
@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("watched", ["", "ml"])
def test_mf020_the_webhooks_ask_for_what_is_declared_and_nothing_else(
    watched: str, *, shared: bool, placing: bool
) -> None:
    """Those of PodCliques that share are asked for by :mod:`tests.webhooks.test_podclique_webhooks` only in part."""
    recorder = Recorder(answer_webhooks)
    access = [
        one
        for one in webhook_resource_access(f"-{watched}" if watched else "", shared=shared, by_topology=placing)
        if one.resource not in {"computedomains", "resourceclaims"}
    ]
    settings, problems = parse_webhook_settings(
        {
            "certificates": {"checkEvery": "50ms", "settle": "50ms"},
            "listening": {"host": "127.0.0.1", "port": 0},
            "serving": {"host": "127.0.0.1", "port": 0},
            "farewell": "10ms",
            **({"mnnvl": {"enabled": True, "mode": "annotations"}} if shared else {}),
            **({"topologyAwareScheduling": {"enabled": True, "levels": LEVELS}} if placing else {}),
        }
    )
    assert not problems
    followed = {Asked(KINDS[kind].group, KINDS[kind].plural, verb) for kind in SHARED for verb in ("list", "watch")}

    async def play() -> None:
        async with recorder.connection() as connection:
            process = WebhookProcess(
                connection=connection, settings=settings, namespace="home", watched=watched, out=io.StringIO()
            )
            running = asyncio.create_task(process.run())
            async with ApiSession(connection) as api:  # as a set with an unknown topology makes it do
                assert not placing or await topologies_with_one_refreshed(api, {}, "new") == {}
            await recorder.until(*declared(access), *(followed if shared else ()))
            process.stop.set()
            assert await running == 0

    asyncio.run(play())
    assert {one._replace(name="") for one in recorder.asked} == declared(access) | (followed if shared else set())
    named = {one.resource: set(one.names) for one in access if one.names}
    by_name = {one.resource: {one.name} for one in recorder.asked if one.name}
    assert by_name == named | ({plural: {"new"} for plural in TOPOLOGY_PLURALS} if placing else {})


def rules_in(objects: Iterable[Json], kind: str) -> Iterator[tuple[Json, Json]]:
    for one in objects:
        if one["kind"] == kind:
            yield from ((one, rule) for rule in one["rules"])


def granted(objects: Iterable[Json], program: str) -> set[tuple[RequestScope, str, str, str, tuple[str, ...]]]:
    """Where, group, resource, verb and names, as the roles of a program have it."""
    found = set()
    for kind in ("Role", "ClusterRole"):
        for role, rule in rules_in(objects, kind):
            if role["metadata"]["labels"]["app.kubernetes.io/name"] == program:
                namespace = role["metadata"].get("namespace")
                home = namespace == "grove-system"
                scope = (
                    RequestScope.CLUSTER if namespace is None else RequestScope.HOME if home else RequestScope.WATCHED
                )
                names = tuple(rule.get("resourceNames", ()))
                for group, resource, verb in itertools.product(rule["apiGroups"], rule["resources"], rule["verbs"]):
                    found.add((scope, group, resource, verb, names))
    return found


@pytest.mark.parametrize(("program", "suffixed"), [("grove-operator", False), ("grove-webhooks", True)])
@pytest.mark.parametrize("watched", ["", "ml"])
def test_mf020_roles_are_the_declared_access(program: str, watched: str, *, suffixed: bool) -> None:
    access = (
        webhook_resource_access(f"-{watched}" if watched else "")
        if suffixed
        else operator_resource_access(everywhere=not watched)
    )
    expected = {
        (
            RequestScope.CLUSTER if one.scope is RequestScope.WATCHED and not watched else one.scope,
            one.group,
            one.resource,
            verb,
            one.names,
        )
        for one in access
        for verb in one.verbs
    }
    objects = installation_objects(InstallationOptions(watched=watched), ("rbac",))
    assert granted(objects, program) == expected
    if watched and not suffixed:
        assert not any(scope is RequestScope.CLUSTER for scope, *_ in expected)


@pytest.mark.parametrize("fields", [("name", "namespace"), ("resourceName", "resourceNamespace")])
@pytest.mark.parametrize("home", ["", "elsewhere"])
def test_mf047_the_configured_lease_is_allowed(
    fields: tuple[str, str], home: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In the file of this operator, and in one of the Go operator."""
    election: dict[str, Any] = {fields[0]: "mine", **({fields[1]: home} if home else {})}
    version, kind = "operator.config.grove.io/v1alpha1", "OperatorConfiguration"
    path = tmp_path / "operator.yaml"
    path.write_text(json.dumps({"apiVersion": version, "kind": kind, "leaderElection": election}), encoding="utf-8")
    assert run_command_line(["manifests", "--config", str(path), "-o", "json"], "grove") == 0
    objects = json.loads(capsys.readouterr().out)["items"]
    found = {
        (one["metadata"]["namespace"], verb, tuple(rule.get("resourceNames", ())))
        for one in objects
        if one["kind"] == "Role"
        for rule in one["rules"]
        if "leases" in rule["resources"]
        for verb in rule["verbs"]
    }
    where = home or "grove-system"
    assert found == {(where, "create", ()), (where, "get", ("mine",)), (where, "update", ("mine",))}
    (binding,) = (
        one
        for one in objects
        if one["kind"] == "RoleBinding" and one["metadata"]["labels"]["app.kubernetes.io/name"] == "grove-operator"
    )
    assert binding["metadata"]["namespace"] == where
    assert binding["subjects"] == [{"kind": "ServiceAccount", "name": "grove-operator", "namespace": "grove-system"}]


def test_mf020_no_access_to_groups_where_podgangs_place_gangs() -> None:
    def groups_of_api(backend: GangBackend | None) -> set[str]:
        installation = InstallationOptions(gang_backend=backend)
        return {group for _, group, *_ in granted(installation_objects(installation, ("rbac",)), "grove-operator")}

    assert "scheduling.k8s.io" in groups_of_api(None) & groups_of_api(GangBackend.KUBERNETES)
    assert "scheduling.k8s.io" not in groups_of_api(GangBackend.PODGANG)


def test_mf020_placement_by_topology_grants_reading_topologies_everywhere() -> None:
    installation = InstallationOptions(watched="ml", topology=TopologyAwareSettings(enabled=True))
    outside = {
        one
        for one in granted(installation_objects(installation, ("rbac",)), "grove-operator")
        if one[0] is RequestScope.CLUSTER
    }
    kinds = ("clustertopologies", "clustertopologybindings")
    assert outside == {
        (RequestScope.CLUSTER, "grove.io", kind, verb, ()) for kind in kinds for verb in ("list", "watch")
    }


@pytest.mark.req("WH-010")
@pytest.mark.parametrize("watched", ["", "ml"])
def test_wh005_the_webhooks_may_read_what_they_judge_by_and_write_none_of_it(watched: str) -> None:
    """And while TAS is off they may do what they could without it."""
    on = InstallationOptions(watched=watched, topology=TopologyAwareSettings(enabled=True))
    more, less = (
        granted(installation_objects(reported, ("rbac",)), "grove-webhooks")
        for reported in (on, InstallationOptions(watched=watched))
    )
    of_cliques = RequestScope.WATCHED if watched else RequestScope.CLUSTER
    verbs = ("get", "list", "watch")
    assert less <= more
    assert more - less == {
        *((of_cliques, "grove.io", "podcliques", verb, ()) for verb in ("list", "watch")),
        *((RequestScope.CLUSTER, "grove.io", kind, verb, ()) for kind in TOPOLOGY_PLURALS for verb in verbs),
    }


def test_wh010_the_webhooks_may_do_exactly_what_the_design_says() -> None:
    """Besides what they may do in the other mode."""
    followed = {"get", "list", "watch"}
    written = {"create", "patch", "update"}
    table = {
        ("resource.nvidia.com", "computedomains"): followed | written,
        ("resource.k8s.io", "resourceclaims"): followed | written,
        ("grove.io", "podcliquesets"): followed,
        ("scheduler.grove.io", "podgangs"): followed,
    }
    installation = InstallationOptions(mnnvl=MnnvlConfiguration(enabled=True, mode=MnnvlMode.ANNOTATIONS))
    more = granted(installation_objects(installation, ("rbac",)), "grove-webhooks")
    less = granted(installation_objects(InstallationOptions(), ("rbac",)), "grove-webhooks")
    found: dict[tuple[str, str], set[str]] = {}
    for _, group, resource, verb, _ in more:
        if (group, resource) in table:
            found.setdefault((group, resource), set()).add(verb)
    assert found == table
    assert less <= more
    assert {(group, resource) for _, group, resource, _, _ in more - less} == set(table)
    assert granted(installation_objects(installation, ("rbac",)), "grove-operator") == granted(
        installation_objects(InstallationOptions(), ("rbac",)), "grove-operator"
    )


def test_mf020_nothing_is_granted_by_wildcard() -> None:
    for one in installation_objects(InstallationOptions(), ("rbac",)):
        for rule in one.get("rules", ()):
            assert not any("*" in word for words in rule.values() for word in words)


def test_mf020_every_kind_says_what_is_done_with_it() -> None:
    assert VERBS.keys() == KINDS.keys()
    assert all(verbs == " ".join(sorted(verbs.split())) for verbs in VERBS.values())


def test_mf020_what_the_role_of_a_set_holds_is_held() -> None:
    """No user may create a role with more rights than their own."""
    manifests = (step.action.manifest for _, step in steps() if isinstance(step.action, Create))
    roles = [thaw_json(manifest) for manifest in manifests if manifest["kind"] == "Role"]
    assert roles
    for rule in (rule for role in roles for rule in role["rules"]):
        wanted = {Asked(*one) for one in itertools.product(rule["apiGroups"], rule["resources"], rule["verbs"])}
        assert wanted <= declared(operator_resource_access(), asked=False)
