"""An index of ResourceClaimTemplates and the sets that name them, to requeue these sets when a template changes."""

from collections import defaultdict
from itertools import chain

from grove_core.resources.podcliqueset import PodCliqueSet
from grove_shell.cache.root_keys import RootKey

TemplateName = tuple[str, str]
"""Namespace and name."""


class TemplateUsers:
    """The sets of each template. Mutable; a set is searched once for each change of it."""

    def __init__(self) -> None:
        """Start empty."""
        self._named: dict[RootKey, frozenset[TemplateName]] = {}
        self._users: defaultdict[TemplateName, set[RootKey]] = defaultdict(set)

    def of(self, template: TemplateName) -> list[RootKey]:
        """Return the keys of the sets that name a template, sorted."""
        return sorted(self._users.get(template, ()))

    def note(self, root_key: RootKey, root: PodCliqueSet | None) -> None:
        """Take in a new or changed set; None for a deleted one."""
        now, before = frozenset() if root is None else _named_by(root), self._named.pop(root_key, frozenset())
        for template in before - now:
            self._users[template].discard(root_key)
            if not self._users[template]:
                del self._users[template]
        for template in now - before:
            self._users[template].add(root_key)
        if now:
            self._named[root_key] = now


def _named_by(root: PodCliqueSet) -> frozenset[TemplateName]:
    """Return the templates that a set names, those included that its inline templates hide."""
    template = root.spec.template
    groups = (group.resource_sharing for group in template.pod_clique_scaling_groups)
    cliques = (clique.resource_sharing for clique in template.cliques)
    entries = chain(template.resource_sharing, *groups, *cliques)
    return frozenset((entry.namespace or root.ref.namespace, entry.name) for entry in entries)
