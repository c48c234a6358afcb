"""``grove topology check``: whether the gangs of sets have a place, by their own topology and by each other one."""

from grove_core.check_topology import check_topology
from grove_shell.actions.choosing import chosen, missing
from grove_shell.actions.source import Source
from grove_shell.actions.topology import read
from grove_shell.exits import DONE, ERROR, FAIL_ON, USAGE
from grove_shell.page import complain, show, write
from grove_shell.views.check_page import check_page
from grove_shell.views.faults import NOTHING_DECIDED
from grove_shell.views.structured import as_text
from grove_shell.views.topology_document import check_as_json


def check_topologies(
    sets: tuple[str, ...], filenames: tuple[str, ...], config: str | None, output: str, *, verbose: bool
) -> int:
    """Check and print; returns the exit code (CL-001, TP-114)."""
    found = read(Source(filenames=filenames, config=config), NOTHING_DECIDED)
    if found is None or not found.usable:
        return ERROR
    lacking = [
        what for what, there in (("PodCliqueSet", found.cluster.sets), ("Node", found.grounds.nodes)) if not there
    ]
    if lacking:
        complain(f"nothing to check: no {' and no '.join(lacking)} in the input")
        return ERROR
    if unknown := missing(found.cluster, sets):
        complain(f"not in the input: {unknown}")
        return USAGE
    snapshots = (found.cluster.snapshot_of(root, found.now) for root in chosen(found.cluster, sets))
    checks = [check_topology(snapshot, found.grounds.nodes.values(), found.grounds.tenants) for snapshot in snapshots]
    if output == "human":
        show(check_page(checks, found.grounds, verbose=verbose))
    else:
        write(as_text(check_as_json(checks, found.grounds), output))
    return DONE if all(check.is_success for check in checks) else FAIL_ON
