"""The lines of ``grove compare`` about the pods that an upgrade of the Go operator restarts (CL-060)."""

from collections.abc import Sequence

from grove_core.areas.workload.field.upgrade_restart import UpgradeRestart
from grove_core.kernel.steps import DeletionImpact
from grove_shell.styled_text_page import StyledTextPage
from grove_shell.views.formatting import (
    INDENT,
    MAX_NAMES,
    count_with_noun,
    deletion_impact_text,
    join_names_with_commas,
    padded_entry_label,
)


def upgrade_restart_count_text(restarts: Sequence[UpgradeRestart]) -> str:
    """Return how many pods the upgrade restarts in all sets; empty where it restarts none."""
    counted = [one.takes for one in restarts if one.takes is not None and one.takes.pods]
    unknown = sum(one.takes is None for one in restarts)
    texts = []
    if counted:
        takes = deletion_impact_text(sum(counted, DeletionImpact()))
        sets = count_with_noun(len(counted), "PodCliqueSet")
        texts.append(f"the upgrade alone restarts {takes} in {sets}, without any edit")
    if unknown:
        texts.append(f"the upgrade alone restarts all pods of {count_with_noun(unknown, 'PodCliqueSet')}, not counted")
    return "; ".join(texts)


def add_upgrade_restart(page: StyledTextPage, restart: UpgradeRestart, rules: tuple[str, str]) -> None:
    """Add what the upgrade from the first rule set to the second restarts of a set, and in which order."""
    hashes = f"{rules[1]} computes other template hashes than {rules[0]}"
    if restart.on_delete:
        page.add_line((padded_entry_label("KEEP"), "green"), "all pods: the strategy is OnDelete")
        page.add_line(INDENT, f"{hashes}; pods that are created later get the new ones  WF-092")
        return
    if restart.takes is not None and not restart.takes.pods:
        page.add_line((padded_entry_label("KEEP"), "green"), "no pod exists that would be restarted")
        return
    what = "all pods, not collected" if restart.takes is None else deletion_impact_text(restart.takes)
    page.add_line((padded_entry_label("RESTART"), "bold red"), (what, "bold"), ": an update of all replicas begins")
    page.add_line(INDENT, f"right after the upgrade, without any edit: {hashes}  WF-091")
    if restart.replicas > 1:
        page.add_line(INDENT, f"  one of its {restart.replicas:,} replicas at a time  WF-004")
    if restart.at_once:
        pods, verb = count_with_noun(restart.at_once, "pod"), "does" if restart.at_once == 1 else "do"
        page.add_line(INDENT, f"  {pods} that {verb} not serve now: at once in the turn of the replica  WF-011")
    page.add_line(
        INDENT, "  ready pods of a standalone PodClique: one at a time, each before its successor exists  WF-012"
    )
    if restart.groups:
        names = join_names_with_commas(list(restart.groups), MAX_NAMES)
        page.add_line(INDENT, f"  {names}: one replica of the group at a time, with all its pods  WF-023")
        page.add_line(INDENT, "  group replicas that are not available: at once in that turn  WF-022")
    page.add_line(INDENT, "  an update that runs suspends gang termination of what it updates  GF-024")
