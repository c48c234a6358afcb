"""Reasons as golden files write them: the code, the rule and the facts, without the words of the sentence.

A sentence is pinned once, in ``tests/golden/reasons/``. Everywhere else a golden file writes
``NeverAvailable GT-012 (needed=2, ready=0)``, so that another wording of a sentence changes no golden file.
"""

from typing import Any, Final

import pytest

from grove_core.kernel.reasons import Reason

_REFERENCE: Final = frozenset({"apiVersion", "kind", "namespace", "name"})
_LEFT_OUT: Final = frozenset({"within", "share", "terminations", "coreVersion"})  # the rest shows the first three
_REASON: Final = frozenset({"rule", "requirement", "subject", "facts", "sentence"})


def notation_of(reason: Reason) -> str:
    """Return the code, the rule and the facts of a reason, on one line."""
    facts = ", ".join(f"{name}={value}" for name, value in reason.facts)
    return f"{reason.rule.code} {reason.rule.requirement}{f' ({facts})' if facts else ''}"


def write_reasons_in_notation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every reason give its notation where it would give its sentence, until the test is over.

    Conditions of ``given.yaml`` that this release wrote have a notation as their message, too: so a status that is
    up to date stays up to date when a sentence is worded otherwise.
    """
    monkeypatch.setattr(Reason, "sentence", property(notation_of))


def with_later_rounds_in_short(document: dict[str, Any]) -> dict[str, Any]:
    """Return a plan document in which the rounds after the first have only their times, actions and targets.

    Most cases are about the first round: another reason for a later step, or another hash in it, changes no file.
    """
    return {**document, "plans": [{**plan, "rounds": _in_short(plan["rounds"])} for plan in document["plans"]]}


def _in_short(rounds: list[dict[str, Any]]) -> list[dict[str, Any]]:
    later = [
        {
            "round": round_["round"],
            "at": round_["at"],
            "steps": [
                {"action": step["action"], "target": _without_suffix(step["target"])} for step in round_["steps"]
            ],
        }
        for round_ in rounds[1:]
    ]
    return [*rounds[:1], *later]


def _without_suffix(target: dict[str, Any]) -> dict[str, Any]:
    """Return the reference to a pod without the end of its name, which depends on the template hash."""
    return {**target, "name": f"{target['name'][:-5]}*"} if target["kind"] == "Pod" else target


def abridged(part: Any, about: Any = None, *, manifests: bool = True) -> Any:
    """Return a part of a plan document as golden files have it: references and reasons abridged, all else as it is.

    A reference is ``apiVersion kind namespace/name[replica]``. A reason is its code and its rule with the facts below
    it, and ``of`` with its subject where that is not what the step or the decision is about. Sentences are left out,
    and so are the version and what the name of a subject or a verdict shows.

    Args:
        about: the reference of the step, the decision or the withheld object that the part belongs to.
        manifests: whether the manifests of created objects are part of it. Where they are not the subject, another
            label or field of them changes no file.
    """
    if isinstance(part, list):
        return [abridged(one, about, manifests=manifests) for one in part]
    if not isinstance(part, dict):
        return part
    if part.keys() - {"replica"} == _REFERENCE:
        return _reference(part)
    if part.keys() >= _REASON:
        reason = f"{part['rule']} {part['requirement']}"
        other = {} if part["subject"] == about else {"of": _reference(part["subject"])}
        return {reason: part["facts"], **other} if part["facts"] or other else reason
    about = part.get("target", part.get("subject", about))
    left_out = _LEFT_OUT if manifests or part.get("action") != "create" else _LEFT_OUT | {"object"}
    return {key: abridged(value, about, manifests=manifests) for key, value in part.items() if key not in left_out}


def _reference(ref: dict[str, Any]) -> str:
    replica = f"[{ref['replica']}]" if "replica" in ref else ""
    return f"{ref['apiVersion']} {ref['kind']} {ref['namespace']}/{ref['name']}{replica}"
