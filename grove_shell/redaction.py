"""Objects that may be shown to others: nothing that people keep secret in them, and decided like the originals.

Values of variables, arguments, commands, headers, options of drivers, parameters of devices and annotations that are
not Grove's are replaced by a word that follows from them and from a salt nobody keeps: equal ones stay equal, and
nobody can guess one from its word. Template hashes follow, so that what was of the present template still is (OP-051).
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Final

from grove_core.areas.workload.pods.manifest import INIT_CONTAINER, PARENTS_FLAG
from grove_core.areas.workload.template.template_hash import generation_of, template_hash
from grove_core.kernel.errors import MalformedObject
from grove_core.resources.api_names import PREFIX
from grove_core.resources.podcliqueset import podcliqueset_of

Json = dict[str, Any]
_CONTAINERS: Final = ("containers", "initContainers", "ephemeralContainers")
_SPOKEN: Final = ("args", "command")
_CALLED: Final = ("livenessProbe", "readinessProbe", "startupProbe", "lifecycle")
_DRIVEN: Final = (("csi", "volumeAttributes"), ("flexVolume", "options"))
_CLAIMED: Final = frozenset({"ResourceClaim", "ResourceClaimTemplate"})
_GROUPS: Final = "podCliqueScalingGroups"
_CLAIMS: Final = "resourceClaimTemplates"
_TYPED: Final = frozenset({"apiVersion", "kind"})  # of which type parameters are; the rest is a driver's own
_KEPT: Final = ("apiVersion", "kind", "metadata")
_LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
_OWN: Final = frozenset(
    {
        "GROVE_PCS_NAME",
        "GROVE_PCS_INDEX",
        "GROVE_PCLQ_NAME",
        "GROVE_HEADLESS_SERVICE",
        "GROVE_PCSG_TEMPLATE_NUM_PODS",
    }
)  # that Grove writes; what a user calls GROVE_TOKEN is the user's


class Redaction:
    """Takes secrets out of the objects of one capture."""

    def __init__(self, salt: bytes) -> None:
        """Begin with a salt of this capture alone."""
        self._salt = salt

    def of(self, items: Sequence[Json]) -> list[Json]:
        """The objects without secrets, in their order."""
        shown = [self._shown(item) for item in items]
        hashes: dict[str, str] = {}
        for before, after in zip(items, shown, strict=True):
            if before.get("kind") == "PodCliqueSet":
                hashes |= _renamed(before, after)
        return [_with(item, hashes) for item in shown] if hashes else shown

    def _shown(self, item: Json) -> Json:
        kind = item.get("kind")
        metadata = self._metadata(item.get("metadata"))
        if kind == "Secret":
            return {**{key: item[key] for key in _KEPT if key in item}, "metadata": metadata}
        shown = {**item, "metadata": metadata}
        if kind == "Pod" and isinstance(item.get("status"), dict):
            shown["status"] = self._told(item["status"])
        spec = item.get("spec")
        if not isinstance(spec, dict):
            return shown
        if kind == "Pod":
            return {**shown, "spec": self._pod_spec(spec)}
        if kind == "PodClique" and isinstance(spec.get("podSpec"), dict):
            return {**shown, "spec": {**spec, "podSpec": self._pod_spec(spec["podSpec"])}}
        if kind == "PodCliqueSet":
            return {**shown, "spec": self._set_spec(spec)}
        if kind in _CLAIMED:
            return {**shown, **{key: self._claimed(item[key]) for key in ("spec", "status") if key in item}}
        return shown

    def _set_spec(self, spec: Json) -> Json:
        template = spec.get("template")
        cliques = template.get("cliques") if isinstance(template, dict) else None
        if not isinstance(template, dict) or not isinstance(cliques, list):
            return spec
        shown = {**template, "cliques": [self._clique(one) if isinstance(one, dict) else one for one in cliques]}
        if isinstance(shown.get(_GROUPS), list):
            shown[_GROUPS] = [self._annotated(one) if isinstance(one, dict) else one for one in shown[_GROUPS]]
        if _CLAIMS in shown:
            shown[_CLAIMS] = self._claimed(shown[_CLAIMS])
        return {**spec, "template": shown}

    def _clique(self, clique: Json) -> Json:
        shown, inner = self._annotated(clique), clique.get("spec")
        if isinstance(inner, dict) and isinstance(inner.get("podSpec"), dict):
            shown["spec"] = {**inner, "podSpec": self._pod_spec(inner["podSpec"])}
        return shown

    def _claimed(self, raw: Any) -> Any:  # noqa: ANN401 - any JSON
        """Claims and what they are made of: what their drivers are told, and annotations of what comes of them."""
        if isinstance(raw, list):
            return [self._claimed(one) for one in raw]
        if not isinstance(raw, dict):
            return raw
        shown = {key: self._claimed(item) for key, item in raw.items()}
        opaque = shown.get("opaque")
        if isinstance(opaque, dict) and isinstance(opaque.get("parameters"), dict):
            parameters = {
                key: item if key in _TYPED else self._words(item) for key, item in opaque["parameters"].items()
            }
            shown["opaque"] = {**opaque, "parameters": parameters}
        if isinstance(shown.get("data"), dict):
            shown["data"] = self._words(shown["data"])
        if "metadata" in shown:
            shown["metadata"] = self._metadata(shown["metadata"])
        return shown

    def _metadata(self, raw: Any) -> Any:  # noqa: ANN401 - JSON that nobody has looked at
        if not isinstance(raw, dict):
            return raw
        return self._annotated({key: value for key, value in raw.items() if key != "managedFields"})

    def _annotated(self, raw: Json) -> Json:
        """A copy whose annotations say no more than which are equal; Grove's own decide, and stay."""
        annotations = raw.get("annotations")
        if not isinstance(annotations, dict):
            return dict(raw)
        kept = {
            key: text if key.startswith(PREFIX) else self._words(text)
            for key, text in annotations.items()
            if key != _LAST_APPLIED
        }
        return {**raw, "annotations": kept}

    def _pod_spec(self, spec: Json) -> Json:
        changed = {
            key: [self._container(one) if isinstance(one, dict) else one for one in spec[key]]
            for key in _CONTAINERS
            if isinstance(spec.get(key), list)
        }
        if isinstance(spec.get("volumes"), list):
            changed["volumes"] = [self._volume(one) if isinstance(one, dict) else one for one in spec["volumes"]]
        return {**spec, **changed}

    def _volume(self, volume: Json) -> Json:
        """What a driver is told besides its secrets may hold some all the same."""
        shown = dict(volume)
        for source, options in _DRIVEN:
            inner = shown.get(source)
            if isinstance(inner, dict) and isinstance(inner.get(options), dict):
                shown[source] = {**inner, options: self._words(inner[options])}
        ephemeral = shown.get("ephemeral")
        claim = ephemeral.get("volumeClaimTemplate") if isinstance(ephemeral, dict) else None
        if isinstance(ephemeral, dict) and isinstance(claim, dict) and "metadata" in claim:
            shown["ephemeral"] = {
                **ephemeral,
                "volumeClaimTemplate": {**claim, "metadata": self._metadata(claim["metadata"])},
            }
        return shown

    def _container(self, container: Json) -> Json:
        shown = dict(container)
        if isinstance(shown.get("env"), list):
            shown["env"] = [self._variable(one) if isinstance(one, dict) else one for one in shown["env"]]
        for key in _SPOKEN:
            if isinstance(shown.get(key), list):
                shown[key] = self._spoken(shown.get("name"), shown[key])
        for key in _CALLED:
            if key in shown:
                shown[key] = self._call(shown[key])
        return shown

    def _spoken(self, name: object, words: list[Any]) -> list[Any]:
        """Arguments and commands; what Grove itself writes stays, and nothing else that somebody gave its name."""
        own = name == INIT_CONTAINER
        return [
            one
            if own and isinstance(one, str) and (one == INIT_CONTAINER or one.startswith(PARENTS_FLAG))
            else self._words(one)
            for one in words
        ]

    def _call(self, raw: Any) -> Any:  # noqa: ANN401 - any JSON
        """Probes and hooks: the commands they run, and the values of headers they send."""
        if isinstance(raw, list):
            return [self._call(one) for one in raw]
        if not isinstance(raw, dict):
            return raw
        shown = {key: self._call(item) for key, item in raw.items()}
        if isinstance(shown.get("command"), list):
            shown["command"] = self._words(shown["command"])
        if isinstance(shown.get("httpHeaders"), list):
            shown["httpHeaders"] = [
                {**one, "value": self._words(one["value"])} if isinstance(one, dict) and "value" in one else one
                for one in shown["httpHeaders"]
            ]
        return shown

    def _told(self, raw: Any) -> Any:  # noqa: ANN401 - any JSON
        """A status of a pod: messages may quote the last lines that a container wrote, or what it was called with."""
        if isinstance(raw, list):
            return [self._told(one) for one in raw]
        if not isinstance(raw, dict):
            return raw
        return {key: self._words(item) if key == "message" else self._told(item) for key, item in raw.items()}

    def _words(self, raw: Any) -> Any:  # noqa: ANN401 - any JSON
        """Every text in a value replaced; what has none stays."""
        if isinstance(raw, dict):
            return {key: self._words(item) for key, item in raw.items()}
        if isinstance(raw, list):
            return [self._words(one) for one in raw]
        return self._word(raw) if isinstance(raw, str) and raw else raw

    def _variable(self, variable: Json) -> Json:
        value = variable.get("value")
        if not isinstance(value, str) or not value or variable.get("name") in _OWN:
            return variable
        return {**variable, "value": self._word(value)}

    def _word(self, text: str) -> str:
        return f"redacted-{hashlib.sha256(self._salt + text.encode()).hexdigest()[:12]}"


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
