"""Sets whose names matter."""

from tests.property.resources.manifests import Json, clique_set


def set_of(name: str, *cliques: Json, groups: tuple[Json, ...] = (), replicas: int = 1, **template: object) -> Json:
    raw = clique_set(cliques=list(cliques), podCliqueScalingGroups=list(groups), **template)
    raw["metadata"]["name"] = name
    raw["spec"]["replicas"] = replicas
    return raw
