"""The chart rendered: by Helm where it is there, else by the part of its template language that the chart uses."""

import copy
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from tests.cluster.binaries import HELM_MODULES, find
from tests.manifests.chart import BY_HAND, CHART
from tests.manifests.chart_values import VALUES
from tests.manifests.go_templates import Templates

Json = dict[str, Any]
BUILT: Final = "GROVE_TEST_HELM"
"""The environment variable by which the built programs are used too; without it Helm has to be on the PATH."""
_SECONDS: Final = 120


def program(name: str) -> str | None:
    """Return the path of a program on the PATH, in ``nox -s helm`` also of one that it built; None if there is none."""
    built = find(HELM_MODULES).get(name) if os.environ.get(BUILT) else None
    return shutil.which(name) or (str(built) if built else None)


def helm_program() -> str | None:
    """Return the path of Helm; None where there is none."""
    return program("helm")


needs_helm = pytest.mark.skipif(helm_program() is None, reason="needs helm: nox -s helm")


def helm(
    *words: str, folder: Path, kubeconfig: Path | None = None, code: int = 0
) -> "subprocess.CompletedProcess[str]":
    """Run Helm with a home of its own in a folder; it must end with this code."""
    homes = {f"HELM_{kind}_HOME": str(folder / kind.lower()) for kind in ("CACHE", "CONFIG", "DATA")}
    env = {**os.environ, **homes, "KUBECONFIG": str(kubeconfig or folder / "none")}
    command = [helm_program() or "helm", *words]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_SECONDS, env=env)
    assert ran.returncode == code, f"{ran.stdout}\n{ran.stderr}"
    return ran


def with_values(values: Json, change: Json) -> Json:
    """Return the values with some changed, as Helm merges a file of values."""
    merged = copy.deepcopy(values)
    for key, value in change.items():
        deeper = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = with_values(merged[key], value) if deeper else copy.deepcopy(value)
    return merged


def nested(name: str, value: Any) -> Json:
    """Return the value of this dotted name as it stands in a file of values."""
    for step in reversed(name.split(".")):
        value = {step: value}
    found: Json = value
    return found


def documents(change: Json | None = None, namespace: str = "grove-system") -> list[Json]:
    """Return everything that the chart renders to without Helm, with the defaults of all values but these.

    Raises:
        Fail: a template refuses the values.
    """
    names = sorted(path.name for path in (CHART / "templates").iterdir() if path.name != "NOTES.txt")
    texts = {name: (CHART / "templates" / name).read_text(encoding="utf-8") for name in names}
    files = {f"dashboards/{path.name}": path.read_text(encoding="utf-8") for path in (CHART / "dashboards").iterdir()}
    templates = Templates(texts, files)
    values = with_values(VALUES, change or {})
    release = {"Namespace": namespace, "Name": "grove"}
    made = [templates.render(name, values, release) for name in names if f"templates/{name}" not in BY_HAND]
    return _parsed("\n".join(made))


def helm_documents(change: Json, namespace: str = "grove-system", *, chart: Path = CHART) -> list[Json]:
    """Return everything that Helm renders the chart to."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "values.json").write_text(json.dumps(change), encoding="utf-8")
        words = ("template", "grove", str(chart), "-n", namespace, "-f", str(folder / "values.json"))
        return _parsed(helm(*words, folder=folder).stdout)


def _parsed(text: str) -> list[Json]:
    return [one for one in yaml.load_all(text, yaml.CSafeLoader) if one is not None]


def by_name(objects: list[Json]) -> dict[tuple[str, str], Json]:
    """Return objects by kind and name, with the content of configuration files read; a namespace is Helm's to make."""
    found = {}
    for one in objects:
        if one["kind"] == "ConfigMap":
            data = {name: json.loads(text) for name, text in one["data"].items()}
            found[one["kind"], one["metadata"]["name"]] = {**one, "data": data}
        elif one["kind"] != "Namespace":
            found[one["kind"], one["metadata"]["name"]] = one
    return found
