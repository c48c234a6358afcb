"""The Helm chart, made of what ``grove manifests`` prints: ``python -m tests.manifests.chart --write``.

Helm itself is not needed. What may differ from one installation to another becomes a value; everything else stands in
the templates as it is printed. Each program may be left out.
"""

import json
import re
import sys
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from grove_core.version import IMAGE, VERSION
from grove_shell.actions.manifests import PREVIEW_PART, installation_objects
from grove_shell.manifests.deployments import RESOURCES
from grove_shell.manifests.installation import REPLICAS, InstallationOptions
from grove_shell.monitoring.alert_settings import DEFAULTS, RUNBOOKS, AlertOptions
from grove_shell.monitoring.monitoring_manifests import DASHBOARD_FILE, MONITORING_PARTS, dashboard_text
from grove_shell.settings.webhook_settings import WebhookSettings
from grove_shell.views.renderers import format_yaml_document

Json = dict[str, Any]
CHART: Final = Path(__file__).parents[2] / "deploy" / "helm" / "grove"
_PREVIEW: Final = "preview"
_SETTINGS: Final = WebhookSettings().preview
VALUES: Final[Json] = {
    "image": IMAGE,
    **{
        (name := program.removeprefix("grove-")): {
            "enabled": name != _PREVIEW,
            "replicas": REPLICAS,
            "resources": resources,
        }
        for program, resources in RESOURCES.items()
    },
}
_MONITORING: Final = {"alerts": "alerts", "dashboard": "dashboards", "pod-monitor": "podMonitor"}
"""The value that switches each part of the monitoring on; its labels are a value too."""
for _part, _value in _MONITORING.items():
    _made = MONITORING_PARTS[_part]("", AlertOptions())
    VALUES[_value] = {"enabled": False, "labels": _made["metadata"]["labels"]}
VALUES["alerts"] |= {"runbooks": RUNBOOKS, **{key: dict(parts) for key, parts in DEFAULTS.items()}}
VALUES[_PREVIEW] |= {"settings": {"mode": _SETTINGS.mode, "rules": _SETTINGS.rules, "denyAbove": {}}}
_PARTS: Final = ("rbac", "operator", "webhooks", PREVIEW_PART)
_DASHBOARD: Final = f"dashboards/{DASHBOARD_FILE}"
_OF_PROMETHEUS: Final = re.compile(r"\{\{.*?\}\}", re.DOTALL)
_IN_TEXT: Final = re.compile(r"@([A-Za-z.]+)@")
"""A value within a text, which keeps the quotes around it."""
_MARK: Final = re.compile(r"'?<<([^<>]+)>>'?")
_ABOUT: Final = {
    "apiVersion": "v2",
    "name": "grove",
    "description": "Cliques of pods that are scheduled, scaled and ended together. Apply the definitions first.",
    "type": "application",
    "version": VERSION,
    "appVersion": VERSION,
}
_HEAD: Final = "# Made by 'python -m tests.manifests.chart --write'; changes are lost.\n"


def files_of() -> dict[str, str]:
    """Every file of the chart, by its path."""
    templates = {f"templates/{place}-{part}.yaml": _template(part) for place, part in enumerate(_PARTS, 1)}
    return {
        "Chart.yaml": _HEAD + format_yaml_document(_ABOUT),
        "values.yaml": _HEAD + format_yaml_document(json.loads(json.dumps(VALUES))),
        **templates,
        "templates/5-monitoring.yaml": _HEAD + "".join(map(_monitoring_template, _MONITORING)),
        _DASHBOARD: dashboard_text(),
    }


def _monitoring_template(part: str) -> str:
    """A part of the monitoring, off by default; what Prometheus fills in when an alert fires is no value of Helm."""
    switch = f".Values.{_MONITORING[part]}"
    marked = {key: {name: f"@.Values.alerts.{key}.{name}@" for name in parts} for key, parts in DEFAULTS.items()}
    options = AlertOptions(values=marked, runbooks="@.Values.alerts.runbooks@")
    made = json.loads(json.dumps(MONITORING_PARTS[part]("<<.Release.Namespace>>", options)))
    made["metadata"]["labels"] = f"<<toJson {switch}.labels>>"
    if part == "dashboard":
        made["data"] = {DASHBOARD_FILE: f'<<.Files.Get "{_DASHBOARD}" | toJson>>'}
    text = _OF_PROMETHEUS.sub(lambda match: f"{{{{`{match[0]}`}}}}", format_yaml_document(made))
    text = _filled(_IN_TEXT.sub(lambda match: f"{{{{ {match[1]} }}}}", text))
    return f"{{{{- if {switch}.enabled }}}}\n---\n{text}{{{{- end }}}}\n"


def _template(part: str) -> str:
    """The objects of a part; the namespace is Helm's to make."""
    made = installation_objects(InstallationOptions(home="<<.Release.Namespace>>"), (part,))
    objects = [one for one in made if one["kind"] != "Namespace"]
    configurations: dict[str, str] = {}
    for one in objects:
        if one["kind"] == "ConfigMap":
            ((name, text),) = one["data"].items()
            file = {**json.loads(text), _PREVIEW: ".Values.preview.settings"}
            words = " ".join(f'"{key}" {word if key == _PREVIEW else json.dumps(word)}' for key, word in file.items())
            one["data"][name] = f"<<dict {words} | toJson | quote>>"
            configurations[_program_of(one)] = f"<<dict {words} | toJson | sha256sum | quote>>"
        if one["kind"] == "Deployment":
            program = one["metadata"]["name"].removeprefix("grove-")
            one["spec"]["replicas"] = f"<<.Values.{program}.replicas>>"
            annotations = one["spec"]["template"]["metadata"].get("annotations", {})
            annotations |= dict.fromkeys(annotations, configurations.get(_program_of(one)))
            (container,) = one["spec"]["template"]["spec"]["containers"]
            container["image"] = "<<.Values.image>>"
            container["args"] = [word.replace(IMAGE, "<<.Values.image>>") for word in container["args"]]
            container["resources"] = f"<<toJson .Values.{program}.resources>>"
    by_program = groupby(objects, _program_of)
    text = "".join(_of_program(program.removeprefix("grove-"), found) for program, found in by_program)
    return _HEAD + _filled(text)


def _filled(text: str) -> str:
    """The values of Helm in the place of their marks."""
    return _MARK.sub(lambda match: f"{{{{ {' '.join(match[1].split())} }}}}", text)


def _program_of(one: Json) -> str:
    """The program that an object belongs to, by its label."""
    return str(one["metadata"]["labels"]["app.kubernetes.io/name"])


def _of_program(name: str, objects: Iterable[Json]) -> str:
    """Objects that are there if their program is."""
    text = "".join(f"---\n{format_yaml_document(one)}" for one in objects)
    return f"{{{{- if .Values.{name}.enabled }}}}\n{text}{{{{- end }}}}\n"


def main() -> None:
    """Write it, or print that writing needs ``--write``."""
    if sys.argv[1:] != ["--write"]:
        sys.exit("python -m tests.manifests.chart --write")
    for name, text in files_of().items():
        path = CHART / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
