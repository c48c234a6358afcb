"""Environment variables in pod specs as the Go operator writes them (WF-154)."""

from collections.abc import Iterable

from grove_core.areas.workload.field.releases import WorkloadBehaviourOfRelease
from grove_core.areas.workload.objects.lazy_manifests import Variable, pod_spec_with_variables_first
from grove_core.kernel.frozen import FrozenMap, Json, frozen, list_at
from grove_core.resources.pod_spec_gpus import pod_spec_with_changed_containers


def pod_spec_with_variables(
    pod_spec: FrozenMap, variables: Iterable[Variable], release: WorkloadBehaviourOfRelease
) -> FrozenMap:
    """Return the pod spec with variables in every container, behind its own ones or before them.

    Behind them, a variable of the user with the same name stays as well.
    """
    if release.has_variables_first:
        return pod_spec_with_variables_first(pod_spec, variables)
    given = tuple(map(frozen, variables))

    def filled(container: FrozenMap) -> Json:
        return FrozenMap({**container, "env": (*list_at(container, "env"), *given)})

    return pod_spec_with_changed_containers(pod_spec, filled)


def pod_spec_with_variables_in_one_place(pod_spec: FrozenMap, names: Iterable[str]) -> FrozenMap:
    """Return the pod spec with the variables of these names behind all others, in one order.

    Two specs by different releases are equal then.
    """
    moved = frozenset(names)

    def arranged(container: FrozenMap) -> Json:
        variables = list_at(container, "env")
        return FrozenMap({**container, "env": tuple(sorted(variables, key=lambda item: _place(item, moved)))})

    return pod_spec_with_changed_containers(pod_spec, arranged)


def _place(variable: Json, moved: frozenset[str]) -> str:
    name = variable.get("name") if isinstance(variable, FrozenMap) else None
    return str(name) if name in moved else ""
