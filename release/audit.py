"""Looks for known vulnerabilities of the distributions that the single file holds (RL-012): ``nox -s audit``.

pip-audit passes over what a service does not know, and exits with 0. So a version with a published vulnerability is
asked about first: a service that does not report it was not reached, or does not answer such questions.
"""

import argparse
import json
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

LOCKED: Final = Path(__file__).with_name("locked.txt")
KNOWN_VULNERABLE: Final = "jinja2==3.1.2"
"""It has published vulnerabilities, among them CVE-2024-22195."""

VULNERABLE: Final = 1
NOT_ASKED: Final = 69
_OPTIONS: Final = ("--no-deps", "--disable-pip", "--strict", "--format", "json", "--progress-spinner", "off")


class NotAudited(Exception):
    """The vulnerability service gave no answer that counts."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Ask, and print what is known.

    Returns:
        0 if nothing is known of any distribution, 1 if something is, 69 if the service was not asked.
    """
    parser = argparse.ArgumentParser(prog="release.audit", description=__doc__)
    parser.add_argument("--auditor", default=f"{shlex.quote(sys.executable)} -m pip_audit", help="command of pip-audit")
    parser.add_argument("--service", choices=("osv", "pypi"), default="osv", help="vulnerability service")
    chosen = parser.parse_args(arguments)
    auditor = [*shlex.split(chosen.auditor), "--vulnerability-service", chosen.service, *_OPTIONS]
    try:
        with tempfile.TemporaryDirectory() as folder:
            probe = Path(folder) / "probe.txt"
            probe.write_text(f"{KNOWN_VULNERABLE}\n", encoding="utf-8")
            _require_vulnerabilities(_report(auditor, probe))
        report = _report(auditor, LOCKED)
        _require_all(report)
    except NotAudited as why:
        print(f"NOT AUDITED: the vulnerability service {chosen.service} cannot be asked: {why}", file=sys.stderr)  # noqa: T201 - the result
        return NOT_ASKED
    found = list(_vulnerabilities(report))
    for line in found:
        print(line)  # noqa: T201 - the result
    print(f"{len(found)} known vulnerabilities in {len(report)} distributions ({chosen.service})")  # noqa: T201 - the result
    return VULNERABLE if found else 0


def _report(auditor: Sequence[str], requirements: Path) -> list[dict[str, Any]]:
    """Return what pip-audit reports of each distribution. Raises NotAudited."""
    done = subprocess.run([*auditor, "--requirement", str(requirements)], capture_output=True, text=True, check=False)  # noqa: S603 - pip-audit, or what the user names
    try:
        return list(json.loads(done.stdout)["dependencies"])
    except (ValueError, KeyError, TypeError):
        last = (done.stderr.strip() or f"it exits with {done.returncode}").splitlines()[-1]
        raise NotAudited(last) from None


def _require_vulnerabilities(report: list[dict[str, Any]]) -> None:
    """Raise NotAudited unless vulnerabilities are reported."""
    if not list(_vulnerabilities(report)):
        raise NotAudited(f"it reports nothing about {KNOWN_VULNERABLE}, which has published vulnerabilities")


def _require_all(report: list[dict[str, Any]]) -> None:
    """Raise NotAudited unless every locked distribution was asked about."""
    lines = LOCKED.read_text(encoding="utf-8").splitlines()
    locked = {line.partition("==")[0] for line in lines if "==" in line}
    asked = {str(one["name"]).replace("_", "-").lower() for one in report if "vulns" in one}
    if missing := sorted(locked - asked):
        raise NotAudited(f"it reports nothing about {', '.join(missing)}")


def _vulnerabilities(report: list[dict[str, Any]]) -> Iterator[str]:
    for one in report:
        for flaw in one.get("vulns", ()):
            fixed = ", ".join(flaw.get("fix_versions", ())) or "no version"
            yield f"{one['name']} {one['version']}: {flaw['id']}, repaired in {fixed}"


if __name__ == "__main__":
    sys.exit(main())
