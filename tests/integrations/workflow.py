"""Runs the scripts of integrations/github/grove-plan.yaml as GitHub's runners do: one after the other, with bash."""

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import yaml

ROOT: Final = Path(__file__).parent.parent.parent
WORKFLOW: Final = ROOT / "integrations/github/grove-plan.yaml"
STAND_IN: Final = Path(__file__).with_name("gh")
_BASH: Final = ("bash", "--noprofile", "--norc", "-eo", "pipefail")  # what `shell: bash` means
_EXPRESSION: Final = re.compile(r"\$\{\{ *(.*?) *\}\}")
_NO_OWNER: Final = {
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.com",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.com",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
}

Json = dict[str, Any]


def read_workflow() -> Json:
    found: Json = yaml.load(WORKFLOW.read_text(encoding="utf-8"), yaml.BaseLoader)  # noqa: S506 - `on` stays a word
    return found


def steps_by_name() -> dict[str, Json]:
    (job,) = read_workflow()["jobs"].values()
    return {step["name"]: step for step in job["steps"] if "name" in step}


@dataclass
class PullRequest:
    """A repository with one pull request, and the machine that looks at it.

    Attributes:
        home: an empty folder; the checkout is made in it.
        environment: what replaces the words under the workflow's ``env:``.
        contexts: expression -> what GitHub would put there.
    """

    home: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    contexts: dict[str, str] = field(default_factory=lambda: {"github.repository": "o/r", "github.token": "t"})

    @property
    def comment(self) -> str:
        return (self.home / "temp/comment.md").read_text(encoding="utf-8")

    @property
    def posted(self) -> dict[str, str]:
        """The comments that stand on the pull request, by number."""
        return {path.name: path.read_text(encoding="utf-8") for path in (self.home / "comments").iterdir()}

    @property
    def requests(self) -> list[str]:
        return (self.home / "comments.log").read_text(encoding="utf-8").splitlines()

    def open(self, before: Mapping[str, str], changed: Mapping[str, str]) -> None:
        """Commit some files, and a change of them as it would be merged."""
        for name in ("checkout", "temp", "bin", "comments"):
            (self.home / name).mkdir()
        (self.home / "bin/gh").symlink_to(STAND_IN)
        grove = self.home / "bin/grove"
        grove.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m grove_shell "$@"\n', encoding="utf-8")
        grove.chmod(0o755)
        self._git("init", "--quiet")
        self.push(before)
        self.push(changed)

    def push(self, files: Mapping[str, str]) -> None:
        for name, text in files.items():
            path = self.home / "checkout" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        self._git("add", "--all")
        self._git("commit", "--quiet", "--allow-empty", "--message", "x")

    def run(self, name: str) -> subprocess.CompletedProcess[str]:
        """Run one step; what it hands on is known to the next ones."""
        step, outputs = steps_by_name()[name], self.home / "temp/outputs"
        outputs.touch()
        env = self._environment() | {key: self._filled(text) for key, text in step.get("env", {}).items()}
        env |= {"GITHUB_OUTPUT": str(outputs), "GITHUB_STEP_SUMMARY": str(self.home / "temp/summary.md")}
        script = self.home / "temp/script.sh"
        script.write_text(step["run"], encoding="utf-8")
        done = self._run(*_BASH, str(script), env=env)
        if "id" in step:
            for line in outputs.read_text(encoding="utf-8").splitlines():
                key, _, value = line.partition("=")
                self.contexts[f"steps.{step['id']}.outputs.{key}"] = value
        return done

    def ask(self) -> int:
        """Run the step that asks, and the one that judges; returns how the job ends."""
        asked = self.run("Ask")
        assert (asked.returncode, asked.stderr) == (0, "")
        return self.run("Judge").returncode

    def tell(self) -> None:
        reported = self.run("Tell")
        assert (reported.returncode, reported.stderr) == (0, "")

    def _environment(self) -> dict[str, str]:
        inherited = {key: value for key, value in os.environ.items() if not key.startswith(("GIT_", "GITHUB_"))}
        path = f"{self.home / 'bin'}{os.pathsep}{os.environ['PATH']}"
        ours = {"PATH": path, "RUNNER_TEMP": str(self.home / "temp"), "COMMENTS": str(self.home / "comments")}
        return {**inherited, **_NO_OWNER, **read_workflow()["env"], **self.environment, **ours}

    def _filled(self, text: str) -> str:
        return _EXPRESSION.sub(lambda match: self.contexts[match[1]], text)

    def _git(self, *words: str) -> None:
        self._run("git", *words, env=os.environ | _NO_OWNER).check_returncode()

    def _run(self, *words: str, env: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            words, capture_output=True, text=True, cwd=self.home / "checkout", env=env, check=False, timeout=120
        )
