"""Policies: read, tested by their examples, and evaluated on a plan."""

import json
import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from grove_shell.policies.ready_policies import ready_policy_names, ready_policy_path
from tests.fuzz import mutations
from tests.fuzz.commands import NOW, kept
from tests.fuzz.fuzz_target import FuzzTarget
from tests.fuzz.seeds import ROOT, objects_in

_FILE: Final = "FILE"
_CLUSTER: Final = str(ROOT / "tests/golden/gang_termination/gt033_delay_expired_terminates_whole_replica/given.yaml")
"""Small, and something happens in it."""
CHECKED: Final[dict[str, tuple[str, ...]]] = {
    "test": ("policy", "test", _FILE),
    "test, json": ("policy", "test", _FILE, "-o", "json"),
    "plan": ("plan", "-f", _CLUSTER, "--now", NOW, "--policy", _FILE),
    "plan, json": ("plan", "-f", _CLUSTER, "--now", NOW, "--policy", _FILE, "--keep-going", "-o", "json"),
}
_EXPRESSIONS: Final = (
    *("set.rounds.all(r, r.steps.all(s, s.action != 'delete'))", "set", "set.spec.?template", "now - now", "1 / 0"),
    *("[set].map(s, s.spec)", "b'x'", "type(set)", "1u", "{set.name: 1}[set.name] > 0", "optional.of(1)", "[].max()"),
    *(
        "'a'.matches('(')",
        "duration('9' + string(1))",
        "math.greatest([1, 2.0])",
        "size(set.name) < 18446744073709551615u",
    ),
    *("'%s'.format([set])", "timestamp('9999-12-31T23:59:59Z') + duration('1h') > now", "set.namespace in [1, 'x']"),
)


@contextmanager
def policy_files(folder: Path) -> Iterator[FuzzTarget]:
    """Ready policies with other expressions in them, and damaged ones."""
    seeds = [raw for name in ready_policy_names() for raw in objects_in(ready_policy_path(name))]
    texts = tuple(json.dumps(raw) for raw in seeds)

    def make(chance: random.Random, _way: str) -> bytes:
        if chance.random() < 0.5:
            return mutations.made(texts, chance, chance.choice((mutations.as_json, mutations.as_yaml)))
        return json.dumps(_with_other_expressions(json.loads(chance.choice(texts)), chance)).encode()

    def feed(way: str, data: bytes) -> str:
        path = folder / ("fed.json" if data[:1] == b"{" else "fed.yaml")
        path.write_bytes(data)
        return kept(*(str(path) if word == _FILE else word for word in CHECKED[way]))

    yield FuzzTarget(tuple(CHECKED), make, feed)


def _with_other_expressions(policy: Any, chance: random.Random) -> Any:
    """The policy with an expression of its own kind changed by a few characters, or with another one."""
    spec = policy["spec"]
    places = [(one, key) for part in spec.values() if isinstance(part, list) for one in part for key in one]
    for one, key in chance.sample(places, k=min(2, len(places))):
        if key.lower().endswith("expression"):
            text, other = one[key], chance.choice(_EXPRESSIONS)
            at = chance.randrange(len(text) + 1)
            cut = text[:at] + chance.choice(
                ("", "(", ")", "'", '"', ".", "?", "!", "\n", "\\", "\u00e9", "\x00", other)
            )
            one[key] = chance.choice((other, f"({text}) == ({other})", cut + text[at + chance.randrange(3) :]))
    return policy
