"""What the scopes cover, as recorded in ``covered.json``: numbers of states, and of those in which a rule decides."""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

FILE: Final = Path(__file__).with_name("covered.json")


def covered() -> dict[str, dict[str, Any]]:
    """Return specification -> scope -> ``states``, and of scopes of a plain ``pytest`` also ``rules``."""
    found: dict[str, dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    return found


def record(specification: str, name: str, states: int, rules: Mapping[str, int] | None = None) -> None:
    """Write what one scope covers."""
    found = covered()
    found.setdefault(specification, {})[name] = content(states, rules)
    FILE.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def content(states: int, rules: Mapping[str, int] | None = None) -> dict[str, Any]:
    """Return what is recorded of one scope."""
    return {"states": states} if rules is None else {"states": states, "rules": dict(rules)}


def states_by_rule() -> Mapping[str, int]:
    """Return rule -> number of states of a plain ``pytest`` in which it decides."""
    found: Counter[str] = Counter()
    for scopes in covered().values():
        for scope in scopes.values():
            found.update(scope.get("rules", {}))
    return found
