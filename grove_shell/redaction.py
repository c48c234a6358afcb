"""Redacts objects so that they can be shared, and are still planned like the originals (OP-050).

Values of variables, arguments, commands, headers, paths of requests, options of drivers, parameters of devices,
annotations that are not Grove's, messages and texts with the password of a URL are replaced by a hash of the value and
a salt that is not kept: equal values stay equal, and a value cannot be guessed. Template hashes are replaced
consistently, so that a pod of the present template still is one, and no value of a template can be found by trial.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from grove_core.areas.workload.pods.pod_manifest import INIT_CONTAINER, PARENTS_FLAG
from grove_core.areas.workload.template_hash import template_generation_hash, template_hash_of_clique
from grove_core.kernel.errors import MalformedObject
from grove_core.resources.api_names import GROVE, PREFIX, SCHEDULER, TEMPLATE_HASH
from grove_core.resources.podcliqueset import podcliqueset_from_json

Json = dict[str, Any]
REDACTED: Final = "redacted-"
_DRIVER_VALUES: Final = ("data", "options", "volumeAttributes")  # of claims, and of volumes
_TYPE_FIELDS: Final = frozenset({"apiVersion", "kind"})  # the type of the parameters; the rest belongs to the driver
_KEPT: Final = ("apiVersion", "kind", "metadata")
_REDACTED_TEXT: Final = re.compile(rf"{REDACTED}[0-9a-f]{{12}}")
_LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
_PASSWORD_IN_URL: Final = re.compile(r"://[^/\s@]*@")
_ERRORS: Final = "lastErrors"  # of the Go operator; they quote the API server, which quotes refused values
_GROUPS: Final = frozenset(version.partition("/")[0] for version in (GROVE, SCHEDULER))
_HASHES: Final = frozenset(
    {
        TEMPLATE_HASH,
        "currentGenerationHash",
        "currentPodCliqueSetGenerationHash",
        "currentPodTemplateHash",
        "podCliqueSetGenerationHash",
        "podTemplateHash",
    }
)  # a value of a template that is easy to guess would be found by computing its hash
_GROVE_VARIABLES: Final = frozenset(
    {
        "GROVE_PCS_NAME",
        "GROVE_PCS_INDEX",
        "GROVE_PCLQ_NAME",
        "GROVE_HEADLESS_SERVICE",
        "GROVE_PCSG_TEMPLATE_NUM_PODS",
    }
)  # written by Grove; a variable GROVE_TOKEN would be of a user


def is_redacted_text(value: object) -> bool:
    """Return whether a value is what redaction puts in place of a text that is not empty."""
    return isinstance(value, str) and _REDACTED_TEXT.fullmatch(value) is not None


class ObjectRedaction:
    """Redacts the objects of one capture."""

    def __init__(self, salt: bytes) -> None:
        """Start with the salt of this capture."""
        self._salt = salt

    def redacted_objects(self, items: Sequence[Json]) -> list[Json]:
        """Return the redacted objects, in their order."""
        shown = [self._object(item) for item in items]
        hashes: dict[str, str] = {}
        for before, after in zip(items, shown, strict=True):
            if before.get("kind") == "PodCliqueSet":
                hashes |= _new_hashes(before, after)
        return [self._with(item, hashes) for item in shown]

    def _object(self, item: Json) -> Json:
        if item.get("kind") == "Secret":
            item = {key: item[key] for key in _KEPT if key in item}
        shown: Json = self._walk(item)
        if "status" in shown:
            own = str(item.get("apiVersion")).partition("/")[0] in _GROUPS  # plans compare these messages
            shown["status"] = self._without_errors(shown["status"]) if own else self._without_messages(shown["status"])
        return shown

    def _walk(self, raw: Any) -> Any:  # noqa: ANN401 - any JSON
        """Redact a part of an object; managed fields, which repeat it, are left out."""
        if isinstance(raw, list):
            return [self._walk(one) for one in raw]
        if isinstance(raw, str):
            return self._hashed(raw) if "@" in raw and _PASSWORD_IN_URL.search(raw) else raw
        if not isinstance(raw, dict):
            return raw
        return {key: self._field(key, value, raw) for key, value in raw.items() if key != "managedFields"}

    def _field(self, key: str, value: Any, owner: Json) -> Any:  # noqa: ANN401 - any JSON
        """Redact the value of a field by its name; ``owner`` is the object that has the field."""
        if isinstance(value, list):
            if key in {"env", "httpHeaders"}:
                return [self._variable(one) for one in value]
            if key in {"args", "command"}:
                return self._arguments(owner.get("name"), value)
        elif isinstance(value, dict):
            if key == "annotations":
                return self._annotations(value)
            if key == "parameters":
                return {name: one if name in _TYPE_FIELDS else self._hashed(one) for name, one in value.items()}
            if key in _DRIVER_VALUES:
                return self._hashed(value)
            if key == "httpGet":
                return {
                    name: self._hashed(one) if name == "path" else self._field(name, one, value)
                    for name, one in value.items()
                }
        return self._walk(value)

    def _annotations(self, annotations: Json) -> Json:
        """Redact annotations; those of Grove stay, because plans depend on them."""
        return {
            key: self._walk(text) if key.startswith(PREFIX) else self._hashed(text)
            for key, text in annotations.items()
            if key != _LAST_APPLIED
        }

    def _arguments(self, name: object, words: list[Any]) -> list[Any]:
        """Redact arguments and commands, except those that Grove writes into its init container."""
        own = name == INIT_CONTAINER
        return [
            one
            if own and isinstance(one, str) and (one == INIT_CONTAINER or one.startswith(PARENTS_FLAG))
            else self._hashed(one)
            for one in words
        ]

    def _variable(self, variable: Any) -> Any:  # noqa: ANN401 - any JSON
        if not isinstance(variable, dict) or variable.get("name") in _GROVE_VARIABLES or "value" not in variable:
            return variable
        return {**variable, "value": self._hashed(variable["value"])}

    def _without_messages(self, raw: Any) -> Any:  # noqa: ANN401 - any JSON
        """Redact the messages in a status, which may quote the output or the arguments of a container."""
        if isinstance(raw, list):
            return [self._without_messages(one) for one in raw]
        if not isinstance(raw, dict):
            return raw
        return {
            key: self._hashed(item) if key == "message" else self._without_messages(item) for key, item in raw.items()
        }

    def _without_errors(self, status: Any) -> Any:  # noqa: ANN401 - any JSON
        """Redact the errors in the status of an object of Grove; codes and times stay."""
        errors = status.get(_ERRORS) if isinstance(status, dict) else None
        if not isinstance(errors, list):
            return status
        shown = [
            {key: self._hashed(text) if key == "description" else text for key, text in one.items()}
            if isinstance(one, dict)
            else self._hashed(one)
            for one in errors
        ]
        return {**status, _ERRORS: shown}

    def _with(self, value: Any, hashes: Mapping[str, str]) -> Any:  # noqa: ANN401 - any JSON
        """Return a value in which template hashes are replaced; those that are not in ``hashes`` by a salted hash."""
        if isinstance(value, dict):
            return {key: self._of_field(key, item, hashes) for key, item in value.items()}
        if isinstance(value, list):
            return [self._with(item, hashes) for item in value]
        return hashes.get(value, value) if isinstance(value, str) else value

    def _of_field(self, key: str, value: Any, hashes: Mapping[str, str]) -> Any:  # noqa: ANN401 - any JSON
        if key in _HASHES and isinstance(value, str) and value:
            return hashes.get(value) or self._hashed(value).removeprefix(REDACTED)
        return self._with(value, hashes)

    def _hashed(self, raw: Any) -> Any:  # noqa: ANN401 - any JSON
        """Replace every text in a value that is not empty."""
        if isinstance(raw, dict):
            return {key: self._hashed(item) for key, item in raw.items()}
        if isinstance(raw, list):
            return [self._hashed(one) for one in raw]
        if not isinstance(raw, str) or not raw:
            return raw
        return f"{REDACTED}{hashlib.sha256(self._salt + raw.encode()).hexdigest()[:12]}"


def _new_hashes(before: Json, after: Json) -> dict[str, str]:
    """Return the template hashes of a set -> those of the redacted set."""
    try:
        specs = [podcliqueset_from_json(raw).spec.template for raw in (before, after)]
    except MalformedObject:
        return {}
    hashes = [
        {clique.name: template_hash_of_clique(clique, spec.priority_class_name) for clique in spec.cliques}
        for spec in specs
    ]
    renamed = {hashes[0][name]: hashes[1][name] for name in hashes[0]}
    return {**renamed, template_generation_hash(hashes[0]): template_generation_hash(hashes[1])}
