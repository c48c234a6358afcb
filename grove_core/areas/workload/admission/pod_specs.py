"""Validates the pod templates of cliques (WL-129 to WL-133), and warns about them (WL-180, WL-181, WL-185)."""

from collections.abc import Iterator

from grove_core.areas.workload.rules import Refuse, Warn
from grove_core.resources.manifest import Manifest
from grove_core.resources.manifest_paths import CLIQUES
from grove_core.resources.name_syntax import is_variable_name
from grove_core.resources.pod_template import Container
from grove_core.resources.violation import Violation


def pod_spec_violations(manifest: Manifest) -> Iterator[Violation]:
    """Return different schedulers and invalid environment variables (WL-129, WL-132, WL-133).

    An empty scheduler name stands for the operator's default, which is not known here, so only written names are
    compared.
    """
    first = _first_scheduler(manifest)
    for index, pod in enumerate(manifest.pods):
        path = _path(index)
        if first is not None and pod.scheduler_name not in {"", first[0]}:
            facts = {"other": first[0], "clique": first[1]}
            yield Violation(f"{path}.schedulerName", pod.scheduler_name, Refuse.SCHEDULERS_DIFFER, facts)
        for container in pod.containers:
            yield from _variables(container, f"{path}.{container.path}")


def placement_violations(manifest: Manifest) -> Iterator[Violation]:
    """Return spread constraints and node names; only new sets are checked for them (WL-130, WL-131)."""
    for index, pod in enumerate(manifest.pods):
        if pod.spread_constraints:
            spread = manifest.spec.template.cliques[index].spec.pod_spec["topologySpreadConstraints"]
            yield Violation(f"{_path(index)}.topologySpreadConstraints", spread, Refuse.SPREAD_CONSTRAINTS, {})
        if pod.node_name:
            yield Violation(f"{_path(index)}.nodeName", pod.node_name, Refuse.NODE_NAME, {})


def pod_spec_warnings(manifest: Manifest) -> Iterator[Violation]:
    """Return pod templates that are valid and probably not intended (WL-180, WL-181, WL-185)."""
    first = _first_scheduler(manifest)
    for index, pod in enumerate(manifest.pods):
        if not any(container.path.startswith("containers[") for container in pod.containers):
            yield Violation(f"{_path(index)}.containers", None, Warn.CONTAINERS_MISSING, {})
        if pod.restart_policy not in {"", "Always"}:
            yield Violation(f"{_path(index)}.restartPolicy", pod.restart_policy, Warn.RESTART_POLICY_NOT_ALWAYS, {})
        if first is not None and not pod.scheduler_name:
            facts = {"other": first[0], "clique": first[1]}
            yield Violation(f"{_path(index)}.schedulerName", None, Warn.SCHEDULER_LEFT_OUT, facts)


def _first_scheduler(manifest: Manifest) -> tuple[str, str] | None:
    """Return the first named scheduler and the clique that names it; None where none is named."""
    pairs = zip(manifest.pods, manifest.spec.template.cliques, strict=True)
    return next(((pod.scheduler_name, clique.name) for pod, clique in pairs if pod.scheduler_name), None)


def _variables(container: Container, path: str) -> Iterator[Violation]:
    seen: set[str] = set()
    for index, name in enumerate(container.env):
        place = f"{path}.env[{index}].name"
        if not is_variable_name(name):
            yield Violation(place, name or None, Refuse.VARIABLE_NAME_INVALID, {})
        elif name in seen:
            yield Violation(place, name, Refuse.VARIABLE_REPEATED, {})
        seen.add(name)


def _path(index: int) -> str:
    return f"{CLIQUES}[{index}].spec.podSpec"
