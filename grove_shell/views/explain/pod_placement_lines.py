"""Lines of ``grove explain`` on where pods stand, by the required topology constraints of their gang (CL-081)."""

from collections.abc import Iterable
from typing import Any

from grove_core.areas.topology.pod_placement import ConstraintPlacement
from grove_core.areas.topology.wants import domain_text
from grove_core.document.step_writing import ref_as_json
from grove_core.resources.naming_rules import name_list_text, pod_count_text
from grove_shell.styled_text_page import Span, StyledTextPage


def add_placement_lines(page: StyledTextPage, placements: Iterable[ConstraintPlacement], pod: str) -> None:
    """Add for each constraint whether it is kept, broken, or cannot be judged.

    Args:
        pod: the name of the pod that is asked about; empty for another object.
    """
    for one in placements:
        page.add_line("  placement: ", _verdict(one, pod), f"  {one.gang.short}")
        cliques = name_list_text(one.cliques)
        page.add_line(f"    the pods of {cliques} have to share one value of {one.key}")
        for line in _where_lines(one, pod):
            page.add_line(f"    {line}")


def _verdict(one: ConstraintPlacement, pod: str) -> Span:
    if one.is_broken:
        return "broken", "bold red"
    if one.unknown:
        return "unknown", "bold magenta"
    if pod and one.domain_of_pod(pod) is None:
        return "not placed yet", "bold yellow"
    return ("kept", "bold green") if one.domains else ("not placed yet", "bold yellow")


def _where_lines(one: ConstraintPlacement, pod: str) -> list[str]:
    if pod in one.unknown:
        return ["the Node of this pod is not in the input (kubectl get nodes -o json)"]
    own = one.domain_of_pod(pod) if pod else None
    lines = [f"this pod stands in {domain_text(own)}"] if own is not None else []
    for value, names in sorted(one.domains.items(), key=lambda found: (-len(found[1]), found[0])):
        count = len(names) - (own == value)
        if count:
            lines.append(f"{'other pods' if own is not None else 'pods'} in {domain_text(value)}: {count}")
    if one.unknown:
        lines.append(
            f"{pod_count_text(len(one.unknown))} on Nodes that are not in the input (kubectl get nodes -o json)"
        )
    return lines


def placement_as_json(one: ConstraintPlacement) -> dict[str, Any]:
    """Return where the pods of one constraint stand as JSON."""
    return {
        "gang": ref_as_json(one.gang),
        "key": one.key,
        "cliques": list(one.cliques),
        "broken": one.is_broken,
        "domains": {value: list(names) for value, names in sorted(one.domains.items())},
        "onUnknownNodes": list(one.unknown),
    }
