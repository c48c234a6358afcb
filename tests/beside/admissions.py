"""``python -m tests.beside.admissions``: the Go operator's admission and ours, manifest by manifest.

Each manifest is created with ``dryRun=All``, so that the API server checks it against the definitions and asks that
operator's webhooks; ``grove validate --rules field`` judges the same manifest. The same is done with each manifest as
an update of a stored set. Printed are the numbers of equal verdicts, and each manifest with different ones.
"""

import argparse
import contextlib
import io
import json
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Final

from grove_shell.cli.main import run_command_line
from tests.beside.admitted_manifests import manifests, valid_set
from tests.beside.audit import RULES
from tests.beside.go_operator import TOKENS, GoOperator, install_definitions, missing
from tests.cluster import binaries
from tests.cluster.api import Api, ApiError, Json
from tests.cluster.plane import ControlPlane

_CONFIGURATION: Final = {
    "apiVersion": "operator.config.grove.io/v1alpha1",
    "kind": "OperatorConfiguration",
    "logLevel": "info",
}


def theirs(api: Api, raw: Json, stored: Json | None) -> str:
    """Why the server and that operator refuse a new set, or an update of a stored one; empty if they admit it."""
    path = "/apis/grove.io/v1alpha1/namespaces/default/podcliquesets"
    try:
        if stored is None:
            api.request("POST", f"{path}?dryRun=All", raw)
        else:
            api.request("PUT", f"{path}/{stored['metadata']['name']}?dryRun=All", raw)
    except ApiError as fault:
        return str(fault)
    return ""


def ours(folder: Path, raw: Json, stored: Json | None) -> str:
    """Why ``grove validate`` refuses it; empty if it admits it."""
    words = ["validate", "--rules", "field", "--config", str(folder / "config.yaml"), "-f", str(folder / "set.yaml")]
    (folder / "config.yaml").write_text(json.dumps(_CONFIGURATION), encoding="utf-8")
    (folder / "set.yaml").write_text(json.dumps(raw), encoding="utf-8")
    if stored is not None:
        (folder / "old.yaml").write_text(json.dumps(stored), encoding="utf-8")
        words += ["--old", str(folder / "old.yaml")]
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        code = run_command_line(words, "grove")
    return out.getvalue() if code else ""


def compared(api: Api, folder: Path, seed: int, stored: Json | None) -> Counter[str]:
    """Judge every manifest by both, print each one with different verdicts, and return the numbers of all."""
    found = Counter[str]()
    for what, raw in manifests(seed, stored):
        his, mine = theirs(api, raw, stored), ours(folder, raw, stored)
        verdict = {(True, True): "both refuse", (False, False): "both admit", (True, False): "only they refuse"}
        said = verdict.get((bool(his), bool(mine)), "only we refuse")
        found[said] += 1
        if bool(his) != bool(mine):
            sys.stdout.write(f"{said}: {what}\n{his or mine}\n")
    return found


def main(seed: int) -> int:
    """Compare new sets, then updates, and print the numbers."""
    if why := missing():
        sys.stderr.write(f"{why}\n")
        return 1
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        plane = ControlPlane(binaries.find(), folder=folder, audit_rules=RULES, more_controllers=[TOKENS])
        with plane:
            api = plane.api()
            install_definitions(api)
            GoOperator(plane).install()
            found = {"new": compared(api, folder, seed, None)}
            stored = api.create(valid_set())
            found["update"] = compared(api, folder, seed, stored)
    for kind, counts in found.items():
        sys.stdout.write(f"{kind}: {', '.join(f'{count} {said}' for said, count in sorted(counts.items()))}\n")
    return 0


if __name__ == "__main__":
    _parser = argparse.ArgumentParser(prog="python -m tests.beside.admissions", description=__doc__)
    _parser.add_argument("--seed", type=int, default=1, help="of the pairs of changes")
    sys.exit(main(_parser.parse_args().seed))
