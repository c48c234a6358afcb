"""Files an operator reads and wrote: configurations, saved plans, recorded attempts, decision logs."""

import io
import json
import random
import re
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from functools import cache, partial
from pathlib import Path
from typing import Final
from unittest.mock import patch

from grove_core.snapshot.cluster import EVERYWHERE
from grove_shell.actions import apply as applying
from grove_shell.actions.command_input import LiveClusterOptions
from grove_shell.actions.configuration_files import read_one_configuration
from grove_shell.reading.input_completeness import CollectedObjects
from grove_shell.replay.decision_log_format import line_with_chain_digest
from grove_shell.settings.webhook_settings import parse_webhook_settings
from grove_shell.styled_text_page import print_error
from grove_shell.views.formatting import NOTHING_STARTED, input_problems_page
from tests.fuzz import mutations
from tests.fuzz.commands import NOW, Broken, Said, kept, problems_of
from tests.fuzz.fuzz_target import FuzzTarget
from tests.fuzz.seeds import ROOT, attempts, clusters, configurations, plans
from tests.replay.recorded_logs import played

_CLUSTER: Final = str(ROOT / "tests/golden/gang_termination/gt033_delay_expired_terminates_whole_replica/given.yaml")
"""Small, and something happens in it."""
_MANIFEST: Final = str(ROOT / "examples/manifests/disaggregated.yaml")
_FILE: Final = "FILE"
_LOGGED: Final = (
    "tests/golden/simulation/node_loss/scenario.yaml",
    "tests/golden/simulation/flapping_pod/scenario.yaml",
    "tests/golden/simulation/domains_grow_and_shrink/scenario.yaml",
    "tests/golden/simulation/two_clouds/scenario.yaml",
)
_LONGEST_LOG: Final = 60_000

CONFIGURED: Final[dict[str, tuple[str, ...]]] = {
    "plan": ("plan", "-f", _CLUSTER, "--now", NOW, "--config", _FILE),
    "plan, json": ("plan", "-f", _CLUSTER, "--now", NOW, "--config", _FILE, "--keep-going", "-o", "json"),
    "validate": ("validate", "-f", _MANIFEST, "--config", _FILE),
    "preflight": ("validate", "--preflight", "-f", _CLUSTER, "--config", _FILE),
    "manifests": ("manifests", "--config", _FILE),
    "manifests, json": ("manifests", "--config", _FILE, "-n", "ml", "-o", "json"),
    "topology list": ("topology", "list", "-f", _CLUSTER, "--config", _FILE),
}
REPLAYED: Final[dict[str, tuple[str, ...]]] = {
    "replay": ("replay", _FILE),
    "replay, field": ("replay", _FILE, "--rules", "field", "-v"),
    "replay, json": ("replay", _FILE, "--rules", "field", "-o", "json", "--detailed-exitcode"),
}
_UID: Final = re.compile(rb'"uid": ?"([^"]+)"')
_ATTEMPTS: Final = ("plan", "-f", _CLUSTER, "--now", NOW, "--attempts", _FILE)
_CHAIN: Final = b'"chain":"'
_HERE: Final = "apply, the same cluster"


@contextmanager
def configuration_files(folder: Path) -> Iterator[FuzzTarget]:
    """Configurations of operator and webhooks, as YAML or as JSON, by the name of the file."""

    def feed(way: str, data: bytes) -> str:
        path = folder / ("told.json" if data[:1] == b"{" else "told.yaml")
        path.write_bytes(data)
        return _webhook_flags(str(path)) if way == "webhooks" else kept(*_with(path, CONFIGURED[way]))

    yield FuzzTarget((*CONFIGURED, "webhooks"), _configuration, feed)


@contextmanager
def saved_plans(folder: Path) -> Iterator[FuzzTarget]:
    """Plans as ``grove apply`` reads them, by what no cluster or the one they are of can be asked; and attempts."""
    path = folder / "plan.json"
    nowhere = ("apply", str(path), "--kubeconfig", str(folder / "none"))

    def feed(way: str, data: bytes) -> str:
        path.write_bytes(data)
        if way == "attempts":
            return kept(*_with(path, _ATTEMPTS))
        if way == "apply":
            return kept(*nowhere)
        with patch.object(applying, "list_objects_of_all_kinds", partial(_collected, data)):
            return kept(*nowhere, "--dry-run")

    def make(chance: random.Random, way: str) -> bytes:
        return mutations.made(attempts() if way == "attempts" else plans(), chance, mutations.as_json)

    yield FuzzTarget(("apply", _HERE, _HERE, "attempts"), make, feed)


@contextmanager
def decision_logs(folder: Path) -> Iterator[FuzzTarget]:
    """Decision logs; lines without a chain get one that holds, or the reader would stop there."""
    path = folder / "log.jsonl"

    def feed(way: str, data: bytes) -> str:
        path.write_bytes(data if _CHAIN in data else _sealed(data.decode("utf-8", "replace").split("\n")))
        return kept(*_with(path, REPLAYED[way]))

    yield FuzzTarget(tuple(REPLAYED), _log, feed)


@cache
def logs() -> tuple[tuple[str, ...], ...]:
    """The lines of logs without their chains, as far as they are short."""
    found = []
    for scenario in _LOGGED:
        lines: list[str] = []
        for line in played(scenario).out.getvalue().splitlines():
            words = json.loads(line)
            del words["chain"]
            lines.append(json.dumps(words))
            if sum(map(len, lines)) > _LONGEST_LOG:
                break
        found.append(tuple(lines))
    return tuple(found)


def _log(chance: random.Random, _way: str) -> bytes:
    lines = list(chance.choice(logs()))
    if chance.random() < 0.1:
        return mutations.damaged([_sealed(lines)], chance)  # a chain that does not hold
    match chance.randrange(5):
        case 0:
            del lines[chance.randrange(1, len(lines)) :]
        case 1:
            del lines[chance.randrange(len(lines))]
        case 2:
            lines.insert(chance.randrange(len(lines)), chance.choice(lines))
        case _:
            pass
    written = [line.encode() for line in lines]
    for at in chance.sample(range(len(lines)), min(chance.choice((1, 1, 2, 4)), len(lines))):
        written[at] = mutations.as_json(mutations.wounded([lines[at]], chance))
    text = b"\n".join(written)
    return text if len(text) <= mutations.LONGEST else b"\n".join(written[:1])


def _sealed(lines: list[str]) -> bytes:
    """The lines with a chain that holds: of these texts, whatever is in them."""
    chain, text = "", ""
    for words in lines:
        with_chain, chain = _line(words, chain)
        text += with_chain
    return text.encode()


def _line(words: str, before: str) -> tuple[str, str]:
    with patch("grove_shell.replay.decision_log_format.canonical_json", lambda _: words):
        return line_with_chain_digest({}, before)


def _configuration(chance: random.Random, _way: str) -> bytes:
    return mutations.made(configurations(), chance, chance.choice((mutations.as_json, mutations.as_yaml)))


def _with(path: Path, words: tuple[str, ...]) -> list[str]:
    return [str(path) if word == _FILE else word for word in words]


def _webhook_flags(path: str) -> str:
    """As ``grove webhooks`` begins; the rest serves until it is stopped."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        settings, faults = read_one_configuration(path, parse_webhook_settings)
        if faults:
            print_error(input_problems_page(faults, NOTHING_STARTED))
    for problem in problems_of(Said(int(bool(faults)), out.getvalue(), err.getvalue()), structured=False):
        raise Broken(problem)
    return "refused" if faults else f"done, {settings.certificates.mode}"


def _collected(data: bytes, _live: LiveClusterOptions) -> CollectedObjects:
    """The cluster that a plan is of, as if it were listed."""
    uids = {uid.decode() for uid in _UID.findall(data)}
    of = next((text for text in clusters() if any(f'"uid": "{uid}"' in text for uid in uids)), '{"items": []}')
    items = [item for item in json.loads(of)["items"] if item.get("metadata", {}).get("uid")]
    kinds = {"PodCliqueSet", *(str(item["kind"]) for item in items)}
    return CollectedObjects(
        origin="http://127.0.0.1", items=tuple(items), complete=frozenset((kind, EVERYWHERE) for kind in kinds)
    )
