"""Manifests of pods: the clique's pod spec with Grove's additions (WL-020, WL-084 to WL-088)."""

from collections.abc import Iterable
from typing import Final, NamedTuple

from grove_core.areas.workload.objects.lazy_manifests import (
    object_to_create,
    pod_spec_with_pod_variables,
    with_grove_labels,
)
from grove_core.areas.workload.objects.services_rbac_and_claims import pod_spec_with_shared_claims
from grove_core.areas.workload.pods.pod_slots import FreePodSlot
from grove_core.areas.workload.rules import WorkloadReason
from grove_core.areas.workload.template_hash import short_text_hash
from grove_core.areas.workload.workload_context import WorkloadContext
from grove_core.kernel.frozen import EMPTY, FrozenMap, freeze, list_at
from grove_core.kernel.wants import ObjectToCreate
from grove_core.resources.api_names import CORE, DOMAIN_TEMPLATE, GATE, MNNVL_CLAIM, POD_GANG, POD_INDEX
from grove_core.resources.labels import CLIQUE
from grove_core.resources.naming_rules import pod_hostname, pod_name, service_account_token_name, set_replica_name
from grove_core.resources.owned_object import NewObjectMetadata
from grove_core.resources.pod import Pod
from grove_core.resources.pod_spec_gpus import pod_spec_with_gpu_claim
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.snapshot.expected_replicas import ExpectedClique

_SUFFIX: Final = 5
INIT_CONTAINER: Final = "grove-initc"
PARENTS_FLAG: Final = "--podcliques="
_TOKEN_PATH: Final = "/var/run/secrets/kubernetes.io/serviceaccount"  # noqa: S105 - a path, and no secret
_INFO_PATH: Final = "/var/grove/pod-info"
_READABLE: Final = 0o644
_NON_ROOT: Final = 65532
_CONFINED: Final = FrozenMap(  # WL-084
    {
        "allowPrivilegeEscalation": False,
        "capabilities": FrozenMap({"drop": ("ALL",)}),
        "privileged": False,
        "readOnlyRootFilesystem": True,
        "runAsGroup": _NON_ROOT,
        "runAsNonRoot": True,
        "runAsUser": _NON_ROOT,
        "seccompProfile": FrozenMap({"type": "RuntimeDefault"}),
    }
)


def new_pod_names(
    clique: PodClique, part: ExpectedClique, template_hash: str, slots: Iterable[FreePodSlot], pods: Iterable[Pod]
) -> list[str]:
    """Return the names of new pods, in the order of their slots, beside the clique's existing pods (WL-085). Linear.

    The suffix has five letters, so two of 500 pods have the same name in one of a hundred cliques. The later one gets
    another name.

    Args:
        part: the PodClique as the set expects it.
        template_hash: of the new pods.
        slots: the indices of the new pods.
        pods: all that the clique has, those being deleted included.
    """
    taken = {pod.name for pod in pods}
    names = []
    for slot in slots:
        hashed = "/".join((clique.uid, str(slot.index), template_hash, *slot.before))
        name = pod_name(part.name, short_text_hash(hashed, _SUFFIX))
        while name in taken:
            hashed = f"{hashed}/{name}"
            name = pod_name(part.name, short_text_hash(hashed, _SUFFIX))
        taken.add(name)
        names.append(name)
    return names


class NewPod(NamedTuple):
    """A pod that is created now.

    Attributes:
        name: of the pod.
        slot: its index in the clique.
        template_hash: of the template that the clique holds (WL-211).
        gated: whether it has a scheduling gate until its gang refers to it (WL-088).
        group: the PodGroup that it names; empty where a PodGang refers to it (SC-028).
    """

    name: str
    slot: FreePodSlot
    template_hash: str
    gated: bool
    group: str = ""


def pod_manifest_for(context: WorkloadContext, clique: PodClique, part: ExpectedClique, pod: NewPod) -> ObjectToCreate:
    """Return one pod of a PodClique, built from what the clique holds; names and claims are the template's (WL-086).

    Args:
        part: the PodClique as the set expects it.
        pod: its name, index, template hash, and what it waits for.
    """
    root = context.root
    blank = NewObjectMetadata(
        api_version=CORE,
        kind="Pod",
        name=pod.name,
        owner=clique,
        labels=_labels_of(root, clique, part, pod),
        annotations=clique.annotations,
    )
    spec = _spec_of(root, clique, part, pod)
    parents = context.startup_order.parents_of_clique(part)
    if parents:
        image = context.snapshot.configuration.init_image
        spec = _with_init_container(spec, parents, service_account_token_name(root.ref.name), image)
    if pod.slot.is_surge:
        because = WorkloadReason.SURGE_POD.because(clique.ref, replicas=part.replicas)
    else:
        because = WorkloadReason.POD_OF_CLIQUE.because(clique.ref, index=pod.slot.index, replicas=part.replicas)
    return object_to_create(blank, {"spec": spec}, (because,))


def _spec_of(root: PodCliqueSet, clique: PodClique, part: ExpectedClique, pod: NewPod) -> FrozenMap:
    """Return the pod spec with environment variables, gate or group, host name and claims."""
    spec = pod_spec_with_pod_variables(clique.pod_spec, root.ref.name, root.ref.namespace, part)
    spec = FrozenMap(
        {
            **spec,
            **({"schedulingGates": (FrozenMap({"name": GATE}),)} if pod.gated else {}),
            **({"schedulingGroup": FrozenMap({"podGroupName": pod.group})} if pod.group else {}),
            "hostname": pod_hostname(part.name, pod.slot.index),
            "subdomain": set_replica_name(root.ref.name, part.replica),
        }
    )
    spec = pod_spec_with_shared_claims(spec, root, part, pod.slot.index)
    claim_template = clique.annotations.get(DOMAIN_TEMPLATE)
    if not claim_template:
        return spec
    claim = FrozenMap({"name": MNNVL_CLAIM, "resourceClaimTemplateName": claim_template})
    return pod_spec_with_gpu_claim(spec, claim)  # MN-030


def _labels_of(root: PodCliqueSet, clique: PodClique, part: ExpectedClique, pod: NewPod) -> dict[str, str]:
    """Return the clique's labels, Grove's labels, the clique's name and the pod index."""
    labels = with_grove_labels(clique.labels, root.ref.name, part, pod.template_hash)
    labels |= CLIQUE.under_every_key(part.name)
    labels[POD_INDEX] = str(pod.slot.index)
    return labels


def _with_init_container(
    pod_spec: FrozenMap, parents: tuple[tuple[str, int], ...], secret: str, image: str
) -> FrozenMap:
    """Return the pod spec with the init container that waits for the parents' pods, after all others (WL-084)."""
    program, confinement = FrozenMap({"command": (INIT_CONTAINER,)}), FrozenMap({"securityContext": _CONFINED})
    container = init_container_waiting_for(parents, image, program, confinement)
    return pod_spec_with_init_container(pod_spec, container, secret, FrozenMap({"defaultMode": _READABLE}))


def init_container_waiting_for(
    parents: Iterable[tuple[str, int]], image: str, program: FrozenMap = EMPTY, confinement: FrozenMap = EMPTY
) -> FrozenMap:
    """Return the init container that waits for the parents' pods (WL-084).

    Args:
        parents: name of each parent, and how many of its pods have to be ready.
        program, confinement: fields before and after its arguments, such as ``command`` and ``securityContext``.
    """
    mounts = (("pod-info-vol", _INFO_PATH), ("sa-token-secret-vol", _TOKEN_PATH))
    return FrozenMap(
        {
            "name": INIT_CONTAINER,
            "image": image,
            **program,
            "args": tuple(f"{PARENTS_FLAG}{name}:{pods}" for name, pods in parents),
            **confinement,
            "volumeMounts": tuple(
                FrozenMap({"name": name, "mountPath": path, "readOnly": True}) for name, path in mounts
            ),
        }
    )


def pod_spec_with_init_container(
    pod_spec: FrozenMap, container: FrozenMap, secret: str, info_mode: FrozenMap = EMPTY
) -> FrozenMap:
    """Return the pod spec with an init container after all others, and the volumes that it mounts (WL-084).

    Args:
        secret: name of the Secret with the token of the ServiceAccount.
        info_mode: ``defaultMode`` of the files with the namespace and the name of the gang; empty for none.
    """
    gang = f"metadata.labels['{POD_GANG}']"
    fields = [("namespace", "metadata.namespace"), ("podgangname", gang)]
    items = [{"path": path, "fieldRef": {"fieldPath": field}} for path, field in fields]
    volumes = [
        {"name": "sa-token-secret-vol", "secret": {"secretName": secret, "defaultMode": _READABLE}},
        {"name": "pod-info-vol", "downwardAPI": {**info_mode, "items": items}},
    ]
    return FrozenMap(
        {
            **pod_spec,
            "initContainers": (*list_at(pod_spec, "initContainers"), container),
            "volumes": (*list_at(pod_spec, "volumes"), *map(freeze, volumes)),
        }
    )
