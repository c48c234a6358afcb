"""``python -m tests.beside.churn_score FOLDER``: score a churn again, from the decision log of the observer alone."""

import json
import sys
from pathlib import Path
from typing import Any

from grove_core.reconcile import reconcile
from grove_core.rule_sets.rule_set_by_name import rule_set
from grove_shell.apply.planned_round import PlannedReconcileRound
from grove_shell.operator.prediction_check import DeletionPredictionChecker
from grove_shell.replay.decision_log_reader import recorded_decisions


def main(folder: Path) -> None:
    """Give every recorded snapshot to the observer, as it was given it then, and print what it says."""
    now = ""

    def say(level: str, message: str, **fields: Any) -> None:
        if level == "warning" or message == "score":
            sys.stdout.write(json.dumps({"at": now, "msg": message, **fields}) + "\n")

    rules = rule_set("field")
    checker = DeletionPredictionChecker(say, rules)
    uids: dict[tuple[str, str], str] = {}
    with (folder / "decisions.jsonl").open("rb") as lines:
        for look in recorded_decisions(lines):
            seen = look.snapshot
            root, now = seen.root, seen.now.isoformat()
            key = (root.ref.namespace, root.ref.name)
            if uids.setdefault(key, root.uid) != root.uid:
                checker.on_root_deleted(key)
                uids[key] = root.uid
            plan = reconcile(seen, rules)
            checker.on_round_planned(
                PlannedReconcileRound(
                    root_key=key, plan_name=look.name, observation=seen, plan=plan, planning_seconds=0.0
                )
            )
    checker.log_outcome_totals()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
