"""Differences between a plan and its reviewed form, in words (PL-020)."""

from typing import Final

import pytest

from grove_core.areas.gang_termination.rules import TerminationReason
from grove_core.kernel.frozen import FrozenMap, frozen
from grove_core.kernel.refs import Guard, Ref
from grove_core.kernel.steps import Action, Apply, Delete, DeletionImpact, SetStatus, Step, StepStage
from grove_core.kernel.structs import replace
from grove_core.plan.plan_staleness import PlanChange, changes_since_reviewed_plan
from grove_core.resources.api_names import GROVE

GUARD: Final = Guard("u-1", "7")
SET: Final = Ref(GROVE, "PodCliqueSet", "ml", "llm")
CLIQUE: Final = Ref(GROVE, "PodClique", "ml", "llm-0-a")
BECAUSE: Final = (TerminationReason.SET_BEING_DELETED.because(SET),)
EMPTY: Final = FrozenMap({})


def step(action: Action, stage: StepStage = StepStage.WORKLOAD, *, target: Ref = CLIQUE) -> Step:
    return Step(stage, target, action, BECAUSE)


class TestStaleness:
    """PL-020: differences from the review are reported in words."""

    def test_pl020_a_change_is_reported_as_was_and_is(self) -> None:
        assert str(PlanChange(CLIQUE, "step", "a", "b")) == "PodClique/llm-0-a: step: was a, is b"
        assert str(PlanChange(CLIQUE, "step", "", "")) == "PodClique/llm-0-a: step: was nothing, is nothing"

    def test_pl020_a_step_is_reported_by_its_verb_and_its_reason(self) -> None:
        verb = "the set is being deleted; nothing of it is terminated"
        old, new = step(Delete(GUARD)), step(Apply(EMPTY, GUARD))
        assert changes_since_reviewed_plan([old], [new]) == (
            PlanChange(CLIQUE, "step", f"Delete ({verb})", f"Apply ({verb})"),
        )
        assert changes_since_reviewed_plan([old], []) == (PlanChange(CLIQUE, "step", f"Delete ({verb})", ""),)
        assert changes_since_reviewed_plan([], [new]) == (PlanChange(CLIQUE, "step", "", f"Apply ({verb})"),)

    def test_pl020_facts_that_come_or_go_are_reported_with_their_rule_and_subject(self) -> None:
        missing = TerminationReason.CONSTITUENT_MISSING.because(CLIQUE, name="llm-0-b")
        off = TerminationReason.TERMINATION_DISABLED.because(CLIQUE)
        old = replace(step(Delete(GUARD)), because=(missing,))
        new = replace(old, because=(off,))
        gone, come = "ConstituentMissing of PodClique/llm-0-a", "TerminationDisabled of PodClique/llm-0-a"
        assert changes_since_reviewed_plan([old], [new]) == (
            PlanChange(CLIQUE, gone, "a reason", ""),
            PlanChange(CLIQUE, f"{gone}: name", "llm-0-b", ""),
            PlanChange(CLIQUE, come, "", "a reason"),
        )
        assert changes_since_reviewed_plan([new], [old]) == (
            PlanChange(CLIQUE, gone, "", "a reason"),
            PlanChange(CLIQUE, f"{gone}: name", "", "llm-0-b"),
            PlanChange(CLIQUE, come, "a reason", ""),
        )

    def test_pl020_a_new_deletion_impact_is_reported(self) -> None:
        old, new = step(Delete(GUARD)), step(Delete(GUARD, takes=DeletionImpact(3, 2, 8)))
        assert changes_since_reviewed_plan([old], [new]) == (
            PlanChange(CLIQUE, "what is written", "[[],false,[]]", "[[],false,[3,2,8]]"),
        )

    @pytest.mark.parametrize("key", ["lastTransitionTime", "observedGeneration", "updateStartedAt", "updateEndedAt"])
    def test_pl020_moments_move_also_in_lists(self, key: str) -> None:
        def written(moment: str, status: str) -> Step:
            fields = {"conditions": [{"type": "Ready", "status": status, key: moment}]}
            return step(SetStatus(frozen(fields), GUARD), StepStage.STATUS)

        assert changes_since_reviewed_plan([written("a", "True")], [written("b", "True")]) == ()
        (change,) = changes_since_reviewed_plan([written("a", "True")], [written("b", "False")])
        assert change.before == '{"conditions":[{"status":"True","type":"Ready"}]}'

    @pytest.mark.parametrize(("letters", "shown"), [(72, 80), (73, 80), (200, 80), (10, 18)])
    def test_pl020_what_is_long_is_cut_at_eighty(self, letters: int, shown: int) -> None:
        old, new = (step(Apply(frozen({"a": letter * letters}), GUARD)) for letter in "xy")
        (change,) = changes_since_reviewed_plan([old], [new])
        text = f'{{"a":"{"x" * letters}"}}'
        assert len(change.before) == shown
        assert change.before == (text if len(text) <= 80 else f"{text[:77]}...")
