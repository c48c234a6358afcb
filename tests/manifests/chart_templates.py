"""The templates of the chart that have the programs, made of what ``grove manifests`` prints."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any, Final

from grove_core.version import IMAGE
from grove_shell.actions.manifests import PREVIEW_PART, installation_objects
from grove_shell.manifests.installation import program_object_manifest
from grove_shell.settings.operator_settings import OperatorSettings
from tests.manifests.chart_text import text_of
from tests.manifests.chart_values import PROGRAMS
from tests.manifests.chart_variants import COMBINATIONS, NAMESPACE, Combination, condition, installation, merged

Json = dict[str, Any]
PARTS: Final = ("rbac", "operator", "webhooks", PREVIEW_PART)
METRICS_LABELS: Final = {"app.kubernetes.io/component": "metrics", "app.kubernetes.io/part-of": "grove"}
_PORT: Final = 'dig "serving" "port" 8080 .Values.config'
HTTP: Final = OperatorSettings().serving.port


def program_template(part: str) -> str:
    """Return the objects of a part under every configuration; the namespace is Helm's to make."""
    variants: dict[tuple[str, str], dict[Combination, Json]] = {}
    for features in COMBINATIONS:
        for one in installation_objects(installation(features), (part,)):
            if one["kind"] != "Namespace":
                _mark(one)
                variants.setdefault((one["kind"], one["metadata"]["name"]), {})[features] = one
    blocks = [(_program_of(next(iter(found.values()))), found) for found in variants.values()]
    return "".join(
        _shown(f".Values.{program}.enabled", [_document(program, found) for _, found in several])
        for program, several in groupby(blocks, lambda block: block[0])
    )


def _program_of(one: Json) -> str:
    """Return the value of the program that an object belongs to."""
    return str(one["metadata"]["labels"]["app.kubernetes.io/name"]).removeprefix("grove-")


def _shown(switch: str, documents: Iterable[str]) -> str:
    return f"{{{{- if {switch} }}}}\n{''.join(documents)}{{{{- end }}}}\n"


def file_of(program: str) -> str:
    """Return the expression of a program's configuration file, which is empty where it has none."""
    return f'include "grove.file.{program}" .'


def _document(program: str, variants: dict[Combination, Json]) -> str:
    text = f"---\n{text_of(merged(variants, file_of(program)))}"
    when = condition(variants, COMBINATIONS, file_of(program))
    if next(iter(variants.values()))["kind"] == "PodDisruptionBudget":
        when = ".Values.podDisruptionBudget.enabled"
    return _shown(when, [text]) if when else text


def _mark(one: Json) -> None:
    """Put values of the chart in the place of what may differ between installations."""
    program = _program_of(one)
    if one["kind"] == "ConfigMap":
        one["data"] = {name: f"<<{file_of(program)} | toJson>>" for name in one["data"]}
    if one["kind"] == "Deployment":
        _mark_deployment(one, program)


def _mark_deployment(one: Json, program: str) -> None:
    values = f".Values.{program}"
    one["spec"]["replicas"] = f"<<{values}.replicas>>"
    template = one["spec"]["template"]
    template["metadata"].pop("annotations", None)
    template["metadata"]["annotations"] = (
        f'<<!include "grove.podAnnotations" (list ({file_of(program)}) {values}.podAnnotations)>>'
    )
    pod = template["spec"]
    for key in ("nodeSelector", "tolerations", "affinity", "priorityClassName"):
        pod[key] = f"<<?{values}.{key}>>"
    pod["imagePullSecrets"] = "<<?.Values.imagePullSecrets>>"
    (container,) = pod["containers"]
    container["image"] = "<<.Values.image>>"
    container["imagePullPolicy"] = "<<?.Values.imagePullPolicy>>"
    container["args"] = [word.replace(IMAGE, "<<.Values.image>>") for word in container["args"]]
    container["resources"] = f"<<toJson {values}.resources>>"
    if program == "operator":
        (container["ports"][0])["containerPort"] = f"<<{_PORT}>>"


def network_template() -> str:
    """Return a NetworkPolicy for each program: reviews from anywhere, metrics from some, and the API server."""
    return "".join(
        _shown(
            f"and .Values.networkPolicy.enabled .Values.{program}.enabled",
            [f"---\n{text_of(_network_policy(program))}"],
        )
        for program in PROGRAMS
    )


def _network_policy(program: str) -> Json:
    """Return the policy of a program, which resolves no names: its environment has the address of the API server."""
    name = f"grove-{program}"
    web = [] if program == "operator" else [{"ports": [{"port": "https", "protocol": "TCP"}]}]
    metrics = {"ports": [{"port": "http", "protocol": "TCP"}], "from": "<<?.Values.networkPolicy.metricsFrom>>"}
    spec = {
        "podSelector": {"matchLabels": {"app.kubernetes.io/name": name}},
        "policyTypes": ["Ingress", "Egress"],
        "ingress": [*web, metrics],
        "egress": '<<include "grove.egress" .>>',
    }
    return program_object_manifest(
        "networking.k8s.io/v1", "NetworkPolicy", name, name, {"namespace": NAMESPACE}, spec=spec
    )


def metrics_services() -> Iterator[str]:
    """Yield a Service for the metrics of each program, which a ServiceMonitor selects."""
    for program in PROGRAMS:
        name = f"grove-{program}"
        spec = {
            "clusterIP": "None",
            "selector": {"app.kubernetes.io/name": name},
            "ports": [{"name": "http", "port": HTTP, "targetPort": "http", "protocol": "TCP"}],
        }
        made = program_object_manifest("v1", "Service", f"{name}-metrics", name, {"namespace": NAMESPACE}, spec=spec)
        made["metadata"]["labels"] |= METRICS_LABELS
        yield _shown(f"and .Values.serviceMonitor.enabled .Values.{program}.enabled", [f"---\n{text_of(made)}"])
