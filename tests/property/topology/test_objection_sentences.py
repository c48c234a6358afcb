"""Full sentences of admission about topologies; paths and rules are tested elsewhere."""

from pathlib import Path
from typing import Any, Final

from grove_core.admit import admit
from grove_core.admit_cluster_topology import admit_topology, admit_topology_deletion
from grove_core.areas.topology.admit import NOTHING_KNOWN, KnownTopologiesForAdmission
from grove_core.kernel.admission import AdmissionVerdict, Deny
from grove_core.resources.api_names import TOPOLOGY_FINALIZER
from grove_core.resources.cluster_topology import DEFAULT_TOPOLOGY, TopologyLevel
from grove_core.resources.configuration import DEFAULT_CONFIGURATION, Configuration, TopologyAwareSettings
from grove_core.resources.topology_usage import TopologyUser
from tests.property.admission_tables import same_words, words_of
from tests.property.topology.sets_to_admit import CREATED, a_set, raw_topology
from tests.property.topology.sets_with_constraints import ON, topology

Json = dict[str, Any]
KNOWN: Final = {
    "aws-p5": topology("aws-p5"),
    "flat": topology("flat", ("zone", "example.com/zone")),
}
PLACED: Final = KnownTopologiesForAdmission(KNOWN, {("ml", "llm"): 3}, {})
NEITHER: Final[Json] = {"pack": {}}
OLD: Final = a_set("", {"packDomain": "zone", "pack": {"preferred": "host"}}, "rack", NEITHER)
UPDATES: Final[tuple[tuple[Json, Json], ...]] = (
    (a_set("", "zone", "rack"), OLD),
    (a_set("", {"pack": {"required": "zone", "preferred": "rack"}}, None, NEITHER), OLD),
    (OLD, a_set("", "zone")),
    (a_set("flat", "zone"), a_set("aws-p5", "zone")),
    (a_set("", "zone"), a_set("aws-p5", "zone")),
)
SOUND: Final = (("zone", "z"), ("rack", "r"))
USED: Final = KnownTopologiesForAdmission(
    KNOWN, {}, {"t": (TopologyUser("ml", "llm", 2), TopologyUser("ml", "waits", 0))}
)
DEFAULT: Final = Configuration(
    topology=TopologyAwareSettings(True, (TopologyLevel("zone", "z"), TopologyLevel("rack", "r")))
)


def said(verdict: AdmissionVerdict) -> str:
    return words_of(verdict.objections if isinstance(verdict, Deny) else (), verdict.warnings)


def with_scheduler(name: str) -> Json:
    raw = a_set("", "rack")
    for clique in raw["spec"]["template"]["cliques"]:
        clique["spec"]["podSpec"]["schedulerName"] = name
    return raw


def test_tp060_sentences_about_sets(*, bless: bool) -> None:
    cases = [
        *(admit(raw, None, None, ON, None, PLACED).verdict for raw, _ in CREATED),
        *(admit(new, old, None, ON, None, PLACED).verdict for new, old in UPDATES),
        *(
            admit(raw, None, None, DEFAULT_CONFIGURATION, None, PLACED).verdict
            for raw in (a_set("aws-p5", "rack"), a_set("", "rack"))
        ),
        *(admit(a_set(name, "rack"), None, None, ON, None, NOTHING_KNOWN).verdict for name in ("aws-p5", "")),
        *(admit(with_scheduler(name), None, None, ON, None, PLACED).verdict for name in ("", "default-scheduler")),
    ]
    text = "".join(f"# {number}\n{said(verdict)}" for number, verdict in enumerate(cases))
    same_words(Path(__file__).parent / "set_words.txt", text, bless=bless)


def test_tp080_sentences_about_topologies(*, bless: bool) -> None:
    old, less = raw_topology("t", *SOUND), raw_topology("t", ("zone", "z"))
    default = raw_topology(DEFAULT_TOPOLOGY, ("zone", "z"))
    odd = raw_topology("t", ("zone", "z"), ("Zone", "z"), ("host", "a b"), ("rack", "r"), ("zone", "k" * 64))
    cases = [
        admit_topology(less, old, USED, ON).verdict,
        admit_topology(less, old, NOTHING_KNOWN, ON).verdict,
        admit_topology(default, None, NOTHING_KNOWN, DEFAULT).verdict,
        admit_topology(odd, None, USED, ON).verdict,
        admit_topology(raw_topology("t"), None, USED, ON).verdict,
        admit_topology(raw_topology("t", *((f"d{n}", f"k{n}") for n in range(17))), None, USED, ON).verdict,
        admit_topology({"kind": "ClusterTopology", "spec": {"levels": [{"domain": 3}, 7]}}, None, USED, ON).verdict,
        admit_topology_deletion(old, USED).verdict,
        admit_topology_deletion(old, NOTHING_KNOWN).verdict,
        admit_topology_deletion(raw_topology("t", *SOUND, finalizers=[TOPOLOGY_FINALIZER]), USED).verdict,
    ]
    text = "".join(f"# {number}\n{said(verdict)}" for number, verdict in enumerate(cases))
    same_words(Path(__file__).parent / "topology_words.txt", text, bless=bless)
