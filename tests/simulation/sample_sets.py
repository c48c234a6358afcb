"""Small scenarios: one set of a few pods, a few nodes, short delays."""

import json
from random import Random
from typing import Any

from grove_core.areas.workload.admission.manifest_defaults import podcliqueset_with_defaults
from grove_shell.simulator.random_events.random_domain_and_topology_events import (
    HIERARCHIES,
    RACK,
    RACK_LABEL,
    ZONE,
    topology_manifest_of,
    topology_settings_with_levels,
)
from grove_shell.simulator.scenario.scenario import (
    API_VERSION,
    KIND,
    Scenario,
    ScenarioKubeletSpec,
    ScenarioMetadata,
    ScenarioOperatorSpec,
    ScenarioSchedulerSpec,
    ScenarioSpec,
)
from grove_shell.simulator.scenario.scenario_events import ScenarioNodePool
from grove_shell.simulator.scenario.scenario_field_types import WRITTEN

Json = dict[str, Any]


def clique_raw(name: str, replicas: int, least: int, **more: Any) -> Json:
    pod = {"containers": [{"name": "main", "image": "example.com/engine:1", "resources": {"limits": {"gpu": "1"}}}]}
    return {
        "name": name,
        "spec": {"roleName": name, "replicas": replicas, "minAvailable": least, "podSpec": pod, **more},
    }


def set_raw(*cliques: Json, groups: tuple[Json, ...] = (), replicas: int = 1, **more: Any) -> Json:
    template = {"cliques": list(cliques), "podCliqueScalingGroups": list(groups), "terminationDelay": "1m", **more}
    return podcliqueset_with_defaults(
        {
            "apiVersion": API_VERSION,
            "kind": "PodCliqueSet",
            "metadata": {"name": "llm", "namespace": "ml"},
            "spec": {"replicas": replicas, "template": template},
        }
    )


def scenario_of(manifest: Json, nodes: int = 6, gpus: int = 2, *, seed: int = 0) -> Scenario:
    return Scenario(
        api_version=API_VERSION,
        kind=KIND,
        metadata=ScenarioMetadata(name=f"world-{seed}"),
        spec=ScenarioSpec(
            sets=(manifest,),
            nodes=(ScenarioNodePool(name="n", count=nodes, capacity={"gpu": str(gpus)}),),
            kubelet=ScenarioKubeletSpec(),
            scheduler=ScenarioSchedulerSpec(),
            operator=ScenarioOperatorSpec(),
        ),
    )


def random_scenario(
    seed: int,
    *,
    mnnvl: bool | None = None,
    mode: str | None = None,
    topologies: bool = False,
    groups: bool = False,
) -> Scenario:
    """Return the small scenario of a seed.

    Args:
        mnnvl: whether MNNVL is on at some time; None for every third seed.
        mode: mode of MNNVL; None for annotations with every second seed that has MNNVL.
        topologies: whether pods are packed by topologies.
        groups: whether groups of the Workload API place the gangs, as far as they suit the set.
    """
    bare = _with_groups(_bare_scenario(seed)) if groups else _bare_scenario(seed)
    if topologies:
        bare = _with_topologies(bare, Random(f"topologies {seed}"))
    rng = Random(f"fabric {seed}")
    if mnnvl is None:
        mnnvl = rng.random() < 1 / 3
    if not mnnvl:
        return bare
    if mode is None:
        mode = Random(f"mode {seed}").choice(("operator", "annotations"))
    whole = _with_fabric(bare, rng)
    return _with_scopes(whole, Random(f"scopes {seed}")) if mode == "annotations" else whole


def _with_groups(scenario: Scenario) -> Scenario:
    raw = scenario.as_json
    raw["spec"].setdefault("operator", {})["scheduling"] = {"backend": "kubernetes"}
    return Scenario.model_validate(raw, context=WRITTEN)


def _with_topologies(scenario: Scenario, rng: Random) -> Scenario:
    """Return the scenario with racks, topologies and a set that uses one; in a few, topologies are off at the start."""
    raw = scenario.as_json
    (manifest,) = raw["spec"]["sets"]
    template = manifest["spec"]["template"]
    levels = {"alpha": HIERARCHIES[0], "beta": HIERARCHIES[1]}
    raw["spec"]["topologies"] = [topology_manifest_of(name, found) for name, found in levels.items()]
    default = rng.choice(HIERARCHIES[:3])
    is_on = rng.random() < 0.9
    raw["spec"].setdefault("operator", {})["topologyAwareScheduling"] = topology_settings_with_levels(
        default, enabled=is_on
    ).model_dump(mode="json", by_alias=True)
    name = rng.choice(("alpha", "beta", "")) if is_on else ""
    domains = [domain for domain, _ in levels.get(name, default)]
    _pack(template, domains, rng)
    if name and "topologyConstraint" in json.dumps(template):
        template["clusterTopologyName"] = name
    is_grouped = scenario.spec.operator.scheduling.backend == "kubernetes"
    for clique in () if is_grouped else template["cliques"]:
        clique["spec"]["podSpec"]["schedulerName"] = "kai-scheduler"
    racks = rng.randint(1, 3)
    (pool,) = raw["spec"]["nodes"]
    raw["spec"]["nodes"] = [
        {
            **pool,
            "name": f"n{rack}",
            "labels": {ZONE: f"z{rack // 2}", RACK: f"r{rack}", RACK_LABEL: f"s{rng.randrange(2)}"},
        }
        for rack in range(racks)
    ]
    raw["spec"]["admission"] = {"watch": rng.choice(("0s", "0s", "500ms", "5s"))}
    return Scenario.model_validate(raw, context=WRITTEN)


def _pack(template: Json, domains: list[str], rng: Random) -> None:
    """Return constraints at some of the three levels; none is broader than that of the level above."""

    def constraint(least: int) -> int:
        at = rng.randrange(least, len(domains))
        place["topologyConstraint"] = {"packDomain": domains[at]}
        if rng.random() < 0.3:
            place["topologyConstraint"]["pack"] = {"preferred": domains[-1]}
        return at

    place, whole = template, 0
    if rng.random() < 0.7:
        whole = constraint(0)
    within: dict[str, int] = {}
    for place in template["podCliqueScalingGroups"]:
        if rng.random() < 0.5:
            within |= dict.fromkeys(place["cliqueNames"], constraint(whole))
    for place in template["cliques"]:
        if rng.random() < 0.4:
            constraint(within.get(place["name"], whole))


def _with_scopes(scenario: Scenario, rng: Random) -> Scenario:
    """Return the scenario with MNNVL by annotation; where it is off at the start, some annotations are invalid."""
    raw = scenario.as_json
    (manifest,) = raw["spec"]["sets"]
    template, mnnvl = manifest["spec"]["template"], raw["spec"]["operator"]["mnnvl"]
    odd = not mnnvl.get("enabled") and rng.random() < 0.4
    mnnvl["mode"] = "annotations"
    manifest["metadata"].pop("annotations", None)
    places: list[tuple[Json, tuple[str, ...]]] = [(manifest["metadata"], ("replica",))]
    places += [(clique, ("replica", "clique")) for clique in template["cliques"]]
    places += [(group, ("replica", "scalingGroupReplica")) for group in template["podCliqueScalingGroups"]]
    for place, scopes in places:
        reported: Json = {}
        if rng.random() < 0.6:
            reported["grove.io/mnnvl-enabled"] = rng.choice(("true", "true", "true", "false"))
        if rng.random() < 0.5:
            reported["grove.io/mnnvl-scope"] = "node" if odd and rng.random() < 0.3 else rng.choice(scopes)
        if rng.random() < 0.1:
            reported["grove.io/mnnvl-device-class"] = "channel.example.com"
        if odd and place is not manifest["metadata"] and rng.random() < 0.3:
            reported["grove.io/mnnvl-enabled"] = "yes"
        if reported:
            place["annotations"] = reported
    if rng.random() < 0.2:
        raw["spec"].setdefault("driver", {})["installed"] = rng.choice(("5s", "45s"))
    return Scenario.model_validate(raw, context=WRITTEN)


def _with_fabric(scenario: Scenario, rng: Random) -> Scenario:
    """Return the scenario with GPUs in some cliques, rarely in none, and MNNVL on or switched on later."""
    raw = scenario.as_json
    (manifest,) = raw["spec"]["sets"]
    if rng.random() < 0.1:
        manifest["metadata"]["annotations"] = {"grove.io/mnnvl-enabled": rng.choice(("true", "false"))}
    share = rng.choice((0.0, 0.5, 0.8, 1.0, 1.0))
    for clique in manifest["spec"]["template"]["cliques"]:
        if rng.random() < share:
            for container in clique["spec"]["podSpec"]["containers"]:
                container["resources"] = {"limits": {"nvidia.com/gpu": container["resources"]["limits"]["gpu"]}}
    for pool in raw["spec"]["nodes"]:
        pool["capacity"]["nvidia.com/gpu"] = pool["capacity"]["gpu"]
    shape = rng.choice(("design", "nvidia"))
    raw["spec"].setdefault("operator", {})["mnnvl"] = {"enabled": rng.random() < 0.8, "computeDomainShape": shape}
    raw["spec"]["driver"] = {"release": rng.choice(("0s", "0s", "5s", "90s"))}
    return Scenario.model_validate(raw, context=WRITTEN)


def _bare_scenario(seed: int) -> Scenario:
    """Return the scenario without ComputeDomains."""
    rng = Random(f"set {seed}")
    kind = rng.choice(("CliqueStartupTypeAnyOrder", "CliqueStartupTypeInOrder", "CliqueStartupTypeAnyOrder"))
    cliques = []
    for name in ("a", "b", "c")[: rng.randint(1, 3)]:
        replicas = rng.randint(1, 3)
        more: Json = {}
        cliques.append(clique_raw(name, replicas, rng.randint(1, replicas), **more))
    groups: tuple[Json, ...] = ()
    if len(cliques) > 1 and rng.random() < 0.6:
        replicas = rng.randint(1, 3)
        members = [clique["name"] for clique in cliques[1 : rng.randint(2, len(cliques))]]
        group: Json = {
            "name": "g",
            "cliqueNames": members,
            "replicas": replicas,
            "minAvailable": rng.randint(1, replicas),
        }
        if rng.random() < 0.4:
            group["scaleConfig"] = {"maxReplicas": replicas + 1, "minReplicas": group["minAvailable"]}
        if rng.random() < 0.3:
            group["terminationDelay"] = "30s"
        groups = (group,)
    manifest = set_raw(*cliques, groups=groups, replicas=rng.randint(1, 2), cliqueStartupType=kind)
    if rng.random() < 0.2:
        del manifest["spec"]["template"]["terminationDelay"]
        for found in manifest["spec"]["template"]["podCliqueScalingGroups"]:
            found.pop("terminationDelay", None)
    scenario = scenario_of(manifest, nodes=rng.randint(2, 8), gpus=rng.randint(1, 4), seed=seed)
    changes = {
        "scheduler": ScenarioSchedulerSpec(gang_aware=rng.random() < 0.8),
        "operator": ScenarioOperatorSpec(watch=rng.choice((0, 200, 1000))),
    }
    return scenario.model_copy(update={"spec": scenario.spec.model_copy(update=changes)})
