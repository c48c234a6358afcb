"""Compares PodCliques with the present template of the set (WL-043).

A clique with a hash of this operator is compared by hash. A clique with another operator's hash is compared by content,
so that taking over a cluster restarts nothing. Pod specs are compared in the form in which a typed Go client writes
them: quantities in one form, defaults filled in, empty values removed.
"""

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Final

from grove_core.areas.workload.objects.lazy_manifests import pod_spec_with_group_variables
from grove_core.areas.workload.template_hash import (
    has_own_template_hash_form,
    pod_template_hash,
    template_generation_hash,
    template_hash_of_clique,
)
from grove_core.kernel.frozen import EMPTY, FrozenMap, Json, list_at
from grove_core.resources.api_names import (
    COMPONENT,
    DOMAIN_TEMPLATE,
    MANAGED_BY,
    MNNVL_CLAIM,
    NAME,
    SHARED_CLAIM,
    TOPOLOGY_NAME,
)
from grove_core.resources.domain_sharing import shared_claim_entry
from grove_core.resources.labels import SET, is_grove_key
from grove_core.resources.pod import Pod
from grove_core.resources.pod_spec_gpus import pod_spec_with_changed_containers
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.podcliqueset_spec import CliqueTemplate
from grove_core.resources.quantities import AMOUNTS, QUANTITY_IN, parse_quantity
from grove_core.snapshot.expected_replicas import ExpectedClique

# Numbers and flags that are no pointers and may be left out in the types of k8s.io/api/core/v1: a client written in Go
# leaves 0 and false out. Of a pointer both are kept, as in allowPrivilegeEscalation, and mean something.
_DROPPED: Final = frozenset(
    {
        *("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"),
        *("readOnly", "stdin", "stdinOnce", "tty", "hostPort", "hostNetwork", "hostPID", "hostIPC", "partition"),
    }
)
_VARIABLES: Final = "GROVE_"
_ANNOTATIONS_OF_GROVE: Final = frozenset({TOPOLOGY_NAME, DOMAIN_TEMPLATE})
_LABELS_OF_GROVE: Final = frozenset({MANAGED_BY, NAME, COMPONENT, SET.primary})


def normalized_pod_spec(pod_spec: FrozenMap) -> FrozenMap:
    """Return the pod spec in normal form: two that mean the same are equal, except for the order of keyed lists."""
    found = _typed(pod_spec, "")
    return found if isinstance(found, FrozenMap) else EMPTY


def _typed(value: Json, key: str) -> Json:
    if value.__class__ is FrozenMap:
        items = {name: _typed(item, name) for name, item in value.items()}
        if key in AMOUNTS:
            items = {name: _one_form(item) for name, item in items.items()}
        elif "containerPort" in items:
            items.setdefault("protocol", "TCP")
        elif key == "resourceFieldRef":
            items.setdefault("divisor", "0")
        items = {name: _one_form(item) if name == QUANTITY_IN.get(key) else item for name, item in items.items()}
        kept = (name for name, item in items.items() if not _is_empty(item) and (item or name not in _DROPPED))
        return FrozenMap({name: items[name] for name in kept})
    return tuple(_typed(item, "") for item in value) if isinstance(value, tuple) else value


def _one_form(value: Json) -> Json:
    quantity = parse_quantity(value)
    return value if quantity is None else f"{quantity.numerator}/{quantity.denominator}"


def _is_empty(value: Json) -> bool:
    return value is None or value in ("", ()) or (isinstance(value, FrozenMap) and not value)


class TemplateRevision:
    """The present template of one set. Each hash is computed once, when it is first needed."""

    def __init__(self, root: PodCliqueSet) -> None:
        self._priority = root.spec.template.priority_class_name
        self._root = root
        self._hashes: dict[str, str] = {}
        self._foreign: dict[tuple[str, str], bool] = {}

    def hash_of_clique_template(self, part: ExpectedClique) -> str:
        """Return the template hash that the clique should carry."""
        return self.hash_of_template(part.template)

    def hash_of_template(self, template: CliqueTemplate) -> str:
        """Return the template hash of a clique of the set."""
        if template.name not in self._hashes:
            self._hashes[template.name] = template_hash_of_clique(template, self._priority)
        return self._hashes[template.name]

    def is_clique_current(self, clique: PodClique, part: ExpectedClique) -> bool:
        """Return whether the clique is of the present template. Each foreign hash is compared once."""
        if has_own_template_hash_form(clique.template_hash):
            return clique.template_hash == self.hash_of_clique_template(part)
        if not clique.pod_spec:
            return True  # the input does not have it, so that it cannot be compared
        key = (part.template.name, clique.template_hash or clique.uid)  # cliques without a hash may differ
        if key not in self._foreign:
            self._foreign[key] = self._has_content_of_template(clique, part)
        return self._foreign[key]

    def hash_of_removed_template(self, clique: PodClique, part: ExpectedClique, pods: Iterable[Pod]) -> str:
        """Return the hash of a clique whose template hash was removed (WL-211).

        It comes from the clique's status, else from its pods, if these are of what the clique holds; otherwise it is
        computed from that. A clique of the present template gets this operator's hash, unless it had another
        operator's: nothing is restarted.
        """
        known = "" if _may_have_changed(clique) else clique.status.current_hash or _hash_of_all(pods)
        if self.is_clique_current(clique, part):
            return self.hash_of_clique_template(part) if not known or has_own_template_hash_form(known) else known
        return known or self._hash_of_content(clique)

    def _hash_of_content(self, clique: PodClique) -> str:
        """Return the hash of the template that a clique was created from, as far as its content shows."""
        spec = _without_groves_additions(clique.pod_spec, _claims_added_to(clique))
        return pod_template_hash(
            _without_groves_texts(clique.labels), _without_groves_texts(clique.annotations), spec, ""
        )

    def generation_hash(self, *, is_reached: bool) -> str:
        """Return the hash of the templates of all cliques together (WL-040).

        Once every clique holds the present template, another operator's hash stays.
        """
        stored = self._root.status.current_hash
        if stored and is_reached and not has_own_template_hash_form(stored):
            return stored
        return self.own_generation_hash()

    def own_generation_hash(self) -> str:
        """Return the generation hash in this operator's form (WL-040)."""
        return template_generation_hash(
            {clique.name: self.hash_of_template(clique) for clique in self._root.spec.template.cliques}
        )

    def _has_content_of_template(self, clique: PodClique, part: ExpectedClique) -> bool:
        """Return whether the clique's content equals the template's; additional labels do not count."""
        labels, annotations = (
            _without_groves_texts(part.template.labels),
            _without_groves_texts(part.template.annotations),
        )
        stored_labels = FrozenMap({key: text for key, text in clique.labels.items() if key in labels})
        stored_annotations = FrozenMap({key: text for key, text in clique.annotations.items() if key in annotations})
        if (labels, annotations) != (stored_labels, stored_annotations):
            return False
        specs = (part.template.spec.pod_spec, clique.pod_spec)
        if specs[0] == specs[1]:
            return True  # as most are; cheaper than everything below
        if _images_of(specs[0]) != _images_of(specs[1]):
            return False  # what most updates change
        wanted, stored = (_without_groves_additions(spec, _claims_added_to(clique)) for spec in specs)
        if wanted == stored:
            return True  # cheaper than the normal form
        wanted, stored = normalized_pod_spec(wanted), normalized_pod_spec(stored)
        if wanted == stored:
            return True  # cheaper than the order of lists
        return pod_template_hash(EMPTY, EMPTY, wanted, self._priority) == pod_template_hash(
            EMPTY, EMPTY, stored, self._priority
        )


def _may_have_changed(clique: PodClique) -> bool:
    """Return whether the pods may be of another template than the clique: an update runs, or the status is outdated."""
    status = clique.status
    is_late = clique.generation is not None and status.observed not in {None, clique.generation}
    return is_late or status.update_hash not in {"", status.current_hash}


def _hash_of_all(pods: Iterable[Pod]) -> str:
    """Return the template hash that all pods with a hash have; empty where they differ."""
    hashes = {pod.template_hash for pod in pods if pod.template_hash}
    return hashes.pop() if len(hashes) == 1 else ""


def _claims_added_to(clique: PodClique) -> AbstractSet[str]:
    """Return the names of the claims that operators of Grove added to the clique's pod spec."""
    return {MNNVL_CLAIM} if shared_claim_entry(clique.pod_spec) is None else {MNNVL_CLAIM, SHARED_CLAIM}


def _images_of(pod_spec: FrozenMap) -> Mapping[str, Json]:
    """Return the image of each container by name; of several containers of one name, the last one's."""
    containers = (one for one in list_at(pod_spec, "containers") if isinstance(one, FrozenMap))
    return {_name_of(one): one.get("image") or None for one in containers}


def _without_groves_texts(texts: FrozenMap) -> FrozenMap:
    return FrozenMap(
        {key: text for key, text in texts.items() if key not in _LABELS_OF_GROVE and not is_grove_key(key)}
    )


def _without_groves_additions(pod_spec: FrozenMap, claims: AbstractSet[str]) -> FrozenMap:
    """Return the pod spec without what operators of Grove added: their variables, and claims with these names."""

    def stripped(container: FrozenMap) -> Json:
        found = dict(container.items())
        env = container.get("env")
        if isinstance(env, tuple):
            found["env"] = tuple(item for item in env if not _name_of(item).startswith(_VARIABLES))
        resources = container.get("resources")
        if isinstance(resources, FrozenMap):
            found["resources"] = _without(claims, resources, "claims")
        return FrozenMap({key: item for key, item in found.items() if item or key not in {"env", "resources"}})

    return pod_spec_with_changed_containers(_without(claims, pod_spec, "resourceClaims"), stripped)


def _without(names: AbstractSet[str], fields: FrozenMap, key: str) -> FrozenMap:
    """Return the fields without claims of these names; the list is removed where it becomes empty."""
    claims = fields.get(key)
    if not isinstance(claims, tuple):
        return fields
    kept = tuple(item for item in claims if _name_of(item) not in names)
    return FrozenMap({name: kept if name == key else item for name, item in fields.items() if name != key or kept})


def _name_of(item: Json) -> str:
    name = item.get("name") if isinstance(item, FrozenMap) else None
    return name if isinstance(name, str) else ""


def wanted_clique_pod_spec(part: ExpectedClique, priority: str) -> FrozenMap:
    """Return the pod spec that a PodClique stores: the template's, with the variables of its scaling group."""
    spec = part.template.spec.pod_spec
    if part.group is not None:
        spec = pod_spec_with_group_variables(spec, part.group.pods)
    return FrozenMap({**spec, "priorityClassName": priority}) if priority else spec


def wanted_clique_annotations(part: ExpectedClique) -> FrozenMap:
    """Return the template's annotations, except those that Grove sets itself."""
    return FrozenMap({key: text for key, text in part.template.annotations.items() if key not in _ANNOTATIONS_OF_GROVE})
