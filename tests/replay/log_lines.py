"""Lines of logs as they were recorded, and as they might be forged."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest

from grove_core.compare import RuleSetComparison, TerminationChangeKind, TerminationDifference
from grove_core.kernel.refs import Ref
from grove_shell.cli.main import run_command_line
from grove_shell.replay.decision_log_format import line_with_chain_digest
from grove_shell.views.replay_page import RuleSetTerminationDifference
from tests.replay.recorded_logs import SCENARIOS, played

AT: Final = datetime(2026, 11, 20, 9, tzinfo=UTC)
LOG: Final = SCENARIOS[0]


def lines_of(scenario: str) -> list[bytes]:
    return played(scenario).out.getvalue().encode().splitlines(keepends=True)


def words_of(scenario: str) -> list[dict[str, Any]]:
    """What the lines say, without their chain."""
    return [{key: value for key, value in json.loads(line).items() if key != "chain"} for line in lines_of(scenario)]


def written(path: Path, lines: list[bytes]) -> str:
    path.write_bytes(b"".join(lines))
    return str(path)


def chained(*words: Any) -> list[bytes]:
    """Lines as they would have been written, whatever they say."""
    lines, chain = [], ""
    for one in words:
        line, chain = line_with_chain_digest(one, chain)
        lines.append(line.encode())
    return lines


def spoken(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    assert run_command_line(list(words), "grove") == code
    shown = capsys.readouterr()
    return shown.err if code in {1, 64} else shown.out


def parted(number: int, line: int) -> RuleSetTerminationDifference:
    """A round of one of many sets, of which a clique ends by other rules."""
    root = Ref("grove.io/v1alpha1", "PodCliqueSet", "ml", f"s{number}")
    gone = TerminationDifference(
        change=TerminationChangeKind.ENDS, cliques=(root,), before=None, after=None, spared_because=()
    )
    comparison = RuleSetComparison(root=root, differences=(gone,), breaches=(), unknown=())
    return RuleSetTerminationDifference(line, "plan", "field", AT, comparison)
