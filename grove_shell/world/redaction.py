"""Objects that may be shown to others: nothing that people keep secret in them, and decided like the originals.

Values of variables, arguments and commands are replaced by a word that follows from them and from a salt nobody keeps:
equal ones stay equal, and nobody can guess one from its word. Template hashes follow, so that what was of the present
template still is (OP-051).
"""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any, Final

from grove_core.areas.workload.template_hash import generation_of, template_hash
from grove_core.kernel.errors import MalformedObject
from grove_core.resources.podcliqueset import podcliqueset_of

Json = dict[str, Any]
_CONTAINERS: Final = ("containers", "initContainers", "ephemeralContainers")
_SPOKEN: Final = ("args", "command")
_KEPT: Final = ("apiVersion", "kind", "metadata")
_LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
_OWN: Final = "GROVE_"


class Redaction:
    """Takes secrets out of the objects of one capture."""

    def __init__(self, salt: bytes) -> None:
        """Begin with a salt of this capture alone."""
        self._salt = salt

    def of(self, items: Iterable[Json]) -> list[Json]:
        """The objects without secrets, in their order."""
        shown = [self._shown(item) for item in items]
        hashes: dict[str, str] = {}
        for before, after in zip(items, shown, strict=True):
            if before.get("kind") == "PodCliqueSet":
                hashes |= _renamed(before, after)
        return [_with(item, hashes) for item in shown] if hashes else shown

    def _shown(self, item: Json) -> Json:
        kind = item.get("kind")
        metadata = _metadata(item.get("metadata"))
        if kind == "Secret":
            return {**{key: item[key] for key in _KEPT if key in item}, "metadata": metadata}
        shown = {**item, "metadata": metadata}
        spec = item.get("spec")
        if not isinstance(spec, dict):
            return shown
        if kind == "Pod":
            return {**shown, "spec": self._pod_spec(spec)}
        if kind == "PodClique" and isinstance(spec.get("podSpec"), dict):
            return {**shown, "spec": {**spec, "podSpec": self._pod_spec(spec["podSpec"])}}
        if kind == "PodCliqueSet":
            return {**shown, "spec": self._set_spec(spec)}
        return shown

    def _set_spec(self, spec: Json) -> Json:
        template = spec.get("template")
        cliques = template.get("cliques") if isinstance(template, dict) else None
        if not isinstance(template, dict) or not isinstance(cliques, list):
            return spec
        shown = []
        for clique in cliques:
            inner = clique.get("spec") if isinstance(clique, dict) else None
            if isinstance(inner, dict) and isinstance(inner.get("podSpec"), dict):
                shown.append({**clique, "spec": {**inner, "podSpec": self._pod_spec(inner["podSpec"])}})
            else:
                shown.append(clique)
        return {**spec, "template": {**template, "cliques": shown}}

    def _pod_spec(self, spec: Json) -> Json:
        changed = {
            key: [self._container(one) if isinstance(one, dict) else one for one in spec[key]]
            for key in _CONTAINERS
            if isinstance(spec.get(key), list)
        }
        return {**spec, **changed}

    def _container(self, container: Json) -> Json:
        shown = dict(container)
        if isinstance(shown.get("env"), list):
            shown["env"] = [self._variable(one) if isinstance(one, dict) else one for one in shown["env"]]
        for key in _SPOKEN:
            if isinstance(shown.get(key), list) and shown.get("name") != "grove-initc":
                shown[key] = [self._word(one) if isinstance(one, str) else one for one in shown[key]]
        return shown

    def _variable(self, variable: Json) -> Json:
        value = variable.get("value")
        if not isinstance(value, str) or not value or str(variable.get("name")).startswith(_OWN):
            return variable
        return {**variable, "value": self._word(value)}

    def _word(self, text: str) -> str:
        return f"redacted-{hashlib.sha256(self._salt + text.encode()).hexdigest()[:12]}"


def _metadata(raw: Any) -> Any:  # noqa: ANN401 - JSON that nobody has looked at
    if not isinstance(raw, dict):
        return raw
    kept = {key: value for key, value in raw.items() if key != "managedFields"}
    annotations = kept.get("annotations")
    if isinstance(annotations, dict) and _LAST_APPLIED in annotations:
        kept["annotations"] = {key: value for key, value in annotations.items() if key != _LAST_APPLIED}
    return kept


def _renamed(before: Json, after: Json) -> dict[str, str]:
    """The template hashes of a set -> those of what is shown of it."""
    try:
        specs = [podcliqueset_of(raw).spec.template for raw in (before, after)]
    except MalformedObject:
        return {}
    hashes = [
        {clique.name: template_hash(clique, spec.priority_class_name) for clique in spec.cliques} for spec in specs
    ]
    renamed = {hashes[0][name]: hashes[1][name] for name in hashes[0]}
    return {**renamed, generation_of(hashes[0]): generation_of(hashes[1])}


def _with(value: Any, words: Mapping[str, str]) -> Any:  # noqa: ANN401 - any JSON
    """A value in which whole words are replaced, wherever they stand as values."""
    if isinstance(value, dict):
        return {key: _with(item, words) for key, item in value.items()}
    if isinstance(value, list):
        return [_with(item, words) for item in value]
    return words.get(value, value) if isinstance(value, str) else value
