"""Reasons as golden files write them: the code, the rule and the facts, without the words of the sentence.

A sentence is pinned once, in ``tests/golden/reasons/``. Everywhere else a golden file writes
``NeverAvailable GT-012 (needed=2, ready=0)``, so that another wording of a sentence changes no golden file.
"""

from typing import Any, Final

import pytest

from grove_core.kernel.reasons import Reason

SENTENCE: Final = "sentence"


def notation_of(reason: Reason) -> str:
    """Return the code, the rule and the facts of a reason, on one line."""
    facts = ", ".join(f"{name}={value}" for name, value in reason.facts)
    return f"{reason.rule.code} {reason.rule.requirement}{f' ({facts})' if facts else ''}"


def write_reasons_in_notation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every reason give its notation where it would give its sentence, until the test is over.

    Conditions of ``given.yaml`` that this release wrote have a notation as their message, too: so a status that is
    up to date stays up to date when a sentence is worded otherwise.
    """
    monkeypatch.setattr(Reason, SENTENCE, property(notation_of))


def without_sentences(document: Any) -> Any:
    """Return a document without the sentences of its reasons; each has its rule and its facts beside it."""
    if isinstance(document, dict):
        return {key: without_sentences(value) for key, value in document.items() if key != SENTENCE}
    return [without_sentences(one) for one in document] if isinstance(document, list) else document
