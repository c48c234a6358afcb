"""The names and paths of the webhooks in their configurations."""

from collections.abc import Mapping
from typing import Final

GROUP: Final = "admissionregistration.k8s.io"
API_VERSION: Final = f"{GROUP}/v1"
DEFAULTING: Final = "defaulting.podcliquesets.grove.io"
VALIDATION: Final = "validation.podcliquesets.grove.io"
JOINING: Final = "joining.podcliques.grove.io"
STAMPING: Final = "stamping.podgangs.scheduler.grove.io"
TOPOLOGIES: Final = "validation.clustertopologies.grove.io"
LEAVING: Final = "deletion.clustertopologies.grove.io"
PATHS: Final[Mapping[str, str]] = {
    DEFAULTING: "/webhooks/default-podcliqueset",
    VALIDATION: "/webhooks/validate-podcliqueset",
    JOINING: "/webhooks/join-podclique",
    STAMPING: "/webhooks/stamp-podgang",
    TOPOLOGIES: "/webhooks/validate-clustertopology",
    LEAVING: "/webhooks/delete-clustertopology",
}
GUARDING: Final = (TOPOLOGIES, LEAVING)
"""Of topologies."""
JOINED: Final = (JOINING, STAMPING)
"""Of PodCliques that share, and of their PodGangs."""
MUTATING: Final = "mutatingwebhookconfigurations"
VALIDATING: Final = "validatingwebhookconfigurations"
