"""``grove validate``: the webhook's verdict offline, on every PodCliqueSet in the input, all problems at once."""

import sys
from collections.abc import Iterable, Mapping
from typing import Any

from grove_core.admit import admit
from grove_core.document import reason_as_json
from grove_core.kernel.admission import AdmissionVerdict, Deny
from grove_core.kernel.decisions import Decision
from grove_shell.exits import DONE, ERROR
from grove_shell.reading.faults import Fault
from grove_shell.reading.sources import Item, items_of
from grove_shell.views.faults import faults_page
from grove_shell.views.page import Page, show, write
from grove_shell.views.structured import as_text
from grove_shell.views.words import plural

Judged = tuple[Item, Decision[AdmissionVerdict]]


def validate(filenames: tuple[str, ...], old: tuple[str, ...], output: str) -> int:
    """Judge and print; returns the exit code (CL-001)."""
    faults: list[Fault] = []
    before = {_name(item.value): item.value for item in _sets(old, faults)}
    judged = [(item, admit(item.value, before.get(_name(item.value)))) for item in _sets(filenames, faults)]
    if faults:
        show(faults_page(sorted(faults, key=lambda fault: fault.sort_key), going_on=True), sys.stderr)
    if output == "human":
        show(_page(judged))
    else:
        write(as_text({"verdicts": [_as_json(item, decision) for item, decision in judged]}, output))
    refused = any(isinstance(decision.verdict, Deny) for _, decision in judged)
    return ERROR if faults or refused else DONE


def _sets(paths: Iterable[str], faults: list[Fault]) -> Iterable[Item]:
    for path in paths:
        for item in items_of(path, faults, sys.stdin.buffer):
            if item.value.get("kind") == "PodCliqueSet":
                yield item


def _name(raw: Mapping[str, Any]) -> str:
    meta = raw.get("metadata")
    fields: Mapping[str, Any] = meta if isinstance(meta, Mapping) else {}
    return f"{fields.get('namespace') or 'default'}/{fields.get('name') or ''}"


def _page(judged: list[Judged]) -> Page:
    page = Page()
    if not judged:
        page.add(("no PodCliqueSet in the input", "bold"))
    for item, decision in judged:
        name, verdict = f"{item.file}: PodCliqueSet {_name(item.value)}: ", decision.verdict
        if not isinstance(verdict, Deny):
            page.add(name, ("admitted", "bold green"))
            continue
        page.add(name, ("refused", "bold red"), f", {plural(len(verdict.objections), 'problem')}")
        for objection in verdict.objections:
            rule = objection.reason.rule
            page.add("  ", str(objection), (f"  {rule.code} {rule.requirement}", "dim"))
    return page


def _as_json(item: Item, decision: Decision[AdmissionVerdict]) -> dict[str, Any]:
    objections = decision.verdict.objections if isinstance(decision.verdict, Deny) else ()
    return {
        "file": item.file,
        "document": item.document,
        "object": f"PodCliqueSet {_name(item.value)}",
        "verdict": type(decision.verdict).__name__,
        "objections": [
            {"path": objection.path, "got": objection.got, **reason_as_json(objection.reason)}
            for objection in objections
        ],
    }
