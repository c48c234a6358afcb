"""Policies written to files and read back."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import yaml

from grove_shell.policies.evaluation import evaluate_policies
from grove_shell.policies.policy import Policy
from grove_shell.policies.policy_reading import read_policies
from grove_shell.policies.policy_results import PolicyRuleResult

NOW: Final = "2026-11-20T09:00:00Z"
ROOT: Final = Path(__file__).parent.parent.parent


def policy_object(
    *rules: Mapping[str, Any], name: str = "tested", tests: Sequence[Any] = (), **spec: Any
) -> dict[str, Any]:
    return {
        "apiVersion": "policy.grove.io/v1alpha1",
        "kind": "PlanPolicy",
        "metadata": {"name": name},
        "spec": {**spec, "rules": list(rules)},
        **({"tests": list(tests)} if tests else {}),
    }


def one_rule(expression: str, **more: Any) -> dict[str, Any]:
    return {"name": "one", "expression": expression, **more}


def written(folder: Path, *objects: Mapping[str, Any], name: str = "policy.yaml") -> str:
    path = folder / name
    path.write_text(yaml.safe_dump_all(objects, sort_keys=False), encoding="utf-8")
    return str(path)


def sound(folder: Path, *rules: Mapping[str, Any], **spec: Any) -> Policy:
    (policy,), faults = read_policies([written(folder, policy_object(*rules, **spec))])
    assert faults == ()
    return policy


def problems(folder: Path, *objects: Mapping[str, Any]) -> list[str]:
    """Every problem of a file, without its name."""
    path = written(folder, *objects)
    found, faults = read_policies([path])
    assert len(found) < len(objects)
    return [str(fault).removeprefix(f"{path}: ") for fault in faults]


def results_on(policy: Policy, *sets: Mapping[str, Any], **plan: Any) -> tuple[PolicyRuleResult, ...]:
    (result,) = evaluate_policies((policy,), {"asOf": NOW, "sets": list(sets), **plan})
    return result.results


def without_pods(folder: Path) -> str:
    """The degraded cluster as it is collected without pods."""
    items = yaml.safe_load((ROOT / "examples/degraded.yaml").read_text(encoding="utf-8"))["items"]
    path = folder / "without-pods.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [i for i in items if i["kind"] != "Pod"]}))
    return str(path)
