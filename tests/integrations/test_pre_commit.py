"""The hooks for pre-commit: each entry, called as pre-commit calls it, with the names of changed files at the end."""

import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from tests.integrations.workflow import ROOT

HOOKS: Final = {
    hook["id"]: hook
    for hook in yaml.load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader)
}
GOOD: Final = "examples/manifests/disaggregated.yaml"
REFUSED: Final = "examples/manifests/refused.yaml"
EDIT: Final = "examples/edits/qwen-new-image.yaml"
FOREIGN: Final = ("deploy/helm/grove/values.yaml", "deploy/helm/grove/templates/2-operator.yaml")
NOW: Final = "--now=2026-11-21T09:40:15Z"
BESIDE: Final = "--filename=examples/real-cluster.yaml"


def hook(name: str, tmp_path: Path, *files: str, args: list[str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run a hook on changed files; ``args`` are those of a user's configuration."""
    found: dict[str, Any] = HOOKS[name]
    grove = tmp_path / "grove"  # of the environment that pre-commit would make
    grove.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m grove_shell "$@"\n', encoding="utf-8")
    grove.chmod(0o755)
    words = [*shlex.split(found["entry"]), *(found.get("args", []) if args is None else args), *files]
    env = {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.run(words, capture_output=True, text=True, cwd=ROOT, env=env, check=False, timeout=120)


@pytest.mark.parametrize(
    ("name", "files", "args", "code", "says"),
    [
        ("grove-validate", (GOOD,), None, 0, f"{GOOD}: PodCliqueSet inference/llama: admitted"),
        ("grove-validate", (GOOD, REFUSED), None, 1, "PodCliqueSet inference/llama-wrong: refused, 4 problems"),
        ("grove-validate", (*FOREIGN, GOOD), None, 0, f"{GOOD}: PodCliqueSet inference/llama: admitted"),
        ("grove-validate", (EDIT,), ["--rules=field"], 0, "DelayShorterThanAReboot"),
        ("grove-plan", (GOOD,), None, 0, "70 objects to create"),
        ("grove-plan", (REFUSED,), None, 1, "4 problems in the input"),
        ("grove-plan", (EDIT,), [BESIDE, NOW, "--fail-on=delete"], 3, "restarts 8 pods"),
        ("grove-plan", (EDIT,), [BESIDE, NOW, "--fail-on=terminate"], 0, "restarts 8 pods"),
    ],
)
def test_changed_files_are_judged(
    name: str, files: tuple[str, ...], args: list[str] | None, code: int, says: str, tmp_path: Path
) -> None:
    done = hook(name, tmp_path, *files, args=args)
    assert done.returncode == code
    assert says in done.stdout + done.stderr


@pytest.mark.parametrize("name", HOOKS)
def test_files_of_others_are_passed_over(name: str, tmp_path: Path) -> None:
    done = hook(name, tmp_path, *FOREIGN)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_two_sets_that_would_share_a_name_are_found(tmp_path: Path) -> None:
    """Replica 0 of llama has a clique 0-router, and llama-0 has a router: both would be llama-0-0-router."""
    text = (ROOT / GOOD).read_text(encoding="utf-8")
    first, second = tmp_path / "a.yaml", tmp_path / "name with spaces.yaml"
    first.write_text(text.replace("name: router", "name: 0-router"), encoding="utf-8")
    second.write_text(text.replace("name: llama", "name: llama-0"), encoding="utf-8")
    assert all(hook["require_serial"] for hook in HOOKS.values())
    assert [hook("grove-validate", tmp_path, str(path)).returncode for path in (first, second)] == [0, 0]
    assert hook("grove-validate", tmp_path, str(first), str(second)).stdout.count(": refused") == 2


def test_the_hooks_are_what_pre_commit_takes() -> None:
    assert list(HOOKS) == ["grove-validate", "grove-plan"]
    programs = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]
    for found in HOOKS.values():
        assert {"id", "name", "entry", "language"} <= found.keys()
        assert found["language"] == "python"
        assert "exec grove " in found["entry"]
        assert "grove" in programs
        wanted = [name for name in ("a/b.yaml", "b.yml", "b.json") if re.search(found["files"], name)]
        assert wanted == ["a/b.yaml", "b.yml"]


def test_both_pick_their_files_in_the_same_way() -> None:
    scripts = {shlex.split(found["entry"])[2] for found in HOOKS.values()}
    assert len(scripts) == 1
