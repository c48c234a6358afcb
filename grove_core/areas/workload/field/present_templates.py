"""The hashes of a set's present templates, as far as stored hashes show them (WF-001, WF-002).

The Go operator hashes the memory of its own program, which cannot be repeated here. A hash is known if some PodClique
has the content of the template, because its label has the hash then; or else if a pod was created from it, as when an
edit is taken back. A hash of this operator's form replaces any other.

A pod has more than its template: what the operator, the API server and admission added. So a template is compared with
that part of the pod which it sets. Containers, and the variables that Grove does not set, are compared as a whole.
"""

from collections.abc import Iterator
from functools import cached_property
from typing import Final, assert_never

from grove_core.areas.workload.field.objects.template_by_name_suffix import with_template_by_name_suffix
from grove_core.areas.workload.template_hash import has_own_template_hash_form
from grove_core.areas.workload.template_revision import (
    normalized_pod_spec,
    wanted_clique_annotations,
    wanted_clique_pod_spec,
)
from grove_core.areas.workload.workload_context import WorkloadContext
from grove_core.kernel.frozen import FrozenMap, Json, object_under_key
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PlannedSetChange
from grove_core.snapshot.expected_replicas import ExpectedClique, ExpectedReplica

_OVERWRITTEN: Final = frozenset({"hostname", "subdomain", "schedulingGates", "priorityClassName"})
_WHOLE: Final = frozenset({"containers", "env"})
_OF_GROVE: Final = "GROVE_"


class PresentTemplateHashes:
    """The hashes of the present templates of one set; each is computed once, when it is first needed."""

    def __init__(self, context: WorkloadContext, replicas: tuple[ExpectedReplica, ...]) -> None:
        """Index the existing cliques by their template. Linear in the replicas."""
        self._context = context
        self._root = context.root
        self._used_by_name: dict[str, ExpectedClique] = {}
        self._existing: dict[str, list[tuple[ExpectedClique, PodClique]]] = {}
        for part in (part for replica in replicas for part in replica.all_cliques):
            clique = context.existing_clique(part)
            if clique is not None:
                self._existing.setdefault(self._used(part).template.name, []).append((part, clique))
        self._hashes: dict[str, str] = {}

    def is_current(self, clique: PodClique, part: ExpectedClique) -> bool:
        """Return whether a clique has the content of its present template, and its hash if it has any."""
        return self._has_content(clique, part) and clique.template_hash in {"", self.hash_of(part)}

    def _has_content(self, clique: PodClique, part: ExpectedClique) -> bool:
        """Return whether a clique has the template's content, and its gang the set's priority class (WF-116)."""
        is_same = self._context.revision.is_clique_current(clique, self._used(part))
        return is_same and not self._has_other_priority(clique, part)

    def _has_other_priority(self, clique: PodClique, part: ExpectedClique) -> bool:
        """Return whether a clique's hash is of another priority class; a hash of this operator needs no comparison."""
        gang = self._context.gangs.get(part.gang)
        if gang is None or has_own_template_hash_form(clique.template_hash):
            return False
        return gang.priority != self._root.spec.template.priority_class_name

    def hash_of(self, part: ExpectedClique) -> str:
        """Return the template hash that new and changed cliques of this template get."""
        part = self._used(part)
        name = part.template.name
        if name not in self._hashes:
            known = (
                clique.template_hash
                for other, clique in self._existing.get(name, ())
                if self._is_of_present_form(clique.template_hash) and self._has_content(clique, other)
            )
            self._hashes[name] = (
                next(known, "")
                or next(self._hashes_of_pods(name), "")
                or self._context.revision.hash_of_template(part.template)
            )
        return self._hashes[name]

    def _used(self, part: ExpectedClique) -> ExpectedClique:
        """Return the clique with the template that its PodClique is made from, searched once for each name (WF-110)."""
        if part.name not in self._used_by_name:
            self._used_by_name[part.name] = with_template_by_name_suffix(self._root, part)
        return self._used_by_name[part.name]

    def _hashes_of_pods(self, name: str) -> Iterator[str]:
        """Yield the hashes of pods that were created from a template, and that their own clique does not have."""
        tried: set[str] = set()
        for part, clique in self._existing.get(name, ()):
            used = self._used(part)
            for pod in self._context.pods_of_clique(clique):
                found = pod.template_hash
                is_other = found not in {clique.template_hash, *tried} and not has_own_template_hash_form(found)
                if is_other and found in self._manifests and self._is_of_present_form(found):
                    tried.add(found)
                    is_of_template = is_pod_of_template(self._manifests[found], used)
                    if is_of_template and not self._has_other_priority(clique, part):
                        yield found

    @cached_property
    def _manifests(self) -> dict[str, FrozenMap]:
        """The kept manifest of a pod of each hash, whichever clique it is of: cliques of equal templates share one."""
        pods = (pod for found in self._context.snapshot.pods_of.values() for pod in found)
        return {pod.template_hash: pod.manifest for pod in pods if pod.manifest is not None}

    def _is_of_present_form(self, template_hash: str) -> bool:
        """Return whether the release that acts can have computed a stored hash (WF-091)."""
        is_upgraded = self._root.edit is PlannedSetChange.OF_HASHES
        return bool(template_hash) and (not is_upgraded or has_own_template_hash_form(template_hash))

    @cached_property
    def generation(self) -> str:
        """The generation hash of the present templates: the stored one unless a template has changed."""
        return self._own_generation if self.has_changed or not self.stored else self.stored

    @property
    def stored(self) -> str:
        """The generation hash in the set's status; empty before the first reconcile."""
        return self._root.status.current_hash

    @cached_property
    def has_changed(self) -> bool:
        """Whether the stored generation hash is of older templates, so that an update begins (WF-002)."""
        root = self._root
        if not self.stored:
            return False
        is_own = has_own_template_hash_form(self.stored)
        match root.edit:
            case PlannedSetChange.OF_NUMBERS:
                return False
            case PlannedSetChange.NONE | PlannedSetChange.OF_MORE | PlannedSetChange.OF_HASHES if is_own:
                return self.stored != self._own_generation
            case PlannedSetChange.OF_HASHES:
                return True
            case PlannedSetChange.NONE:
                is_observed = root.generation is not None and root.status.observed == root.generation
                return not is_observed and self._has_changed_content
            case PlannedSetChange.OF_MORE:
                return self._has_changed_content
            case _:
                assert_never(root.edit)

    @property
    def _has_changed_content(self) -> bool:
        """Whether no existing clique of some template has its present content.

        Standalone cliques have the templates of the stored hash. Members have them only where no update runs.
        """
        return any(
            not any(self._has_content(clique, part) for part, clique in found)
            for found in self._existing.values()
            if found[0][0].group is None or not self._root.status.updating
        )

    @cached_property
    def _own_generation(self) -> str:
        return self._context.revision.own_generation_hash()


def is_pod_of_template(manifest: FrozenMap, part: ExpectedClique) -> bool:
    """Return whether a pod was created from the template of a clique.

    Args:
        manifest: of the pod: ``labels``, ``annotations`` and ``spec``.
        part: the clique; of a scaling group or standalone.
    """
    if not _contains(object_under_key(manifest, "labels"), part.template.labels, ""):
        return False
    if not _contains(object_under_key(manifest, "annotations"), wanted_clique_annotations(part), ""):
        return False
    wanted = normalized_pod_spec(wanted_clique_pod_spec(part, ""))
    set_by_template = FrozenMap({key: value for key, value in wanted.items() if key not in _OVERWRITTEN})
    return _contains(normalized_pod_spec(object_under_key(manifest, "spec")), set_by_template, "")


def _contains(stored: Json, wanted: Json, key: str) -> bool:
    """Return whether a stored value has everything of the wanted one; ``key`` is the name of its field."""
    if isinstance(wanted, FrozenMap):
        return isinstance(stored, FrozenMap) and all(
            name in stored and _contains(stored[name], value, name) for name, value in wanted.items()
        )
    if isinstance(wanted, tuple) and any(isinstance(item, FrozenMap) for item in wanted):
        return isinstance(stored, tuple) and _contains_items(stored, wanted, key)
    return stored == wanted


def _contains_items(stored: tuple[Json, ...], wanted: tuple[Json, ...], key: str) -> bool:
    if key in _WHOLE and _names(stored) != _names(wanted):
        return False
    return all(any(_contains(item, one, "") for item in stored) for one in wanted)


def _names(items: tuple[Json, ...]) -> set[str]:
    names = {str(item.get("name")) for item in items if isinstance(item, FrozenMap)}
    return {name for name in names if not name.startswith(_OF_GROVE)}
