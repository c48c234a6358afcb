"""Names in the API: API versions, kinds, label keys, annotations, finalizers, condition types.

Labels that have several keys are declared in ``labels``. A kind is also written out where that reads as well, as in
``ref.kind == "Pod"``; but for the types of fields, one module uses either its constant or its text.
"""

from types import MappingProxyType
from typing import Final

GROVE: Final = "grove.io/v1alpha1"
SCHEDULER: Final = "scheduler.grove.io/v1alpha1"
CORE: Final = "v1"
RBAC: Final = "rbac.authorization.k8s.io/v1"
AUTOSCALING: Final = "autoscaling/v2"
WORKLOADS: Final = "scheduling.k8s.io/v1beta1"
COMPOSITES: Final = "scheduling.k8s.io/v1alpha3"
CLAIMS: Final = "resource.k8s.io/v1"
CLAIM_VERSIONS: Final = (CLAIMS, "resource.k8s.io/v1beta2", "resource.k8s.io/v1beta1")  # the newest first
NVIDIA: Final = "resource.nvidia.com/v1beta1"

POD_KIND: Final = "Pod"
CLIQUE_KIND: Final = "PodClique"
SET_KIND: Final = "PodCliqueSet"
GROUP_KIND: Final = "PodCliqueScalingGroup"
GANG_KIND: Final = "PodGang"
DOMAIN_KIND: Final = "ComputeDomain"
DOMAIN_CLIQUE_KIND: Final = "ComputeDomainClique"
TOPOLOGY_KIND: Final = "ClusterTopology"
BINDING_KIND: Final = "ClusterTopologyBinding"
CLAIM_KIND: Final = "ResourceClaim"
CLAIM_TEMPLATE_KIND: Final = "ResourceClaimTemplate"
WORKLOAD_KIND: Final = "Workload"
COMPOSITE_KIND: Final = "CompositePodGroup"
POD_GROUP_KIND: Final = "PodGroup"
NODE_KIND: Final = "Node"

RENAMED_KINDS: Final = MappingProxyType({"PodGangSet": "PodCliqueSet"})
"""Earlier names of kinds of Grove."""

PREFIX: Final = "grove.io/"
MANAGED_BY: Final = "app.kubernetes.io/managed-by"
NAME: Final = "app.kubernetes.io/name"
COMPONENT: Final = "app.kubernetes.io/component"
OPERATOR: Final = "grove-operator"
POD_INDEX: Final = "grove.io/podclique-pod-index"
BASE_GANG: Final = "grove.io/base-podgang"
SCHEDULER_NAME: Final = "grove.io/scheduler-name"
SCHEDULER_FIELD: Final = "schedulerName"  # of a pod spec
GATE: Final = "grove.io/podgang-pending-creation"
TEMPLATE_HASH: Final = "grove.io/pod-template-hash"
POD_GANG: Final = "grove.io/podgang"
TOPOLOGY_NAME: Final = "grove.io/topology-name"
DOMAIN_TEMPLATE: Final = "grove.io/compute-domain-rct"
MNNVL_ENABLED: Final = "grove.io/mnnvl-enabled"
MNNVL_SCOPE: Final = "grove.io/mnnvl-scope"
MNNVL_DEVICE_CLASS: Final = "grove.io/mnnvl-device-class"
MNNVL_MANAGED: Final = "grove.io/mnnvl-managed"
MNNVL_ADOPTED: Final = "grove.io/mnnvl-resources-adopted"
MNNVL_GROUP: Final = "grove.io/mnnvl-group"  # of the Go operator: an annotation, and a label of its ComputeDomains
MNNVL_CLAIM: Final = "mnnvl-claim"  # in pods that the operator gives a channel
UPDATE_PROGRESS: Final = "updateProgress"  # in statuses
UPDATE_STARTED: Final = "updateStartedAt"  # in the progress
UPDATE_ENDED: Final = "updateEndedAt"  # in the progress
UPDATE_SET_HASH: Final = "podCliqueSetGenerationHash"  # in the progress
UPDATE_POD_HASH: Final = "podTemplateHash"  # in the progress
SHARED_CLAIM: Final = "mnnvl"  # in PodCliques that join a ComputeDomain by annotation

SET_FINALIZER: Final = "grove.io/podcliqueset.grove.io"
GROUP_FINALIZER: Final = "grove.io/podcliquescalinggroup.grove.io"
CLIQUE_FINALIZER: Final = "grove.io/podclique.grove.io"
TOPOLOGY_FINALIZER: Final = "grove.io/clustertopology"
DOMAIN_FINALIZER: Final = "grove.io/computedomain-finalizer"  # of the Go operator

DOMAIN: Final = "resource.nvidia.com/computeDomain"
DOMAIN_CLIQUE: Final = "resource.nvidia.com/computeDomain.cliqueID"

MIN_AVAILABLE_BREACHED: Final = "MinAvailableBreached"
CLIQUE_SCHEDULED: Final = "PodCliqueScheduled"
GANG_INITIALIZED: Final = "Initialized"
GANG_SCHEDULED: Final = "Scheduled"
GANG_READY: Final = "Ready"
TERMINATION_IN_PROGRESS: Final = "GangTerminationInProgress"
DOMAINS_READY: Final = "ComputeDomainsReady"
TOPOLOGY_IN_SYNC: Final = "TopologyInSync"
CONDITIONS: Final = frozenset(
    {
        DOMAINS_READY,
        TOPOLOGY_IN_SYNC,
        MIN_AVAILABLE_BREACHED,
        CLIQUE_SCHEDULED,
        GANG_INITIALIZED,
        GANG_SCHEDULED,
        GANG_READY,
        TERMINATION_IN_PROGRESS,
    }
)  # that Grove writes; conditions of other types are left alone
