"""Redacts objects so that they can be shared, and are still planned like the originals (OP-050).

Values of variables, arguments, commands, headers, options of drivers, parameters of devices and annotations that are
not Grove's are replaced by a hash of the value and a salt that is not kept: equal values stay equal, and a value cannot
be guessed. Template hashes are replaced consistently, so that a pod of the present template still is one.
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Final

from grove_core.areas.workload.pods.manifest import INIT_CONTAINER, PARENTS_FLAG
from grove_core.areas.workload.template_hash import generation_of, template_hash
from grove_core.kernel.errors import MalformedObject
from grove_core.resources.api_names import PREFIX
from grove_core.resources.podcliqueset import podcliqueset_of

Json = dict[str, Any]
_CONTAINERS: Final = ("containers", "initContainers", "ephemeralContainers")
_ARGUMENTS: Final = ("args", "command")
_HANDLERS: Final = ("livenessProbe", "readinessProbe", "startupProbe", "lifecycle")
_DRIVER_OPTIONS: Final = (("csi", "volumeAttributes"), ("flexVolume", "options"))
_CLAIM_KINDS: Final = frozenset({"ResourceClaim", "ResourceClaimTemplate"})
_GROUPS: Final = "podCliqueScalingGroups"
_CLAIMS: Final = "resourceClaimTemplates"
_TYPE_FIELDS: Final = frozenset({"apiVersion", "kind"})  # the type of the parameters; the rest belongs to the driver
_KEPT: Final = ("apiVersion", "kind", "metadata")
_LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
_GROVE_VARIABLES: Final = frozenset(
    {
        "GROVE_PCS_NAME",
        "GROVE_PCS_INDEX",
        "GROVE_PCLQ_NAME",
        "GROVE_HEADLESS_SERVICE",
        "GROVE_PCSG_TEMPLATE_NUM_PODS",
    }
)  # written by Grove; a variable GROVE_TOKEN would be of a user


class Redaction:
    """Redacts the objects of one capture."""

    def __init__(self, salt: bytes) -> None:
        """Start with the salt of this capture."""
        self._salt = salt

    def of(self, items: Sequence[Json]) -> list[Json]:
        """Return the redacted objects, in their order."""
        shown = [self._shown(item) for item in items]
        hashes: dict[str, str] = {}
        for before, after in zip(items, shown, strict=True):
            if before.get("kind") == "PodCliqueSet":
                hashes |= _new_hashes(before, after)
        return [_with(item, hashes) for item in shown] if hashes else shown

    def _shown(self, item: Json) -> Json:
        kind = item.get("kind")
        metadata = self._metadata(item.get("metadata"))
        if kind == "Secret":
            return {**{key: item[key] for key in _KEPT if key in item}, "metadata": metadata}
        shown = {**item, "metadata": metadata}
        if kind == "Pod" and isinstance(item.get("status"), dict):
            shown["status"] = self._pod_status(item["status"])
        spec = item.get("spec")
        if not isinstance(spec, dict):
            return shown
        if kind == "Pod":
            return {**shown, "spec": self._pod_spec(spec)}
        if kind == "PodClique" and isinstance(spec.get("podSpec"), dict):
            return {**shown, "spec": {**spec, "podSpec": self._pod_spec(spec["podSpec"])}}
        if kind == "PodCliqueSet":
            return {**shown, "spec": self._set_spec(spec)}
        if kind in _CLAIM_KINDS:
            return {**shown, **{key: self._claim(item[key]) for key in ("spec", "status") if key in item}}
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
            shown[_CLAIMS] = self._claim(shown[_CLAIMS])
        return {**spec, "template": shown}

    def _clique(self, clique: Json) -> Json:
        shown, inner = self._annotated(clique), clique.get("spec")
        if isinstance(inner, dict) and isinstance(inner.get("podSpec"), dict):
            shown["spec"] = {**inner, "podSpec": self._pod_spec(inner["podSpec"])}
        return shown

    def _claim(self, raw: Any) -> Any:  # noqa: ANN401 - any JSON
        """Redact a ResourceClaim, a template or a part of one: parameters and data of drivers, and annotations."""
        if isinstance(raw, list):
            return [self._claim(one) for one in raw]
        if not isinstance(raw, dict):
            return raw
        shown = {key: self._claim(item) for key, item in raw.items()}
        opaque = shown.get("opaque")
        if isinstance(opaque, dict) and isinstance(opaque.get("parameters"), dict):
            parameters = {
                key: item if key in _TYPE_FIELDS else self._hashed(item) for key, item in opaque["parameters"].items()
            }
            shown["opaque"] = {**opaque, "parameters": parameters}
        if isinstance(shown.get("data"), dict):
            shown["data"] = self._hashed(shown["data"])
        if "metadata" in shown:
            shown["metadata"] = self._metadata(shown["metadata"])
        return shown

    def _metadata(self, raw: Any) -> Any:  # noqa: ANN401 - any JSON
        if not isinstance(raw, dict):
            return raw
        return self._annotated({key: value for key, value in raw.items() if key != "managedFields"})

    def _annotated(self, raw: Json) -> Json:
        """Return a copy with redacted annotations; those of Grove stay, because plans depend on them."""
        annotations = raw.get("annotations")
        if not isinstance(annotations, dict):
            return dict(raw)
        kept = {
            key: text if key.startswith(PREFIX) else self._hashed(text)
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
        """Redact the options of a volume driver, which may hold secrets."""
        shown = dict(volume)
        for source, options in _DRIVER_OPTIONS:
            inner = shown.get(source)
            if isinstance(inner, dict) and isinstance(inner.get(options), dict):
                shown[source] = {**inner, options: self._hashed(inner[options])}
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
        for key in _ARGUMENTS:
            if isinstance(shown.get(key), list):
                shown[key] = self._arguments(shown.get("name"), shown[key])
        for key in _HANDLERS:
            if key in shown:
                shown[key] = self._handler(shown[key])
        return shown

    def _arguments(self, name: object, words: list[Any]) -> list[Any]:
        """Redact arguments and commands, except those that Grove writes into its init container."""
        own = name == INIT_CONTAINER
        return [
            one
            if own and isinstance(one, str) and (one == INIT_CONTAINER or one.startswith(PARENTS_FLAG))
            else self._hashed(one)
            for one in words
        ]

    def _handler(self, raw: Any) -> Any:  # noqa: ANN401 - any JSON
        """Redact probes and lifecycle hooks: their commands, and the values of their headers."""
        if isinstance(raw, list):
            return [self._handler(one) for one in raw]
        if not isinstance(raw, dict):
            return raw
        shown = {key: self._handler(item) for key, item in raw.items()}
        if isinstance(shown.get("command"), list):
            shown["command"] = self._hashed(shown["command"])
        if isinstance(shown.get("httpHeaders"), list):
            shown["httpHeaders"] = [
                {**one, "value": self._hashed(one["value"])} if isinstance(one, dict) and "value" in one else one
                for one in shown["httpHeaders"]
            ]
        return shown

    def _pod_status(self, raw: Any) -> Any:  # noqa: ANN401 - any JSON
        """Redact the status of a pod: its messages may quote the output or the arguments of a container."""
        if isinstance(raw, list):
            return [self._pod_status(one) for one in raw]
        if not isinstance(raw, dict):
            return raw
        return {key: self._hashed(item) if key == "message" else self._pod_status(item) for key, item in raw.items()}

    def _hashed(self, raw: Any) -> Any:  # noqa: ANN401 - any JSON
        """Replace every text in a value."""
        if isinstance(raw, dict):
            return {key: self._hashed(item) for key, item in raw.items()}
        if isinstance(raw, list):
            return [self._hashed(one) for one in raw]
        return self._hash(raw) if isinstance(raw, str) and raw else raw

    def _variable(self, variable: Json) -> Json:
        value = variable.get("value")
        if not isinstance(value, str) or not value or variable.get("name") in _GROVE_VARIABLES:
            return variable
        return {**variable, "value": self._hash(value)}

    def _hash(self, text: str) -> str:
        return f"redacted-{hashlib.sha256(self._salt + text.encode()).hexdigest()[:12]}"


def _new_hashes(before: Json, after: Json) -> dict[str, str]:
    """Return the template hashes of a set -> those of the redacted set."""
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
    """Return a value in which texts that are keys of ``words`` are replaced."""
    if isinstance(value, dict):
        return {key: _with(item, words) for key, item in value.items()}
    if isinstance(value, list):
        return [_with(item, words) for item in value]
    return words.get(value, value) if isinstance(value, str) else value
