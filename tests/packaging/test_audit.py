"""RL-012: the audit passes only if the service was asked about everything, and knows nothing."""

import json
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from release.audit import KNOWN_VULNERABLE, LOCKED, main

FLAW: Final = {"id": "CVE-1", "fix_versions": ["9"]}


def names_in(text: str) -> list[str]:
    return [line.partition("==")[0] for line in text.splitlines() if "==" in line]


def audited(tmp_path: Path, answers: dict[str, Any], error: str = "") -> int:
    """Run the audit with a program in the place of pip-audit: name -> its entry in the report."""
    program = tmp_path / "auditor.py"
    program.write_text(
        "import json, sys\n"
        f"answers, error = json.loads({json.dumps(json.dumps(answers))}), {error!r}\n"
        "if error: sys.exit(error)\n"
        "lines = open(sys.argv[-1]).read().splitlines()\n"
        "names = [line.partition('==')[0] for line in lines if '==' in line]\n"
        f"probe = any({KNOWN_VULNERABLE!r} in line for line in lines)\n"
        "found = [answers['probe']] if probe else [answers[name] for name in names if name in answers]\n"
        "print(json.dumps({'dependencies': found}))\n",
        encoding="utf-8",
    )
    return main(["--auditor", f"{sys.executable} {program}"])


def all_sound() -> dict[str, Any]:
    names = names_in(LOCKED.read_text(encoding="utf-8"))
    sound = {name: {"name": name, "version": "1", "vulns": []} for name in names}
    return {**sound, "probe": {"name": "jinja2", "version": "3.1.2", "vulns": [FLAW]}}


class TestRL012:
    """`nox -s audit` MUST fail unless a vulnerability service was asked about every distribution in the single file,
    reports a version that is known to be vulnerable, and knows no vulnerability of these distributions.
    """

    def test_nothing_is_known(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert audited(tmp_path, all_sound()) == 0
        assert capsys.readouterr().out.startswith("0 known vulnerabilities in ")

    def test_something_is_known(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        answers = all_sound()
        answers["aiohttp"]["vulns"] = [FLAW]
        assert audited(tmp_path, answers) == 1
        assert capsys.readouterr().out.startswith("aiohttp 1: CVE-1, repaired in 9\n")

    def test_the_service_cannot_be_reached(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert audited(tmp_path, {}, error="ConnectionError: no such host") == 69
        assert capsys.readouterr().err == (
            "NOT AUDITED: the vulnerability service osv cannot be asked: ConnectionError: no such host\n"
        )

    def test_a_service_that_knows_nothing(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        answers = all_sound()
        answers["probe"]["vulns"] = []
        assert audited(tmp_path, answers) == 69
        assert "NOT AUDITED" in capsys.readouterr().err

    def test_a_distribution_that_was_skipped(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        answers = all_sound()
        answers["aiohttp"] = {"name": "aiohttp", "skip_reason": "not found"}
        assert audited(tmp_path, answers) == 69
        assert "aiohttp" in capsys.readouterr().err
