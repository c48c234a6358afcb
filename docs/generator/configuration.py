"""The page of configuration files, from their models: every field with its type, default and limits."""

import json
import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any, Final

import yaml
from pydantic import BaseModel

from docs.generator.markdown import code, docstring, fenced, prose, table
from grove_core.kernel.time_formats import format_go_duration
from grove_shell.settings.operator_settings import OperatorSettings
from grove_shell.settings.webhook_settings import WebhookSettings

_ATTRIBUTE: Final = re.compile(r"^ {4}(\w[\w, ]*): (.*(?:\n {6,}.*)*)", re.MULTILINE)
_LIMITS: Final = {"minimum": "at least", "exclusiveMinimum": "more than", "maximum": "at most"}
_MEANINGS: Final = {
    "apiVersion": "API version of the file; optional",
    "kind": "kind of the file; optional",
    "rules": "rule set: `design`, `field`, or `field@RELEASE`; `grove rules` lists them",
    "workers": "PodCliqueSets that are reconciled at the same time",
    "leaderElection.enabled": "whether only one of several processes acts; without it each one does",
    "leaderElection.name": "name of the Lease",
    "leaderElection.namespace": "namespace of the Lease; empty for that of the process",
    "leaderElection.leaseDuration": "a Lease that was not renewed for so long may be taken",
    "leaderElection.renewDeadline": "a leader that could not renew the Lease for so long exits with 75",
    "leaderElection.retryPeriod": "time between two tries to take or renew the Lease",
    "client.qps": "requests a second; 0 for no limit",
    "client.burst": "requests beyond `qps` at once",
    "client.inFlight": "requests in flight at the same time",
    "client.timeout": "timeout of one request",
    "serving.host": "address to listen on",
    "serving.port": "port of health, readiness and metrics",
    "mnnvl.enabled": "whether sets get ComputeDomains",
    "network.autoMNNVLEnabled": "the Go operator's name of `mnnvl.enabled`; used where `mnnvl` is missing",
    "scheduler.profiles": "enabled schedulers; `default-scheduler` always is",
    "scheduler.defaultProfileName": "scheduler of pods whose template names none; `default-scheduler` by default",
    "startup.image": "image with the command `grove-initc`; empty for the operator's own",
    "scheduling.backend": "what places gangs: `kubernetes` for its Workload API, `podgang` for PodGangs, `auto` for the"
    " Workload API where it is served",
    "topologyAwareScheduling.enabled": "whether pods are placed by topology",
    "registration.service": "Service that the API server calls; the certificate is issued for it; `grove-preview` with"
    " `--only preview`",
    "registration.mutating": "name of the MutatingWebhookConfiguration",
    "registration.validating": "name of the ValidatingWebhookConfiguration; `grove-preview` with `--only preview`",
    "listening.host": "address to listen on",
    "listening.port": "port that the API server calls",
    "preview.denyAbove.pods": "the most pods that an update may restart; absent for no limit",
    "preview.denyAbove.gpus": "the most GPUs that the pods may have that an update restarts; absent for no limit",
    "farewell": "how long requests are still accepted after SIGTERM",
}
"""Meanings of fields whose models have no description; a test fails where a field is missing."""
Schema = Mapping[str, Any]


def configuration_page() -> str:
    """Return the page of both configuration files."""
    return "\n".join(
        (
            "# Configuration files\n",
            "Every field has a default, so a file may be empty. An unknown field is an error, and all errors of a file",
            "are reported at once (IN-030). Durations are written as in Go: `15s`, `2h30m`.\n",
            "A configuration file of the Go operator, which has the same kind, is read as it is (IN-070); only its",
            "`topologyAwareScheduling`, `network` and `scheduler` are used for decisions.\n",
            *_file("OperatorConfiguration", OperatorSettings, "`grove operator`, `grove plan` and others: `--config`."),
            *_file("WebhookConfiguration", WebhookSettings, "`grove webhooks --config`."),
        )
    )


def _file(kind: str, model: type[BaseModel], where: str) -> Iterator[str]:
    yield f"## {kind}\n"
    yield f"{prose(_summary(model))} Used by {where}\n"
    yield table(("field", "type", "default", "limits", "meaning"), fields_of(model))
    yield f"### All defaults of {kind}\n"
    yield "A file with all defaults:\n"
    yield fenced(yaml.safe_dump(defaults_of(model), sort_keys=False), "yaml")


def fields_of(model: type[BaseModel], path: str = "") -> Iterator[tuple[str, str, str, str, str]]:
    """Yield a row for each field: path, type, default, limits, meaning."""
    schema = model.model_json_schema()
    meanings = _meanings(model)
    for name, field in model.model_fields.items():
        alias = field.alias or name
        whole, field_schema = f"{path}{alias}", schema["properties"][alias]
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield code(whole), "object", "", "", prose(_summary(inner))
            yield from fields_of(inner, f"{whole}.")
            continue
        meaning = prose(meanings.get(name) or _MEANINGS.get(whole, ""))
        yield (
            code(whole),
            _type(field_schema, schema.get("$defs", {})),
            _shown(_default(field_schema, field.default)),
            _limits(field_schema),
            meaning,
        )


def defaults_of(model: type[BaseModel]) -> dict[str, Any]:
    """Return a file with all defaults."""
    shown: dict[str, Any] = {}
    for name, field in model.model_fields.items():
        alias, inner = field.alias or name, field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            shown[alias] = defaults_of(inner)
        else:
            shown[alias] = _default(model.model_json_schema()["properties"][alias], field.default)
    return shown


def _shown(default: object) -> str:
    return code(default if isinstance(default, str) else json.dumps(default))


def _default(schema: Schema, default: object) -> object:
    """Return a default as a file writes it: seconds as a duration, tuples as lists."""
    if schema.get("type") == "string" and isinstance(default, float):
        return format_go_duration(timedelta(seconds=default))
    return list(default) if isinstance(default, tuple) else default


def _type(schema: Schema, parts: Schema) -> str:
    if "const" in schema:
        return code(schema["const"])
    if "enum" in schema:
        return ", ".join(code(word) for word in schema["enum"])
    if schema.get("type") == "string" and isinstance(schema.get("default"), float):
        return "duration"
    if schema.get("type") == "array":
        return f"list of {_item_fields(schema, parts)}"
    return str(schema.get("type", ""))


def _item_fields(schema: Schema, parts: Schema) -> str:
    """Return the field names of the objects in a list; objects of any fields have none."""
    if "$ref" not in schema["items"]:
        return "objects"
    return " and ".join(map(code, parts[schema["items"]["$ref"].rpartition("/")[2]]["properties"]))


def _limits(schema: Schema) -> str:
    return ", ".join(f"{words} {schema[key]}" for key, words in _LIMITS.items() if key in schema)


def _summary(model: type[BaseModel]) -> str:
    return docstring(model.__doc__).partition("\n\n")[0].replace("\n", " ")


def _meanings(model: type[BaseModel]) -> dict[str, str]:
    """Return the descriptions of attributes in the docstring, by name."""
    _, _, listed = docstring(model.__doc__).partition("Attributes:\n")
    found = {}
    for names, words in _ATTRIBUTE.findall(listed):
        for name in names.split(", "):
            found[name] = " ".join(words.split())
    return found
