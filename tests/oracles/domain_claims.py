"""Checks the channel claims of pods (CD4)."""

from typing import Any

from grove_core.kernel.frozen import thaw_json
from grove_core.resources.pod import Pod
from grove_shell.simulator.checks.simulation_check import SimulationCheck
from grove_shell.simulator.cluster.object_change_detector import ObjectChange
from tests.oracles.domain_facts import (
    CLAIM,
    TEMPLATE,
    containers_of,
    wants_gpu,
)
from tests.oracles.sharing_facts import ENTRY, claim_in


class DomainClaimCheck(SimulationCheck):
    """CD4: every pod claims the channels that the annotations of its clique require."""

    def on_changes(self, changes: list[ObjectChange]) -> None:
        """Check the claims of new pods."""
        for change in changes:
            pod = change.after
            if change.before is None and isinstance(pod, Pod):
                clique = self.state.cliques.get(pod.owner_uid)
                manifest = self.state.cluster.server.manifests.get(pod.ref)
                if clique is not None and manifest is not None:
                    spec = thaw_json(manifest)["spec"]
                    template, claim = clique.annotations.get(TEMPLATE), claim_in(clique.pod_spec)
                    own = [] if template is None else [{"name": CLAIM, "resourceClaimTemplateName": template}]
                    self._check_claim(pod, CLAIM, own, spec)
                    self._check_claim(
                        pod, ENTRY, [] if claim is None else [{"name": ENTRY, "resourceClaimName": claim}], spec
                    )

    def _check_claim(self, pod: Pod, name: str, wanted: list[dict[str, Any]], spec: dict[str, Any]) -> None:
        claims = [one for one in spec.get("resourceClaims") or () if one["name"] == name]
        if claims != wanted:
            self.state.report_broken_promise(
                "CD4", f"{pod.name} claims {claims} and should claim {wanted}", pod.ref.short
            )
        for container in containers_of(spec):
            claimed = (container.get("resources") or {}).get("claims") or ()
            listed = [one["name"] for one in claimed if one["name"] == name]
            if listed != ([name] if wanted and wants_gpu(container) else []):
                message = f"container {container['name']} of {pod.name} lists {listed or 'no channel'}"
                self.state.report_broken_promise("CD4", message, pod.ref.short)
