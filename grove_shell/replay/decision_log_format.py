"""The lines of a decision log (RP-001, RP-004, RP-007).

Each line is one JSON object whose last field, ``chain``, is the digest of the line and of the chain before it, so that
a line that was changed, lost or put elsewhere shows at its place; lines that are gone at the end of a log do not. There
are four kinds:

- ``decisionLog``: the head, which a process appends when it starts.
- ``fact``: an object, or a list of objects; written once, with the digest of its content.
- ``look``: the snapshot of one set, as references to facts, and its plan.
- ``answers``: the outcomes of the steps of a plan.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any, Final, NamedTuple, TextIO

from grove_core.document.document_writing import plan_document_as_json
from grove_core.document.plan_document import PlanDocument
from grove_core.document.step_writing import finding_as_json
from grove_core.kernel.reasons import FORMER_CODES
from grove_core.plan.forecast import one_round_forecast
from grove_core.plan.plan import Plan
from grove_core.resources.compute_domain import ComputeDomain
from grove_core.resources.owned_object import OwnedObject
from grove_core.resources.podclique import PodClique
from grove_core.resources.podgang import PodGang
from grove_core.resources.scaling_group import ScalingGroup

FORMAT: Final = "1.0"
OBJECT_LISTS: Final[Mapping[str, type]] = {
    "groups": ScalingGroup,
    "cliques": PodClique,
    "gangs": PodGang,
    "others": OwnedObject,
    "domains": ComputeDomain,
}
"""Fields of a snapshot that are lists of objects."""
SEPARATE_FIELDS: Final = frozenset({"root", *OBJECT_LISTS, "pods_of", "attempts", "now"})
"""Fields of a snapshot with a form of their own; all others are converted by type."""
_CHAIN: Final = "chain"
_TAIL: Final = f',"{_CHAIN}":"'
_DIGITS: Final = 16
_WHOLE: Final = re.compile(rb',"chain":"([0-9a-f]{16})"}$')
"""The end of a complete line."""
_LONGEST_ENDING: Final = len(_TAIL) + _DIGITS + len('"}')
_FORMER_CODES: Final = {code: former for former, code in FORMER_CODES.items()}
HEAD: Final = '{"decisionLog":'
"""The beginning of a head."""


def canonical_json(value: Any) -> str:  # noqa: ANN401 - any JSON
    """Return JSON in a canonical compact form."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def short_text_digest(text: str) -> str:
    """Return a digest of a text, 16 hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]


def line_with_chain_digest(words: Mapping[str, Any], before: str) -> tuple[str, str]:
    """Return a line with its chain and newline, and the chain."""
    text = canonical_json(words)[:-1]
    chain = short_text_digest(before + text)
    return f'{text}{_TAIL}{chain}"}}\n', chain


def line_without_chain_digest(line: str, before: str) -> tuple[str, str] | None:
    """Return a line without its chain, and the chain; None if it does not follow the chain ``before``."""
    text, tail, rest = line.rpartition(_TAIL)
    chain = rest.removesuffix('"}')
    if not tail or len(rest) != _DIGITS + len('"}') or short_text_digest(before + text) != chain:
        return None
    return text + "}", chain


class DecisionLog(NamedTuple):
    """A log that is open for appending.

    Attributes:
        chain: of its last complete line; empty without one.
    """

    out: TextIO
    chain: str = ""


class NotADecisionLog(Exception):
    """The file is no decision log; nothing is appended to it."""


@contextmanager
def open_decision_log_for_append(path: Path) -> Iterator[DecisionLog]:
    """Open a log for appending, or create it. A half-written line of a killed process is ended and stays (RP-007).

    Raises:
        NotADecisionLog, OSError: the file cannot be used.
    """
    chain, cut = _ending_of(path)
    out = path.open("a", encoding="utf-8", newline="\n")
    try:
        if cut:
            out.write("\n")
        yield DecisionLog(out, chain)
    finally:
        with suppress(OSError):  # closing retries a failed write, which was reported (OP-064)
            out.close()


def _ending_of(path: Path) -> tuple[str, bool]:
    """Return the chain of the last complete line, and whether the file ends within a line."""
    if not path.exists() or not path.stat().st_size:
        return "", False
    with path.open("rb") as lines, mmap(lines.fileno(), 0, access=ACCESS_READ) as text:
        if not is_decision_log_start(text[: len(HEAD)]):
            raise NotADecisionLog
        cut = text[-1:] != b"\n"
        end = len(text) if cut else len(text) - 1
        while end > 0:  # killed processes may leave several half-written lines
            begin = text.rfind(b"\n", 0, end) + 1
            if found := _WHOLE.search(text[max(begin, end - _LONGEST_ENDING) : end]):
                return found[1].decode(), cut
            end = begin - 1
    return "", cut


def is_decision_log_start(line: bytes) -> bool:
    """Return whether a first line is a head, or the beginning of one that a killed process wrote (RP-007)."""
    first = line.partition(b"\n")[0][: len(HEAD)]
    return first != b"" and HEAD.encode().startswith(first)


def plan_as_decision_log_json(plan: Plan, at: datetime, *, former_codes: bool = False) -> dict[str, Any]:
    """Return a plan as in saved plans, its only round, with a digest of its verdicts.

    Args:
        former_codes: whether reason codes have the names of earlier releases.
    """
    document = PlanDocument(rules=plan.rules, as_of=at, not_collected=(), forecasts=(one_round_forecast(plan, at),))
    (saved,) = plan_document_as_json(document, decisions=False)["plans"]
    found = [saved["rounds"][0], [finding_as_json(finding) for finding in plan.findings]]
    first, findings = _with_former_codes(found) if former_codes else found
    return {**first, "verdicts": short_text_digest(canonical_json(findings))}


def equals_recorded_plan(recorded: Mapping[str, Any], plan: Plan, at: datetime) -> bool:
    """Return whether a log has this plan, with the reason codes of this release or of earlier ones."""
    written = canonical_json(recorded)
    return any(
        written == canonical_json(plan_as_decision_log_json(plan, at, former_codes=former)) for former in (False, True)
    )


def _with_former_codes(found: Any) -> Any:  # noqa: ANN401 - any JSON
    if isinstance(found, Mapping):
        return {
            key: _FORMER_CODES.get(one, one) if key == "rule" else _with_former_codes(one) for key, one in found.items()
        }
    return [_with_former_codes(one) for one in found] if isinstance(found, list | tuple) else found
