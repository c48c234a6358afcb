"""``python -m benchmarks.cluster.churn --minutes 60 --log churn.jsonl``: an operator whose sets never rest.

People create, scale, update, break, heal and delete sets at random, take pods and labels of pods away, and the
operator is killed every few minutes. Every ten minutes they pause, and the sets have to come to rest. In the end
everybody leaves: nothing may be left over after the deletion of what there is, memory has to be flat, an observer's
predictions have to have come true, and both logs have to be decided again as written.
"""

import argparse
import contextlib
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final

from grove_core.resources.api_names import MANAGED_BY
from tests.cluster import binaries
from tests.cluster.api import ApiError, Json, wait_until
from tests.cluster.operators import Operator, grove, install_definitions, let
from tests.cluster.plane import ControlPlane
from tests.cluster.scenes import Scene, clique, group

NAMESPACE: Final = "churn"
SETS: Final = 6
DELAY: Final = "20s"
NODES: Final = 12
PAUSE: Final = (0.5, 4.0)
"""Seconds between two acts of people, at least and at most."""
SURPRISES: Final = ("the cluster deleted what the plan keeps", "the cluster keeps what the plan deletes")
REST_EVERY: Final = 600.0
"""Seconds between two pauses in which everything comes to rest."""


class Crowd:
    """Simulated users that edit the sets, one random act after another."""

    def __init__(self, scene: Scene, seed: int) -> None:
        self.scene = scene
        self.chance = random.Random(seed)
        self.done: Counter[str] = Counter()
        self._serial = 0
        self._acts: Sequence[tuple[int, Callable[[str], None]]] = (
            (3, self.scale_set),
            (4, self.scale_group),
            (3, self.scale_clique),
            (2, self.update),
            (5, self.lose),
            (4, self.heal),
            (2, self.lose_pod),
            (2, self.lose_label),
            (1, self.leave),
        )

    def act(self) -> None:
        """Do one act; a conflict with another writer is no failure."""
        names = self.scene.names("podcliquesets")
        with contextlib.suppress(ApiError, KeyError):
            if len(names) < SETS:
                self.come()
                return
            weights = [weight for weight, _ in self._acts]
            ((_, act),) = self.chance.choices(self._acts, weights)
            act(self.chance.choice(names))
            self.done[act.__name__] += 1

    def come(self) -> None:
        """A new set."""
        self._serial += 1
        pool = group("pool", "leader", "worker", replicas=2)
        cliques = (clique("router"), clique("leader"), clique("worker", 3, minimum=2))
        manifest = self.scene.set_of(
            *cliques, name=f"set-{self._serial}", podCliqueScalingGroups=[pool], terminationDelay=DELAY
        )
        self.scene.api.create(manifest)
        self.done["come"] += 1

    def scale_set(self, name: str) -> None:
        """Its replicas."""
        self.scene.scale("podcliquesets", name, self.chance.randint(1, 2))

    def scale_group(self, name: str) -> None:
        """As an autoscaler does it."""
        self.scene.scale("podcliquescalinggroups", f"{name}-0-pool", self.chance.randint(1, 3))

    def scale_clique(self, name: str) -> None:
        """As an autoscaler does it."""
        self.scene.scale("podcliques", f"{name}-0-router", self.chance.randint(1, 3))

    def update(self, name: str) -> None:
        """A new image."""
        self.scene.new_image(f"example.com/main:{self.chance.randint(1, 9)}", name)

    def lose(self, name: str) -> None:
        """All workers of a replica of the group."""
        self.scene.annotate_pods(f"{name}-0-pool-{self.chance.randint(0, 1)}-worker", not_ready="true")

    def heal(self, name: str) -> None:
        """All workers are ready again."""
        for index in range(2):
            self.scene.annotate_pods(f"{name}-0-pool-{index}-worker", not_ready=None)

    def lose_pod(self, name: str) -> None:
        """Delete the object."""
        self.scene.api.delete("pods", self._pod_of(name), self.scene.namespace)

    def lose_label(self, name: str) -> None:
        """Remove the label by which operators select it."""
        self.scene.patch("pods", self._pod_of(name), {"metadata": {"labels": {MANAGED_BY: None}}})

    def _pod_of(self, name: str) -> str:
        """Any; there is none where a set is new."""
        names = [str(pod["metadata"]["name"]) for pod in self.scene.pods()]
        pods = [one for one in names if one.startswith(f"{name}-")]
        if not pods:
            raise KeyError(name)
        return self.chance.choice(pods)

    def miscounted(self) -> list[str]:
        """PodCliques that have more or fewer pods than they want, under either operator."""
        owners = Counter(pod["metadata"]["ownerReferences"][0]["uid"] for pod in self.scene.pods())
        return [
            f"{one['metadata']['name']} has {owners[one['metadata']['uid']]} pods, and wants {one['spec']['replicas']}"
            for one in self.scene.all_of("podcliques")
            if owners[one["metadata"]["uid"]] != one["spec"]["replicas"]
        ]

    def leave(self, name: str) -> None:
        """Delete the object."""
        self.scene.api.delete("podcliquesets", name, self.scene.namespace)


@dataclass
class Course:
    """What became of the two operators on the way.

    Attributes:
        lives: memory of the one that acts before it was killed, in KiB.
        watching: memory of the one that watches at these moments.
        rests: how often everything came to rest.
    """

    peaks: list[int] = field(default_factory=list)
    watching: list[int] = field(default_factory=list)
    rests: int = 0


def memory_of(operator: Operator) -> int:
    """Resident, in KiB."""
    status = Path(f"/proc/{operator.plane.pids[operator.name]}/status").read_text(encoding="utf-8")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS:"))


def main(arguments: Sequence[str] | None = None) -> int:
    """Play, and say what came of it; 1 where something is not as it has to be."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cluster.churn", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kill-every", type=float, default=180.0, metavar="SECONDS")
    parser.add_argument("--rules", default="design")
    parser.add_argument("--log", type=Path, default=Path("churn.jsonl"))
    reported = parser.parse_args(arguments)
    reported.log = reported.log.absolute()  # operators run elsewhere
    watched = reported.log.with_suffix(".watched.jsonl")
    with ControlPlane(binaries.build(_say)) as plane:
        api = plane.api()
        install_definitions(api)
        api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
        for user in ("operator", "operator-2"):
            let(api, user)
        scene = Scene(api, NAMESPACE, nodes=NODES)
        acts = Operator(plane, namespace=NAMESPACE, options=("--decision-log", str(reported.log)))
        sees = Operator(plane, "operator-2", namespace=NAMESPACE, options=("--observe", "--decision-log", str(watched)))
        acts.rules = sees.rules = reported.rules
        before = {(one["kind"], one["metadata"]["name"]) for one in api.everything_in(NAMESPACE)}
        acts.start()
        sees.start()
        crowd, course = Crowd(scene, reported.seed), Course()
        begun = time.monotonic()
        next_kill, next_rest = begun + reported.kill_every, begun + REST_EVERY
        while (now := time.monotonic()) < begun + reported.minutes * 60:
            crowd.act()
            if now >= next_kill:
                course.peaks.append(memory_of(acts))
                course.watching.append(memory_of(sees))
                acts.kill()
                acts.start()
                next_kill = now + reported.kill_every
                _say(
                    f"{(now - begun) / 60:5.1f} min: {sum(crowd.done.values())} acts, memory of the one that acts "
                    f"{course.peaks[-1] // 1024} MiB, of the one that watches {course.watching[-1] // 1024} MiB"
                )
            if now >= next_rest:
                _rest(crowd, acts)
                course.rests += 1
                next_rest = time.monotonic() + REST_EVERY
            time.sleep(crowd.chance.uniform(*PAUSE))
        return _verdict(scene, acts, sees, crowd, course, before, (reported.log, watched))


def _rest(crowd: Crowd, acts: Operator) -> None:
    """Wait until nothing is left to do; then every PodClique has the pods that it wants, and no other."""
    acts.await_rest(seconds=300)
    wait_until(crowd.miscounted, lambda found: not found, "every PodClique has the pods that it wants", seconds=90)


def _verdict(
    scene: Scene,
    acts: Operator,
    sees: Operator,
    crowd: Crowd,
    course: Course,
    before: set[tuple[str, str]],
    logs: Sequence[Path],
) -> int:
    left = scene.names("podcliquesets")
    for name in left:
        crowd.heal(name)
    _rest(crowd, acts)
    _say(f"acts: {dict(crowd.done)}; killed {len(course.peaks)} times")
    _say(f"at rest {course.rests} times on the way, and with {len(left)} sets now: a new look finds nothing to do")
    for name in left:
        scene.api.delete("podcliquesets", name, NAMESPACE)

    def residue() -> list[Json]:
        found = scene.api.everything_in(NAMESPACE)
        return [one for one in found if one["kind"] != "Event" and (one["kind"], one["metadata"]["name"]) not in before]

    wait_until(residue, lambda found: not found, "nothing is left over", seconds=300)
    _say("nothing is left over after their deletion")
    failed = sum(each.stop() != 0 for each in (sees, acts))
    (score,) = sees.said("score")
    score = {key: value for key, value in score.items() if key not in {"ts", "level", "msg"}}
    _say(f"predictions: {score}")
    for message in SURPRISES:
        for line in sees.said(message):
            because = line["because"][0]["sentence"] if line["because"] else "nothing held it"
            _say(f"{line['ts']} {line['target']}: {message}: {because}")
    for log in logs:
        ran = grove("replay", str(log), seconds=3600)
        failed += ran.returncode != 0
        _say(
            f"{log.name}, {log.stat().st_size / 1e6:.1f} MB: {ran.stdout.splitlines()[0] if ran.stdout else ran.stderr}"
        )
    print(json.dumps({"acts": crowd.done, "course": asdict(course), "score": score, "failed": failed}))
    return 1 if failed else 0


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
