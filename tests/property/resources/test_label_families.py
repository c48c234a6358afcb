"""Another family of label keys is a change in one file: ``grove_core/resources/labels.py`` (WL-030, decision D3)."""

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any, Final

import pytest

from grove_core.resources.labels import CLIQUE, GROUP, GROUP_REPLICA, SET, SET_REPLICA, LabelKeys
from tests.property.resources import label_report
from tests.property.resources.another_label_family import PREFIX

PROGRAM: Final = """
from tests.property.resources.another_label_family import add_family
add_family()
from tests.property.resources.label_report import main
main()
"""
LABELS: Final[dict[str, LabelKeys]] = {
    "set": SET,
    "set_replica": SET_REPLICA,
    "group": GROUP,
    "group_replica": GROUP_REPLICA,
    "clique": CLIQUE,
}


@pytest.fixture(scope="module", name="report")
def _report() -> Any:
    done = subprocess.run([sys.executable, "-c", PROGRAM], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def labels_in(value: Any) -> Iterator[dict[str, str]]:
    """Every ``metadata.labels`` of a JSON value, at any depth."""
    if isinstance(value, dict):
        labels = value.get("metadata", {}).get("labels") if isinstance(value.get("metadata"), dict) else None
        yield from [labels] if labels else []
        for inner in value.values():
            yield from labels_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from labels_in(inner)


def without_family(value: Any) -> Any:
    """A JSON value without the keys of the new family."""
    if isinstance(value, dict):
        return {key: without_family(inner) for key, inner in value.items() if not key.startswith(PREFIX)}
    return [without_family(inner) for inner in value] if isinstance(value, list) else value


def test_objects_with_the_new_keys_alone_are_read(report: Any) -> None:
    assert report["read"] == {
        "set of the pod": "llm",
        "replicas of the clique": [3, 4],
        "replica of the group": 3,
        "position of the clique": ["llm", 3, "member", "member", ["llm-3-pool", 4]],
        "replicas of the user": ["3", "4"],
        "clique of the pod": "llm-3-router",
    }


def test_wl030_the_new_keys_are_written_wherever_the_others_are(report: Any) -> None:
    found = list(labels_in(report["written"]))
    for name, label in LABELS.items():
        with_label = [labels for labels in found if label.primary in labels]
        assert with_label
        assert [labels[PREFIX + name] for labels in with_label] == [labels[label.primary] for labels in with_label]
        assert all(label.primary in labels for labels in found if PREFIX + name in labels)


def test_nothing_else_of_a_manifest_changes(report: Any) -> None:
    assert without_family(report["written"]) == json.loads(json.dumps(label_report.written()))


def test_wl043_a_template_label_under_a_new_key_restarts_nothing_at_a_takeover(report: Any) -> None:
    assert report["steps of takeover"] == []
