"""Checks the channel claims of pods, and the ComputeDomains at rest (CD1, CD3, CD4, CD10)."""

from typing import Any

from grove_core.kernel.frozen import thaw
from grove_core.resources.configuration import Configuration
from grove_core.resources.names import index_from
from grove_core.resources.pod import Pod
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_shell.simulator.checks.check import Check
from grove_shell.simulator.checks.compute_domains import ComputeDomainCheck
from grove_shell.simulator.checks.domain_facts import (
    CLAIM,
    TEMPLATE,
    containers_of,
    failed_in,
    needs_domains,
    wants_gpu,
)
from grove_shell.simulator.checks.sharing_facts import ENTRY, claim_in
from grove_shell.simulator.cluster.changes import Change


class DomainClaimCheck(Check):
    """CD4: every pod claims the channels that the annotations of its clique require."""

    def on_changes(self, changes: list[Change]) -> None:
        """Check the claims of new pods."""
        for change in changes:
            pod = change.after
            if change.before is None and isinstance(pod, Pod):
                clique = self.state.cliques.get(pod.owner_uid)
                manifest = self.state.cluster.server.manifests.get(pod.ref)
                if clique is not None and manifest is not None:
                    spec = thaw(manifest)["spec"]
                    template, claim = clique.annotations.get(TEMPLATE), claim_in(clique.pod_spec)
                    own = [] if template is None else [{"name": CLAIM, "resourceClaimTemplateName": template}]
                    self._check_claim(pod, CLAIM, own, spec)
                    self._check_claim(
                        pod, ENTRY, [] if claim is None else [{"name": ENTRY, "resourceClaimName": claim}], spec
                    )

    def _check_claim(self, pod: Pod, name: str, wanted: list[dict[str, Any]], spec: dict[str, Any]) -> None:
        claims = [one for one in spec.get("resourceClaims") or () if one["name"] == name]
        if claims != wanted:
            self.state.fail("CD4", f"{pod.name} claims {claims} and should claim {wanted}", pod.ref.short)
        for container in containers_of(spec):
            claimed = (container.get("resources") or {}).get("claims") or ()
            listed = [one["name"] for one in claimed if one["name"] == name]
            if listed != ([name] if wanted and wants_gpu(container) else []):
                message = f"container {container['name']} of {pod.name} lists {listed or 'no channel'}"
                self.state.fail("CD4", message, pod.ref.short)


def check_domains_at_rest(domains: ComputeDomainCheck, configuration: Configuration) -> None:
    """Check that every replica has its domain, or is listed as failed in the condition (CD1, CD3, CD10)."""
    for root in domains.state.cluster.sets():
        if not root.deleting:
            _check_set(domains, root, wanted=needs_domains(root, configuration))


def _check_set(domains: ComputeDomainCheck, root: PodCliqueSet, *, wanted: bool) -> None:
    state, replicas, short = domains.state, domains.replicas, root.ref.short
    failing: list[int] = []
    for index in range(root.spec.replicas):
        parts = replicas.siblings((root.uid, index))
        found = replicas.domain(root, index)
        joined = any(TEMPLATE in part.annotations for part in parts)
        if not wanted or (found is not None and found.owner_uid == root.uid and not found.deleting):
            continue
        if not joined and not any(part.uid in domains.deprived for part in parts):
            continue
        failing.append(index)
        if found is None:
            made = (root.uid, index) in replicas.made
            word = "recreated" if made else "created"
            state.fail("CD10" if made else "CD1", f"the domain of replica {index} of {short} is never {word}", short)
    if list(failed_in(root) or ()) != failing:
        state.fail("CD3", f"{short} lists failed domains of replicas {failed_in(root)}, and {failing} failed", short)
    for domain in state.cluster.server.items.values():
        number = index_from(domain.ref.name.rpartition("-cd-")[2])
        ours = domain.ref.kind == "ComputeDomain" and domain.owner_uid == root.uid
        if ours and number is not None and number >= root.spec.replicas and not domain.deleting:
            state.fail("CD1", f"{domain.ref.short} is left of a deleted replica", domain.ref.short)
