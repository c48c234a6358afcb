"""The lines of a decision log (RP-001 to RP-006).

Each line is one JSON object whose last field, ``chain``, is the digest of the line and of the chain before it, so that
a line that was changed, lost or put elsewhere shows at its place. There are four kinds:

- ``decisionLog``: the head, which a process writes when it begins; the chain begins anew there.
- ``fact``: an object, or a list of objects, as it was seen; written once, by the digest of what it says.
- ``look``: what one set saw, as references to facts, and the plan that came of it.
- ``answers``: what became of the steps of a plan.
"""

import hashlib
import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from grove_core.document.document import Document
from grove_core.document.writing import document_as_json, finding_as_json
from grove_core.plan.forecast import forecast_of
from grove_core.plan.plan import Plan

FORMAT: Final = "1.0"
_CHAIN: Final = "chain"
_TAIL: Final = f',"{_CHAIN}":"'
_DIGITS: Final = 16


def dumped(value: Any) -> str:  # noqa: ANN401 - any JSON
    """One spelling for one value."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def digest(text: str) -> str:
    """Sixteen digits that stand for a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]


def line_of(words: Mapping[str, Any], before: str) -> tuple[str, str]:
    """A line with its end, and the chain after it."""
    text = dumped(words)[:-1]
    chain = digest(before + text)
    return f'{text}{_TAIL}{chain}"}}\n', chain


def unchained(line: str, before: str) -> tuple[str, str] | None:
    """What a line said without its chain, and the chain; None where it is not what was written after ``before``."""
    text, tail, rest = line.rpartition(_TAIL)
    chain = rest.removesuffix('"}')
    if not tail or len(rest) != _DIGITS + len('"}') or digest(before + text) != chain:
        return None
    return text + "}", chain


def plan_as_json(plan: Plan, at: datetime) -> dict[str, Any]:
    """A plan as saved plans have it: its only round; its verdicts as a digest of all of them."""
    document = Document(rules=plan.rules, as_of=at, not_collected=(), forecasts=(forecast_of(plan, at),))
    (told,) = document_as_json(document, decisions=False)["plans"]
    verdicts = digest(dumped([finding_as_json(finding) for finding in plan.findings]))
    return {**told["rounds"][0], "verdicts": verdicts}
