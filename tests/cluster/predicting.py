"""Compares what a plan says with what an operator does."""

import json
from collections import Counter

from tests.cluster.operators import Operator, grove
from tests.cluster.plane import ControlPlane
from tests.cluster.scenes import Scene

Counts = Counter[tuple[str, str, str]]


def predicted(plane: ControlPlane, scene: Scene, *options: str) -> Counts:
    """Creations and deletions of a plan by verb, kind and name; pods by their clique, for their names are chance."""
    config = plane.folder / "podgangs.yaml"  # as that of the operators of the tests
    config.write_text(
        "apiVersion: operator.config.grove.io/v1alpha1\nkind: OperatorConfiguration\nscheduling: {backend: podgang}\n",
        encoding="utf-8",
    )
    asked = ("plan", "--live", "-n", scene.namespace, "-o", "json", "--config", str(config), *options)
    ran = grove(*asked, kubeconfig=plane.kubeconfig("admin"))
    assert ran.returncode == 0, ran.stderr
    (plan,) = json.loads(ran.stdout)["plans"]
    steps = [
        step for reported in plan["rounds"] for step in reported["steps"] if step["action"] in {"create", "delete"}
    ]
    return Counter((step["action"], *_shown(step["target"]["kind"], step["target"]["name"])) for step in steps)


def done(operator: Operator, kinds: dict[str, str], since: int = 0) -> Counts:
    """What the operator created and deleted, in the same words."""
    writes = [event for event in operator.writes()[since:] if event["verb"] in {"create", "delete"}]
    found = [(event["verb"], kinds[event["objectRef"]["resource"]], event["objectRef"]["name"]) for event in writes]
    return Counter((verb, *_shown(kind, name)) for verb, kind, name in found)


def _shown(kind: str, name: str) -> tuple[str, str]:
    return (kind, name.rpartition("-")[0] if kind == "Pod" else name)
