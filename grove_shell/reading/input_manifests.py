"""The manifests of PodCliqueSets in an input: new sets, and edits of sets that the input has (IN-039, IN-041)."""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from grove_core.resources.api_names import CLAIM_TEMPLATE_KIND
from grove_core.resources.configuration import Configuration
from grove_core.snapshot.cluster_index import index_cluster
from grove_shell.reading.input_completeness import CollectedObjects, NewSetManifest
from grove_shell.reading.input_objects import InputObjects
from grove_shell.reading.input_sources import InputItem
from grove_shell.reading.input_topologies import InputTopologies, admission_topology_view
from grove_shell.reading.manifest_admission import (
    ChooseRules,
    admit_manifest,
    lacks_claim_templates,
    manifests_by_name,
    names_used_by_sets,
    set_with_manifest_applied,
    sets_of_same_name,
)

if TYPE_CHECKING:
    from grove_core.plan.forecast import SetsOfSameName
    from grove_core.resources.edited_manifest_fields import ManifestChange
    from grove_core.resources.podcliqueset import PodCliqueSet
    from grove_core.rule_sets.rule_set import RuleSet


class InputManifests:
    """The manifests of one input. Mutable: it is filled while the input is read.

    Attributes:
        changes: (namespace, name) of an edited set -> what the edit changes.
        before: ``namespace/name`` of an edited set -> the set as it is stored.
        hidden: the same -> changes of values that a capture redacted, which the edit does not make (ED-015).
        kept: values that the edit leaves as they are stored, with the name of their set.
        new_sets, same_names: ``namespace/name`` of a new set -> its manifest, and stored sets of its name.
    """

    def __init__(self, configuration: Configuration, choose_rules: ChooseRules | None) -> None:
        """Begin without a manifest.

        Args:
            configuration: of the operator; manifests are admitted under it.
            choose_rules: chooses the operator whose admission judges; None for that of the design.
        """
        self._configuration = configuration
        self._choose_rules = choose_rules
        self._items: list[InputItem] = []
        self.changes: dict[tuple[str, str], tuple[ManifestChange, ...]] = {}
        self.before: dict[str, PodCliqueSet] = {}
        self.hidden: dict[str, tuple[ManifestChange, ...]] = {}
        self.kept: list[str] = []
        self.new_sets: dict[str, NewSetManifest] = {}
        self.same_names: dict[str, SetsOfSameName] = {}

    def add(self, item: InputItem) -> None:
        """Keep a set without a uid."""
        self._items.append(item)

    def admit(
        self,
        found: InputObjects,
        live: CollectedObjects,
        topologies: InputTopologies,
        newer: tuple[str, ...],
        warn: Callable[[str], None],
    ) -> Iterator[InputItem]:
        """Admit the manifests: apply edits to the sets in ``found``, and yield new sets as they will be stored.

        Args:
            found: the other objects of the input; faults of manifests are added to it.
            live: where the stored objects come from.
            topologies: of the input.
            newer: marks of a newer release of the Go operator.
            warn: takes each warning.
        """
        if not self._items:
            return
        chosen = manifests_by_name(self._items, found)
        used_names = names_used_by_sets([item.value for item in chosen.values()], found.running)
        judging = admission_topology_view(topologies.topologies_for_admission, found.cliques.values() or None)
        rules = self._admitting_operator(found, newer)
        templates = found.templates.keys() | found.conflicting_keys_of_kind(CLAIM_TEMPLATE_KIND)
        has_values = live.served is not None  # a server that is read, unlike a capture, has redacted values too
        for key, given in sorted(chosen.items()):
            before = found.running.get(key)
            item = given if has_values else self._with_hidden_values_kept(given, key, before)
            applied = admit_manifest(
                item,
                before,
                used_names=used_names,
                configuration=self._configuration,
                around=judging,
                rules=rules,
                note=found.add_fault,
                warn=warn,
            )
            raw = applied.manifest if applied is not None else None
            if raw is not None and lacks_claim_templates(item, raw, templates, found.add_fault):
                raw = None
            if raw is None:
                found.mark_kind_incomplete("PodCliqueSet", item.value)
            elif before is not None:
                self.before["/".join(key)] = found.sets[key]
                found.sets[key] = set_with_manifest_applied(found.sets[key], raw)
                self.changes[key] = _changes_of_edit(before, raw)
                self.kept += [f"{key[0]}/{key[1]} {path}" for path in (applied.kept if applied is not None else ())]
            else:
                self.new_sets["/".join(key)] = NewSetManifest(item.value, raw)
                if alike := sets_of_same_name(item.value, key, found.running):
                    self.same_names["/".join(key)] = alike
                yield item._replace(value=dict(raw))

    def _with_hidden_values_kept(
        self, item: InputItem, key: tuple[str, str], stored: Mapping[str, Any] | None
    ) -> InputItem:
        """Return the manifest of an edit without changes of values that a capture redacted (ED-015)."""
        if stored is None:
            return item
        from grove_shell.reading.redacted_values import with_hidden_values_kept  # noqa: PLC0415 - dumps have no manifests (P11)

        kept, hidden = with_hidden_values_kept(item.value, stored)
        if not hidden:
            return item
        self.hidden["/".join(key)] = hidden
        return item._replace(value=dict(kept))

    def _admitting_operator(self, found: InputObjects, newer: tuple[str, ...]) -> "RuleSet":
        """Return the operator whose admission judges the manifests; that of the design where none was chosen."""
        from grove_core.rule_sets.rule_set import DESIGN  # noqa: PLC0415 - dumps have no manifests (P11)

        if self._choose_rules is None:
            return DESIGN
        cluster = index_cluster(sets=found.sets.values(), cliques=found.cliques.values())
        return self._choose_rules(cluster, newer)


def _changes_of_edit(before: Mapping[str, Any], after: Mapping[str, Any]) -> "tuple[ManifestChange, ...]":
    from grove_core.resources.edited_manifest_fields import manifest_changes  # noqa: PLC0415 - dumps have no manifests (P11)

    return manifest_changes(before, after)
