"""The parents of each clique by full name: the cliques that it starts after (WL-050)."""

from collections.abc import Iterator

from grove_core.areas.workload.template.expected_replicas import ExpectedClique, first_by_name
from grove_core.resources.names import member_clique_name, scaling_group_name, standalone_clique_name
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.template import EXPLICIT, IN_ORDER


class StartupParents:
    """The start-up order of one set."""

    def __init__(self, root: PodCliqueSet) -> None:
        template = root.spec.template
        self._set_name = root.ref.name
        self._cliques = first_by_name(template.cliques)
        self._before: dict[str, tuple[str, ...]] = {}
        if template.clique_startup_type == IN_ORDER:
            names = [clique.name for clique in template.cliques]
            self._before = {name: (names[place],) for place, name in enumerate(names[1:])}
        elif template.clique_startup_type == EXPLICIT:
            self._before = {clique.name: clique.spec.starts_after for clique in template.cliques}
        self._homes = template.groups_by_clique

    def parents_of(self, part: ExpectedClique) -> tuple[tuple[str, int], ...]:
        """Return the cliques whose pods must be ready first: full name and number of pods.

        Parents are in the same gang; a clique of a scaled gang waits only for its own group replica (WL-050).
        """
        return tuple(
            (name, self._cliques[short].min_available)
            for short in self._before.get(part.template.name, ())
            if short in self._cliques
            for name in self._names_of(short, part)
        )

    def _names_of(self, short: str, part: ExpectedClique) -> Iterator[str]:
        group = self._homes.get(short)
        if part.base_gang:
            own = scaling_group_name(self._set_name, part.replica, group.name) if group else ""
            if own and own == part.group:
                yield member_clique_name(own, part.group_replica, short)
        elif group is None:
            yield standalone_clique_name(self._set_name, part.replica, short)
        else:
            name = scaling_group_name(self._set_name, part.replica, group.name)
            for index in range(group.min_available):
                yield member_clique_name(name, index, short)
