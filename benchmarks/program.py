"""Rows about the program as a person waits for it (P10, P11, W4); seconds are of the clock, unless said."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.bench import Bench
from benchmarks.data.cast import NOW
from benchmarks.data.lists import Form
from benchmarks.nodes import TOPOLOGIES, gang_of, nodes, text_of
from benchmarks.samples import Row, growth, ratio
from grove_core.kernel.time_formats import format_time


def p10_start(bench: Bench) -> Iterator[Row]:
    """How long a person waits for help."""
    ours, theirs = bench.commands_in_order(
        [[sys.executable, "-m", "grove_shell", "plan", "--help"], [sys.executable, "-c", "pass"]], bench.sizes.starts
    )
    yield ratio("P10", "grove plan --help / python -c pass", ours.wall, theirs.wall, bounds=(5, 7.5))
    yield Row(
        id="P10",
        what="grove plan --help",
        candidate=str(ours.wall),
        value=ours.wall.median * 1000,
        unit="ms",
        bounds=(80, 150),
        n=len(ours.wall.values),
    )
    yield ratio("P10", "the same in processor time", ours.processor, theirs.processor)


def p11_plan(bench: Bench) -> Iterator[Row]:
    """How long a person waits for a plan."""
    pods = bench.sizes.some
    path = bench.file(Form.PRETTY, pods, owners=True)
    command = [sys.executable, "-m", "grove_shell", "plan", "-f", path, "--now", format_time(NOW)]
    read = f"import json, gc; gc.disable(); json.loads(open({path!r}, encoding='utf-8').read())"
    ours, machine, theirs = bench.commands_in_order(
        [command, [*command, "-o", "json"], [sys.executable, "-c", read]], bench.sizes.rounds
    )
    yield Row(
        id="P11",
        what=f"grove plan of {pods:,} pods, -o json file / python that only runs json.loads on it",
        candidate=str(ours.wall),
        baseline=str(theirs.wall),
        value=ours.wall.median,
        unit="s",
        bounds=(0.8, 1.5),
        n=len(ours.wall.values),
    )
    yield ratio("P11", "the same in processor time", ours.processor, theirs.processor)
    yield ratio("P11", "the same with -o json, in processor time", machine.processor, theirs.processor)


def w4_places(bench: Bench) -> Iterator[Row]:
    """How long a person waits for the answer whether a gang has a place, and how that grows with the nodes."""
    most = max(40, bench.sizes.many // 20)
    few = most // 5
    pods = min(bench.sizes.few, 2 * few)
    command = (sys.executable, "-m", "grove_shell", "topology", "check")
    commands = [[*command, *_check_files(bench.folder, *size)] for size in ((few, pods), (most, pods), (8, 8))]
    small, large, least = bench.commands_in_order(commands, bench.sizes.rounds)
    yield Row(
        id="W4",
        what=f"grove topology check: {most:,} nodes, two topologies, a gang of {pods:,} pods at three levels",
        candidate=str(large.wall),
        baseline=str(least.wall),
        value=large.wall.median,
        unit="s",
        bounds=(2, 3),
        n=len(large.wall.values),
    )
    start = least.processor.median
    text = "the same beyond what 8 nodes take, exponent from {} to {} nodes"
    yield growth("W4", text, small.processor, large.processor, (few, most), bounds=(1.2, 1.3), start=start)


def _check_files(folder: Path, count: int, pods: int) -> list[str]:
    """Half of the nodes are of one kind and half of the other; the set knows both topologies, and uses one."""
    written = {
        f"nodes-{count}.json": text_of(nodes(h100=count // 2, gb200=count - count // 2)),
        f"gang-{pods}.json": json.dumps(gang_of(pods)),
        "topologies.json": json.dumps({"kind": "List", "apiVersion": "v1", "items": TOPOLOGIES}),
    }
    words: list[str] = []
    for name, text in written.items():
        (folder / name).write_text(text, encoding="utf-8")
        words += ["-f", str(folder / name)]
    return words
