"""The core with one mistake each; the invariants must detect every one."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from grove_core.areas.domain_cliques.daemon.registration_protocols import RegistrationProtocol
from tests.property.domain_cliques import mistakes
from tests.property.domain_cliques.core_functions import CoreFunctions


@dataclass(frozen=True)
class Mutant:
    """The core with one mistake.

    Attributes:
        codes: of the invariants that it may violate first.
        protocol, faults: with which it is detected soonest; None for any.
    """

    core: CoreFunctions
    codes: frozenset[str]
    protocol: RegistrationProtocol | None
    faults: frozenset[str] | None


MUTANTS: Final[Mapping[str, Mutant]] = {
    "starts without a look (IX1)": Mutant(
        CoreFunctions(next_action=mistakes.starts_without_a_read),
        frozenset({"2", "IX1"}),
        RegistrationProtocol.SSA,
        None,
    ),
    "forgets its own writes (IX2)": Mutant(
        CoreFunctions(after_result=mistakes.forgets_its_own_writes), frozenset({"IX2"}), None, None
    ),
    "takes any event (IX2)": Mutant(
        CoreFunctions(after_event=mistakes.takes_any_event), frozenset({"IX2"}), None, None
    ),
    "trusts its predecessor (IX3)": Mutant(
        CoreFunctions(next_action=mistakes.trusts_its_predecessor),
        frozenset({"2", "IX1", "IX7", "16"}),
        None,
        frozenset({"pod crash"}),
    ),
    "breaks ties by name (IX4)": Mutant(
        CoreFunctions(next_action=mistakes.breaks_ties_by_name), frozenset({"3", "IX1", "16", "17", "20"}), None, None
    ),
    "writes lists without a version (IX5)": Mutant(
        CoreFunctions(rewrite=mistakes.writes_lists_without_a_version),
        frozenset({"1", "4"}),
        RegistrationProtocol.RMW,
        None,
    ),
    "keeps the process running (IX7)": Mutant(
        CoreFunctions(next_action=mistakes.keeps_the_process_running),
        frozenset({"IX7"}),
        None,
        frozenset({"entry removed", "clique deleted"}),
    ),
    "cleans up by an old view (IX8)": Mutant(
        CoreFunctions(reconcile=mistakes.cleans_up_by_an_old_view), frozenset({"6"}), None, frozenset({"pod crash"})
    ),
    "takes unlabelled pods for none (IX8)": Mutant(
        CoreFunctions(reconcile=mistakes.takes_unlabelled_pods_for_none),
        frozenset({"6"}),
        None,
        frozenset({"pod crash"}),
    ),
    "applies only what changed": Mutant(
        CoreFunctions(next_action=mistakes.applies_only_what_changed), frozenset({"5"}), RegistrationProtocol.SSA, None
    ),
    "carries readiness over (D44)": Mutant(
        CoreFunctions(next_action=mistakes.carries_readiness_over),
        frozenset({"D44"}),
        RegistrationProtocol.SHARDED,
        frozenset({"container restart", "pod crash"}),
    ),
    "forgets a sticky index (D19)": Mutant(
        CoreFunctions(next_action=mistakes.forgets_a_sticky_index), frozenset({"8"}), None, frozenset({"pod crash"})
    ),
    "removes its successor": Mutant(
        CoreFunctions(next_action=mistakes.removes_its_successor),
        frozenset({"7"}),
        RegistrationProtocol.SSA,
        frozenset({"graceful replacement", "second pod"}),
    ),
    "leaves by making objects": Mutant(
        CoreFunctions(rewrite=mistakes.leaves_by_making_objects),
        frozenset({"7"}),
        RegistrationProtocol.SHARDED,
        frozenset({"graceful replacement", "clique deleted"}),
    ),
    "never forces": Mutant(
        CoreFunctions(after_result=mistakes.never_forces),
        frozenset({"16", "20"}),
        RegistrationProtocol.SSA,
        frozenset({"legacy"}),
    ),
    "owns nothing (14)": Mutant(
        CoreFunctions(rewrite=mistakes.owns_nothing), frozenset({"14"}), RegistrationProtocol.SHARDED, None
    ),
    "pushes every index": Mutant(
        CoreFunctions(next_action=mistakes.pushes_every_index), frozenset({"2"}), RegistrationProtocol.SSA, None
    ),
    "moves although started (3)": Mutant(
        CoreFunctions(next_action=mistakes.moves_although_started), frozenset({"3"}), RegistrationProtocol.SSA, None
    ),
    "picks the next index (9)": Mutant(
        CoreFunctions(next_action=mistakes.picks_the_next_index), frozenset({"9"}), RegistrationProtocol.SSA, None
    ),
    "ignores uids (10)": Mutant(
        CoreFunctions(next_action=mistakes.ignores_uids),
        frozenset({"10"}),
        RegistrationProtocol.SSA,
        frozenset({"domain recreated"}),
    ),
    "edits entries (11)": Mutant(
        CoreFunctions(reconcile=mistakes.edits_entries),
        frozenset({"11"}),
        RegistrationProtocol.SHARDED,
        frozenset({"pod crash", "node moves"}),
    ),
    "counts silence as ready (15)": Mutant(
        CoreFunctions(reconcile=mistakes.counts_silence_as_ready), frozenset({"15"}), None, None
    ),
    "never cleans up (19)": Mutant(
        CoreFunctions(reconcile=mistakes.never_cleans_up), frozenset({"19"}), None, frozenset({"node leaves"})
    ),
    "writes without change (20)": Mutant(
        CoreFunctions(next_action=mistakes.writes_without_change), frozenset({"20"}), None, None
    ),
    "registers without a fabric (13)": Mutant(
        CoreFunctions(next_action=mistakes.registers_without_a_fabric), frozenset({"13", "62", "16", "19"}), None, None
    ),
    "reads one source (D46)": Mutant(
        CoreFunctions(next_action=mistakes.reads_one_source),
        frozenset({"IX1"}),
        None,
        frozenset({"gate flip", "graceful replacement"}),
    ),
    "never gives way (D45)": Mutant(
        CoreFunctions(next_action=mistakes.never_gives_way), frozenset({"20"}), None, frozenset({"second pod"})
    ),
    "leaves the other object alone (DC-067)": Mutant(
        CoreFunctions(next_action=mistakes.leaves_the_other_object_alone),
        frozenset({"88"}),
        None,
        frozenset({"address kept", "gate flip"}),
    ),
    "exceeds the limit (18)": Mutant(
        CoreFunctions(next_action=mistakes.exceeds_limit_when_full), frozenset({"1", "16", "IX7"}), None, None
    ),
}
