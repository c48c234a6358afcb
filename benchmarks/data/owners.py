"""Sets, scaling groups and cliques as the API has them."""

from collections.abc import Iterator
from typing import Final

from benchmarks.data.cast import (
    CLIQUES_OF,
    GROUP_NEEDS,
    GROUP_REPLICAS,
    GROUPED,
    HASHES,
    NAMESPACE,
    SET_REPLICAS,
    Clique,
    Raw,
    cliques_of_set,
)
from benchmarks.data.meta import condition_of, labels_of, meta_of, moment_of, owned_by
from benchmarks.data.pods import pod_spec
from grove_core.resources.api_names import CLIQUE_FINALIZER, GROUP_FINALIZER, GROVE, MNNVL_ENABLED, SET_FINALIZER

_GENERATION: Final = "7b9f6d5c4bd46f8c77"
_OF_SET: Final = "app.kubernetes.io/managed-by=grove-operator,app.kubernetes.io/part-of="


def owners_of_set(number: int) -> Iterator[Raw]:
    """The set of that number, its scaling groups and its cliques."""
    cliques = tuple(cliques_of_set(number))
    available = 0
    groups = []
    for replica in range(SET_REPLICAS):
        members = [clique for clique in cliques if clique.replica == replica and clique.group]
        frontend = next(clique for clique in cliques if clique.replica == replica and not clique.group)
        group = _group(members)
        groups.append(group)
        available += not frontend.breached and group["status"]["availableReplicas"] >= GROUP_NEEDS
    yield _set(cliques[0], available)
    yield from groups
    yield from map(_clique, cliques)


def _set(clique: Clique, available: int) -> Raw:
    templates = [
        {"name": role, "spec": {"minAvailable": needed, "podSpec": pod_spec("", ""), "replicas": replicas}}
        for role, (replicas, needed) in CLIQUES_OF.items()
    ]
    group = {
        "cliqueNames": list(GROUPED),
        "minAvailable": GROUP_NEEDS,
        "name": "inst",
        "replicas": GROUP_REPLICAS,
    }
    template = {"cliques": templates, "podCliqueScalingGroups": [group], "terminationDelay": "4h0m0s"}
    return {
        "apiVersion": GROVE,
        "kind": "PodCliqueSet",
        "metadata": meta_of("pcs", clique.set_name, clique.set_uid, 50000 + clique.serial, SET_FINALIZER, {}),
        "spec": {"replicas": SET_REPLICAS, "template": template},
        "status": {
            "availableReplicas": available,
            "currentGenerationHash": _GENERATION,
            "hpaPodSelector": f"{_OF_SET}{clique.set_name}",
            "observedGeneration": 1,
            "replicas": SET_REPLICAS,
            "updatedReplicas": available,
        },
    }


def bare_set(replicas: int) -> Raw:
    """A set as a user wrote it, with that many replicas of 40 pods each; no cluster has seen it."""
    (first, *_) = cliques_of_set(0)
    written = _set(first, 0)
    metadata = {"name": first.set_name, "namespace": NAMESPACE}
    return {**written, "metadata": metadata, "spec": {**written["spec"], "replicas": replicas}, "status": {}}


def sharing_set(replicas: int) -> Raw:
    """The manifest of a user that wants one ComputeDomain for each replica by annotation, groups included."""
    found = bare_set(replicas)
    opted_in = {"annotations": {MNNVL_ENABLED: "true"}}
    template = found["spec"]["template"]
    groups = [{**group, **opted_in} for group in template["podCliqueScalingGroups"]]
    spec = {**found["spec"], "template": {**template, "podCliqueScalingGroups": groups}}
    return {**found, "metadata": {**found["metadata"], **opted_in}, "spec": spec}


def _group(members: list[Clique]) -> Raw:
    first = members[0]
    replicas = [[clique for clique in members if clique.group_replica == index] for index in range(GROUP_REPLICAS)]
    placed = [cliques for cliques in replicas if all(clique.scheduled >= clique.needed for clique in cliques)]
    available = sum(not any(clique.breached for clique in cliques) for cliques in placed)
    left = sum(not any(clique.breached for clique in cliques) for cliques in replicas)
    breach = left < GROUP_NEEDS
    labels = {
        "app.kubernetes.io/part-of": first.set_name,
        "grove.io/podcliqueset-replica-index": str(first.replica),
    }
    meta = meta_of("pcsg", first.group, first.group_uid, 60000 + first.serial, GROUP_FINALIZER, labels)
    message = f"{left} of {GROUP_REPLICAS} replicas not breached, at least {GROUP_NEEDS} needed"
    condition = condition_of(
        "MinAvailableBreached",
        holds=breach,
        since=moment_of(first.serial),
        reason=f"{'Insufficient' if breach else 'Sufficient'}AvailablePodCliqueScalingGroupReplicas",
        message=message,
    )
    return {
        "apiVersion": GROVE,
        "kind": "PodCliqueScalingGroup",
        "metadata": {**meta, "ownerReferences": owned_by(GROVE, "PodCliqueSet", first.set_name, first.set_uid)},
        "spec": {"cliqueNames": list(GROUPED), "minAvailable": GROUP_NEEDS, "replicas": GROUP_REPLICAS},
        "status": {
            "availableReplicas": available,
            "conditions": [condition],
            "currentPodCliqueSetGenerationHash": _GENERATION,
            "observedGeneration": 1,
            "selector": f"{_OF_SET}{first.set_name},grove.io/podcliquescalinggroup={first.group}",
            "updatedReplicas": left,
            "replicas": GROUP_REPLICAS,
            "scheduledReplicas": len(placed),
        },
    }


def _clique(clique: Clique) -> Raw:
    meta = meta_of("pclq", clique.name, clique.uid, 70000 + clique.serial, CLIQUE_FINALIZER, labels_of(clique))
    owner = (
        owned_by(GROVE, "PodCliqueScalingGroup", clique.group, clique.group_uid)
        if clique.group
        else owned_by(GROVE, "PodCliqueSet", clique.set_name, clique.set_uid)
    )
    placed, pods = clique.scheduled >= clique.needed, len(clique.states)
    conditions = [
        condition_of(
            "PodCliqueScheduled",
            holds=placed,
            since=moment_of(clique.serial),
            reason=f"{'Sufficient' if placed else 'Insufficient'}ScheduledPods",
            message=f"{clique.scheduled} scheduled, at least {clique.needed} needed",
        ),
        condition_of(
            "MinAvailableBreached",
            holds=clique.breached,
            since=moment_of(clique.serial),
            reason=f"{'Insufficient' if clique.breached else 'Sufficient'}ReadyPods",
            message=f"{clique.ready} ready, at least {clique.needed} needed",
        ),
    ]
    return {
        "apiVersion": GROVE,
        "kind": "PodClique",
        "metadata": {**meta, "ownerReferences": owner},
        "spec": {"minAvailable": clique.needed, "podSpec": pod_spec("", ""), "replicas": pods},
        "status": {
            "conditions": conditions,
            "currentPodCliqueSetGenerationHash": _GENERATION,
            "currentPodTemplateHash": HASHES[clique.role],
            **(
                {}
                if clique.group
                else {"hpaPodSelector": f"{_OF_SET}{clique.set_name},grove.io/podclique={clique.name}"}
            ),
            "observedGeneration": 1,
            "readyReplicas": clique.ready,
            "replicas": pods,
            "scheduleGatedReplicas": pods - clique.scheduled,
            "scheduledReplicas": clique.scheduled,
            "updatedReplicas": pods,
            "wasAvailable": True,
        },
    }
