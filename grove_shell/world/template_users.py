"""Which sets name which ResourceClaimTemplates: a template that comes or changes concerns them, and nobody else."""

from collections import defaultdict
from itertools import chain

from grove_core.resources.podcliqueset import PodCliqueSet
from grove_shell.world.homes import Home

TemplateName = tuple[str, str]
"""Namespace and name."""


class TemplateUsers:
    """Kept up to date set by set; what a set names is looked for once, when it changes."""

    def __init__(self) -> None:
        """Nobody names any."""
        self._named: dict[Home, frozenset[TemplateName]] = {}
        self._users: defaultdict[TemplateName, set[Home]] = defaultdict(set)

    def of(self, template: TemplateName) -> list[Home]:
        """The sets that name a template, sorted."""
        return sorted(self._users.get(template, ()))

    def note(self, home: Home, root: PodCliqueSet | None) -> None:
        """A set is new, has changed, or is gone."""
        now, before = frozenset() if root is None else _named_by(root), self._named.pop(home, frozenset())
        for template in before - now:
            self._users[template].discard(home)
            if not self._users[template]:
                del self._users[template]
        for template in now - before:
            self._users[template].add(home)
        if now:
            self._named[home] = now


def _named_by(root: PodCliqueSet) -> frozenset[TemplateName]:
    """Also where a template of its own has that name: then the object is of no interest, and few are told in vain."""
    template = root.spec.template
    groups = (group.resource_sharing for group in template.pod_clique_scaling_groups)
    cliques = (clique.resource_sharing for clique in template.cliques)
    entries = chain(template.resource_sharing, *groups, *cliques)
    return frozenset((entry.namespace or root.ref.namespace, entry.name) for entry in entries)
