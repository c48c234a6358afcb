"""The previous release of Grove in an environment of its own, and what must not change when an operator is replaced."""

import os
import subprocess
import venv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from release.locked_wheels import ROOT
from release.source_commit import export_commit
from tests.cluster.api import Api, Json

PREVIOUS: Final = "GROVE_TEST_PREVIOUS"
"""The environment variable with the tag or commit of the previous release."""
Facts = Mapping[tuple[str, str], Any]
"""What must not change, by kind and name."""
PASSING: Final = frozenset({"Event", "Lease"})

needs_previous = pytest.mark.skipif(not os.environ.get(PREVIOUS), reason="needs a previous release: nox -s upgrade")


def install_previous(folder: Path) -> Sequence[str]:
    """Install the release that the environment names, and return the command of its ``grove``.

    Raises:
        subprocess.CalledProcessError: there is no such commit, or no package index answers.
    """
    source = folder / "source"
    source.mkdir(parents=True)
    export_commit(ROOT, source, os.environ[PREVIOUS])
    venv.create(folder / "environment", with_pip=True)
    programs = folder / "environment" / "bin"
    python = (str(programs / "python"), "-I")  # without PYTHONPATH, which may lead to this checkout
    subprocess.run([*python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", source], check=True)
    return (*python, str(programs / "grove"))


def lasting_facts(api: Api, namespace: str) -> Facts:
    """Return of every object what an operator that is replaced leaves as it is, by kind and name."""
    found = (one for one in api.everything_in(namespace) if one["kind"] not in PASSING)
    return {(one["kind"], one["metadata"]["name"]): _facts_of(one) for one in found}


def _facts_of(found: Json) -> dict[str, Any]:
    metadata, status = found["metadata"], found.get("status") or {}
    conditions = status.get("conditions") or []
    return {
        "uid": metadata["uid"],
        "is deleted": "deletionTimestamp" in metadata,
        "generation": metadata.get("generation"),
        "conditions": {one["type"]: (one["status"], one.get("lastTransitionTime")) for one in conditions},
        "restarts": [one["restartCount"] for one in status.get("containerStatuses") or []],
        "phase": status.get("phase"),
    }


def differing(before: Facts, after: Facts) -> dict[str, Any]:
    """Return what differs: the facts before and after, by kind and name."""
    keys = sorted(key for key in before.keys() | after.keys() if before.get(key) != after.get(key))
    return {" ".join(key): (before.get(key), after.get(key)) for key in keys}
