"""The Helm chart, made of what ``grove manifests`` prints: ``python -m tests.manifests.chart --write``.

What may differ from one installation to another becomes a value; everything else stands in the templates as it is
printed. Each program may be left out. The notes and the named templates are written by hand.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any, Final

from grove_core.version import VERSION
from grove_shell.manifests.crd_definitions import grove_crd_manifests
from grove_shell.monitoring.alert_settings import DEFAULTS, AlertOptions
from grove_shell.monitoring.monitoring_manifests import DASHBOARD_FILE, MONITORING_PARTS, dashboard_text
from grove_shell.views.renderers import format_yaml_document
from tests.manifests.chart_templates import METRICS_LABELS, PARTS, metrics_services, network_template, program_template
from tests.manifests.chart_text import text_of
from tests.manifests.chart_values import MONITORING, schema_text, values_text
from tests.manifests.chart_variants import NAMESPACE

Json = dict[str, Any]
CHART: Final = Path(__file__).parents[2] / "deploy" / "helm" / "grove"
BY_HAND: Final = ("templates/NOTES.txt", "templates/_grove.tpl", ".helmignore")
_DASHBOARD: Final = f"dashboards/{DASHBOARD_FILE}"
_IN_TEXT: Final = re.compile(r"@([A-Za-z.]+)@")
"""A value within a text, which keeps the quotes around it."""
_ABOUT: Final = {
    "apiVersion": "v2",
    "name": "grove",
    "description": "The operator of PodCliqueSets, cliques of pods that are scheduled, scaled and ended together.",
    "type": "application",
    "version": VERSION,
    "appVersion": VERSION,
}
_HEAD: Final = "# Made by 'python -m tests.manifests.chart --write'; changes are lost.\n"
_START: Final = "---\n"
"""Before each definition, since ``helm show crds`` of Helm 3 puts nothing between two of them."""
_REFUSED: Final = '{{- include "grove.refuse" . }}\n'


def files_of() -> dict[str, str]:
    """Return every file of the chart that is generated, by its path."""
    templates = {
        f"templates/{place}-{part}.yaml": _HEAD + program_template(part) for place, part in enumerate(PARTS, 1)
    }
    templates["templates/1-rbac.yaml"] = templates["templates/1-rbac.yaml"].replace(_HEAD, _HEAD + _REFUSED)
    definitions = {f"crds/{one['metadata']['name']}.yaml": one for one in grove_crd_manifests()}
    monitoring = [*map(_monitoring_template, MONITORING), *metrics_services(), _service_monitor()]
    return {
        "Chart.yaml": _HEAD + format_yaml_document(_ABOUT),
        "values.yaml": _HEAD + values_text(),
        "values.schema.json": schema_text(),
        **{name: _START + format_yaml_document(json.loads(json.dumps(one))) for name, one in definitions.items()},
        **templates,
        "templates/5-monitoring.yaml": _HEAD + "".join(monitoring),
        "templates/6-network.yaml": _HEAD + network_template(),
        _DASHBOARD: dashboard_text(),
    }


def _monitoring_template(part: str) -> str:
    """Return a part of the monitoring, off by default."""
    switch = f".Values.{MONITORING[part]}"
    marked = {key: {name: f"@.Values.alerts.{key}.{name}@" for name in parts} for key, parts in DEFAULTS.items()}
    options = AlertOptions(values=marked, runbooks="@.Values.alerts.runbooks@")
    made = json.loads(json.dumps(MONITORING_PARTS[part](NAMESPACE, options)))
    made["metadata"]["labels"] = f"<<toJson {switch}.labels>>"
    if part == "dashboard":
        made["data"] = {DASHBOARD_FILE: f'<<.Files.Get "{_DASHBOARD}" | toJson>>'}
    text = _IN_TEXT.sub(lambda match: f"{{{{ {match[1]} }}}}", text_of(made))
    return f"{{{{- if {switch}.enabled }}}}\n---\n{text}{{{{- end }}}}\n"


def _service_monitor() -> str:
    """Return a ServiceMonitor of the Services for metrics, with the settings of the PodMonitor (AL-014)."""
    (endpoint,) = MONITORING_PARTS["pod-monitor"](NAMESPACE, AlertOptions())["spec"]["podMetricsEndpoints"]
    made = {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "ServiceMonitor",
        "metadata": {"name": "grove", "namespace": NAMESPACE, "labels": "<<toJson .Values.serviceMonitor.labels>>"},
        "spec": {"selector": {"matchLabels": METRICS_LABELS}, "endpoints": [dict(endpoint)]},
    }
    return f"{{{{- if .Values.serviceMonitor.enabled }}}}\n---\n{text_of(made)}{{{{- end }}}}\n"


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
