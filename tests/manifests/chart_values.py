"""The values of the Helm chart: the default of each, its description, and the JSON schema by which Helm checks it."""

import json
from collections.abc import Mapping
from typing import Any, Final

from pydantic import BaseModel

from grove_core.version import IMAGE
from grove_shell.manifests.deployments import RESOURCES
from grove_shell.manifests.installation import REPLICAS
from grove_shell.monitoring.alert_settings import DEFAULTS, RUNBOOKS, AlertOptions
from grove_shell.monitoring.monitoring_manifests import LABELS, MONITORING_PARTS
from grove_shell.settings.operator_settings import OperatorSettings
from grove_shell.settings.webhook_settings import PREVIEW_PROGRAM, PreviewSettings, WebhookSettings
from grove_shell.views.renderers import format_yaml_document

Json = dict[str, Any]
PREVIEW: Final = PREVIEW_PROGRAM.removeprefix("grove-")
PROGRAMS: Final = tuple(program.removeprefix("grove-") for program in RESOURCES)
MONITORING: Final[Mapping[str, str]] = {"alerts": "alerts", "dashboard": "dashboards", "pod-monitor": "podMonitor"}
"""The value that switches each printed part of the monitoring on; its labels are a value too."""
_SHOWN: Final = WebhookSettings().preview
_DURATION: Final = {"type": "string", "pattern": "^(0|[1-9][0-9]{0,8})(ms|s|m|h|d|w)$"}
_NUMBER: Final = {"type": "number", "minimum": 0}
_TEXTS: Final = {"type": "object", "additionalProperties": {"type": "string"}}
_RULES: Final = r"design|field(@[a-z0-9.-]+)?"
_FREE: Final = {"type": "object"}
_WORDS_OF_MODELS: Final = frozenset({"title", "default", "description", "gt", "le"})


def _value(default: Any, words: str, **schema: Any) -> Json:
    """Return a value of the chart; its type is that of its default where ``schema`` names none."""
    if "type" not in schema and "enum" not in schema and "$ref" not in schema:
        kinds = {bool: "boolean", int: "integer", str: "string", list: "array", dict: "object"}
        schema["type"] = kinds[type(default)]
    return {"description": words, "default": default, **schema}


def _section(words: str, **parts: Json) -> Json:
    """Return a part of the values, which has these and no others."""
    return {"description": words, "type": "object", "additionalProperties": False, "properties": parts}


def _switch(words: str, *, default: bool = False) -> Json:
    return _value(default, words)


def _program(name: str, about: str, least: int) -> Json:
    """Return the values that every program has."""
    return _section(
        about,
        enabled=_switch("Whether it is installed.", default=name != PREVIEW),
        replicas=_value(REPLICAS, "Number of pods.", minimum=least),
        resources=_value(RESOURCES[f"grove-{name}"], "Requests and limits of its container.", **_FREE),
        nodeSelector=_value({}, "Labels of the nodes that its pods may run on.", **_TEXTS),
        tolerations=_value([], "Taints of nodes that its pods tolerate.", items=_FREE),
        affinity=_value({}, "Affinity of its pods.", **_FREE),
        priorityClassName=_value("", "PriorityClass of its pods, which has to exist."),
        podAnnotations=_value({}, "Further annotations of its pods.", **_TEXTS),
    )


def _alert(key: str, parts: Mapping[str, Any]) -> Json:
    """Return the values of one alert."""
    shapes = {
        "for": _DURATION,
        "window": _DURATION,
        "severity": {"type": "string", "pattern": "^[A-Za-z][A-Za-z0-9_-]*$"},
    }
    words = {
        "for": "How long the condition holds before the alert fires.",
        "window": "The time over which it is measured.",
        "severity": "The label severity.",
        "withinSeconds": "Seconds before or after the event in which it fires.",
        "above": "It fires above this number.",
        "aboveSeconds": "It fires above this number of seconds.",
    }
    found = {part: _value(default, words[part], **shapes.get(part, _NUMBER)) for part, default in parts.items()}
    return _section(f"The alert Grove{key[0].upper()}{key[1:]}.", **found)


def _monitor(words: str, labels: Mapping[str, str], **more: Json) -> Json:
    found = _value(dict(labels), "Its labels, by which Prometheus or Grafana selects it.", **_TEXTS)
    return _section(words, enabled=_switch("Whether it is installed."), labels=found, **more)


def _without_words(part: Any) -> Any:
    """Return a schema of a model without the words that a user of the chart has no use for."""
    if isinstance(part, list):
        return [_without_words(one) for one in part]
    if not isinstance(part, dict):
        return part
    found = {key: one for key, one in part.items() if key not in _WORDS_OF_MODELS or isinstance(one, dict)}
    return {key: _without_words(one) for key, one in found.items() if not (key == "default" and "$ref" in part)}


def _of_model(model: type[BaseModel]) -> Json:
    """Return the JSON schema of a configuration, as its model refuses it."""
    made: Json = _without_words(model.model_json_schema(by_alias=True))
    for part in (made, *made.get("$defs", {}).values()):
        part["properties"] = {name: _without_words(one) for name, one in part["properties"].items()}
    return made


_CONFIG: Final = _of_model(OperatorSettings)
_SETTINGS: Final = _of_model(PreviewSettings)
_CONFIG["properties"]["rules"]["pattern"] = f"^({_RULES})$"
_SETTINGS["properties"]["rules"]["pattern"] = f"^(auto|{_RULES})$"
_SETTINGS["properties"]["mode"] = {"enum": ["warn", "off", False]}  # YAML reads a plain off as false
_PARTS: Final[Json] = {
    "image": _value(IMAGE, "Image of all programs, which you build with deploy/Dockerfile and push.", minLength=1),
    "imagePullPolicy": _value(
        "", "When nodes pull the image; empty for the default.", enum=["", "Always", "IfNotPresent", "Never"]
    ),
    "imagePullSecrets": _value(
        [],
        "Secrets to pull the image with, such as [{name: registry}].",
        items={"type": "object", "required": ["name"]},
    ),
    "config": _value(
        {},
        "The configuration file of the operator; the webhooks get its mnnvl, topologyAwareScheduling and scheduling.",
        **{"$ref": "#/definitions/OperatorConfiguration"},
    ),
    "operator": _program("operator", "The operator, which manages the PodCliqueSets of the cluster.", 0),
    "webhooks": _program("webhooks", "The webhooks, which set defaults and refuse invalid PodCliqueSets.", 1),
    PREVIEW: _program(PREVIEW, "The preview, which answers updates of PodCliqueSets with what they restart.", 1),
    "podDisruptionBudget": _section(
        "A PodDisruptionBudget for each program, which allows one unavailable pod.",
        enabled=_switch("Whether they are installed.", default=True),
    ),
    "networkPolicy": _section(
        "A NetworkPolicy for each program: no connections but those that it needs.",
        enabled=_switch("Whether they are installed."),
        apiServerPorts=_value(
            [443, 6443],
            "Ports of the API server that pods connect to, before and after address translation.",
            items={"type": "integer", "minimum": 1, "maximum": 65535},
            minItems=1,
        ),
        apiServerCidrs=_value(
            [], "Addresses of the API server, such as [10.0.0.1/32]; empty for any address.", items={"type": "string"}
        ),
        metricsFrom=_value(
            [],
            "Peers that may read metrics; empty for any. Most network plugins allow the probes of nodes always.",
            items=_FREE,
        ),
    ),
    "alerts": _monitor(
        "A PrometheusRule with alerts. It needs the definitions of the Prometheus operator, as the monitors do.",
        LABELS,
        runbooks=_value(RUNBOOKS, "Address of the folder with the runbook pages.", pattern="^https?://"),
        **{key: _alert(key, parts) for key, parts in DEFAULTS.items()},
    ),
    "dashboards": _monitor(
        "A ConfigMap with a dashboard for Grafana.",
        MONITORING_PARTS["dashboard"]("", AlertOptions())["metadata"]["labels"],
    ),
    "podMonitor": _monitor("A PodMonitor, by which the Prometheus operator reads the metrics of all programs.", LABELS),
    "serviceMonitor": _monitor(
        "A ServiceMonitor with Services, for a Prometheus that reads no PodMonitors. Use one of both.", LABELS
    ),
}
_PARTS[PREVIEW]["properties"]["settings"] = _value(
    {"mode": _SHOWN.mode, "rules": _SHOWN.rules, "denyAbove": {}},
    "The part preview of its configuration file.",
    **{"$ref": "#/definitions/PreviewSettings"},
)


def _defaults(schema: Json) -> Any:
    if "default" in schema:
        return schema["default"]
    return {name: _defaults(part) for name, part in schema["properties"].items()}


VALUES: Final[Json] = {name: json.loads(json.dumps(_defaults(part))) for name, part in _PARTS.items()}
"""The default of every value, as in ``values.yaml``."""


def leaves(schema: Mapping[str, Json] = _PARTS, before: str = "") -> dict[str, Json]:
    """Return the schema of every value that can be set, by its dotted name."""
    found: dict[str, Json] = {}
    for name, part in schema.items():
        found |= {f"{before}{name}": part} if "default" in part else leaves(part["properties"], f"{before}{name}.")
    return found


def schema_text() -> str:
    """Return ``values.schema.json``."""
    definitions = {"OperatorConfiguration": _CONFIG, "PreviewSettings": _SETTINGS}
    inner = {name: part for one in definitions.values() for name, part in one.get("$defs", {}).items()}
    whole = {name: {key: part for key, part in one.items() if key != "$defs"} for name, one in definitions.items()}
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Values of the chart grove",
        "type": "object",
        "additionalProperties": False,
        "properties": {**_PARTS, "global": {"type": "object"}},
        "definitions": {**whole, **inner},
    }
    return json.dumps(schema, indent=2).replace("#/$defs/", "#/definitions/") + "\n"


def values_text() -> str:
    """Return ``values.yaml`` without its head: every value with its description above it."""
    return "".join(_described(name, part, "") for name, part in _PARTS.items())


def _described(name: str, schema: Json, indent: str) -> str:
    comment = f"{indent}# {schema['description']}\n"
    if "default" in schema:
        text = format_yaml_document(json.loads(json.dumps({name: schema["default"]})))
        return comment + "".join(f"{indent}{line}\n" for line in text.splitlines())
    inner = (_described(key, part, f"{indent}  ") for key, part in schema["properties"].items())
    return f"{comment}{indent}{name}:\n{''.join(inner)}"
