"""CrossHair confirms the contracts on all paths; skipped without it (``pip install -e '.[proofs]'``)."""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("crosshair", reason="crosshair-tool is not installed (the extra `proofs`)")

ROOT = Path(__file__).parents[2]
CONTRACTS = ROOT / "tests" / "proofs" / "contracts.py"


@pytest.mark.req("GT-011")
@pytest.mark.req("GT-012")
@pytest.mark.req("GT-013")
@pytest.mark.req("GT-015")
@pytest.mark.req("GT-016")
@pytest.mark.req("GT-052")
def test_gt050_crosshair_confirms_the_contracts_and_refutes_the_wrong_one() -> None:
    command = ["-m", "crosshair", "check", "--report_all", "--per_condition_timeout", "120", str(CONTRACTS)]
    ran = subprocess.run([sys.executable, *command], cwd=ROOT, capture_output=True, text=True, check=False)
    found = Counter(
        re.findall(r": (info: Confirmed over all paths\.|error: false when calling wrong_claim)", ran.stdout)
    )
    claims = CONTRACTS.read_text(encoding="utf-8").count("    post: ")
    expected = {"info: Confirmed over all paths.": claims - 1, "error: false when calling wrong_claim": 1}
    assert found == expected, ran.stdout + ran.stderr
    assert len(ran.stdout.splitlines()) == claims
