"""Configuration files, as the models that read them: every field with its type, its default and its limits."""

import json
import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any, Final

import yaml
from pydantic import BaseModel

from docs.generator.markdown import code, docstring, fenced, prose, table
from grove_core.kernel.durations import format_duration
from grove_shell.settings.operator import OperatorSettings
from grove_shell.settings.webhooks import WebhookSettings

_ATTRIBUTE: Final = re.compile(r"^ {4}(\w[\w, ]*): (.*(?:\n {6,}.*)*)", re.MULTILINE)
_LIMITS: Final = {"minimum": "at least", "exclusiveMinimum": "more than", "maximum": "at most"}
_MEANINGS: Final = {
    "apiVersion": "of the file; may be left out",
    "kind": "of the file; may be left out",
    "rules": "by whose rules to judge: `design`, `field`, or `field@RELEASE`; `grove rules` lists them",
    "workers": "sets that are decided and written at the same time",
    "leaderElection.enabled": "whether one of several processes acts; without it each one does",
    "leaderElection.name": "of the Lease",
    "leaderElection.namespace": "of the Lease; empty for the process's own",
    "leaderElection.leaseDuration": "a Lease that was not renewed for so long may be taken",
    "leaderElection.renewDeadline": "who could not renew it for so long gives up and leaves with 75",
    "leaderElection.retryPeriod": "between two tries to take or renew it",
    "client.qps": "requests a second; 0 for no limit of its own",
    "client.burst": "requests beyond `qps` at once",
    "client.inFlight": "requests that are under way at the same time",
    "client.timeout": "of one request",
    "serving.host": "address to listen at",
    "serving.port": "of health, readiness and metrics",
    "mnnvl.enabled": "whether sets get ComputeDomains",
    "network.autoMNNVLEnabled": "the existing operator's word for `mnnvl.enabled`; read where `mnnvl` is not written",
    "startup.image": "has the command `grove-initc`; empty for the operator's own",
    "topologyAwareScheduling.enabled": "whether pods are placed by topology",
    "registration.service": "Service that the API server calls; the certificate is made out to it",
    "registration.mutating": "name of the MutatingWebhookConfiguration",
    "registration.validating": "name of the ValidatingWebhookConfiguration",
    "listening.host": "address to listen at",
    "listening.port": "where the API server calls",
    "farewell": "how long requests are still taken after SIGTERM",
}
"""What the code has no sentence for; a test fails where a field is missing here."""
Schema = Mapping[str, Any]


def configuration_page() -> str:
    """The page of both files."""
    return "\n".join(
        (
            "# Configuration files\n",
            "Every field has a default, so an empty file is a whole one. An unknown field is a mistake, and all",
            "mistakes of a file are told at once (OP-036, WH-032). Durations are text as Go writes it: `15s`,",
            "`2h30m`.\n",
            *_file("OperatorConfiguration", OperatorSettings, "`grove operator`, `grove plan` and others: `--config`."),
            *_file("WebhookConfiguration", WebhookSettings, "`grove webhooks --config`."),
        )
    )


def _file(kind: str, model: type[BaseModel], where: str) -> Iterator[str]:
    yield f"## {kind}\n"
    yield f"{prose(_summary(model))} Told to {where}\n"
    yield table(("field", "type", "default", "limits", "meaning"), fields_of(model))
    yield f"### All defaults of {kind}\n"
    yield "A file that says what holds without it:\n"
    yield fenced(yaml.safe_dump(defaults_of(model), sort_keys=False), "yaml")


def fields_of(model: type[BaseModel], path: str = "") -> Iterator[tuple[str, str, str, str, str]]:
    """A row for each field, those of parts below the part."""
    schema = model.model_json_schema()
    meanings = _meanings(model)
    for name, field in model.model_fields.items():
        alias = field.alias or name
        whole, said = f"{path}{alias}", schema["properties"][alias]
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield code(whole), "object", "", "", prose(_summary(inner))
            yield from fields_of(inner, f"{whole}.")
            continue
        meaning = prose(meanings.get(name) or _MEANINGS.get(whole, ""))
        yield code(whole), _type(said), _shown(_default(said, field.default)), _limits(said), meaning


def defaults_of(model: type[BaseModel]) -> dict[str, Any]:
    """The whole file as it is without any file."""
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
    """As a file has to say it: what is read as seconds is written as a duration."""
    if schema.get("type") == "string" and isinstance(default, float):
        return format_duration(timedelta(seconds=default))
    return list(default) if isinstance(default, tuple) else default


def _type(schema: Schema) -> str:
    if "const" in schema:
        return code(schema["const"])
    if "enum" in schema:
        return ", ".join(code(word) for word in schema["enum"])
    if schema.get("type") == "string" and isinstance(schema.get("default"), float):
        return "duration"
    if schema.get("type") == "array":
        return "list of `domain` and `key`"
    return str(schema.get("type", ""))


def _limits(schema: Schema) -> str:
    return ", ".join(f"{words} {schema[key]}" for key, words in _LIMITS.items() if key in schema)


def _summary(model: type[BaseModel]) -> str:
    return docstring(model.__doc__).partition("\n\n")[0].replace("\n", " ")


def _meanings(model: type[BaseModel]) -> dict[str, str]:
    """What the docstring says of attributes, by name."""
    _, _, listed = docstring(model.__doc__).partition("Attributes:\n")
    found = {}
    for names, words in _ATTRIBUTE.findall(listed):
        for name in names.split(", "):
            found[name] = " ".join(words.split())
    return found
