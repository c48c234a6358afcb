"""``grove topology check``: whether the gangs of sets fit on the nodes, under each topology."""

from grove_core.gang_fit import check_gang_fit
from grove_shell.actions.set_selection import missing_sets, selected_sets
from grove_shell.actions.source import InputSource
from grove_shell.actions.topology import read_topology_input
from grove_shell.exits import DONE, ERROR, FAIL_ON, USAGE
from grove_shell.page import print_error
from grove_shell.views.problems_page import NOTHING_DECIDED
from grove_shell.views.renderers import RENDERERS
from grove_shell.views.topology_check_page import topology_check_page
from grove_shell.views.topology_document import topology_check_as_json


def check_topologies(
    sets: tuple[str, ...], filenames: tuple[str, ...], config: str | None, output: str, *, verbose: bool
) -> int:
    """Check and print. Returns the exit code (CL-001, TP-111).

    Args:
        sets: ``set`` or ``namespace/set``; empty for all.
        filenames: files, folders or ``-``.
        config: the operator's configuration file; None without one.
        output: the value of ``-o``.
        verbose: print the placement that was found, node by node.
    """
    found = read_topology_input(InputSource(filenames=filenames, config=config), NOTHING_DECIDED)
    if found is None or not found.usable:
        return ERROR
    lacking = [
        what for what, there in (("PodCliqueSet", found.cluster.sets), ("Node", found.grounds.nodes)) if not there
    ]
    if lacking:
        print_error(f"nothing to check: no {' and no '.join(lacking)} in the input")
        return ERROR
    if unknown := missing_sets(found.cluster, sets):
        print_error(f"not in the input: {unknown}")
        return USAGE
    snapshots = (found.cluster.snapshot_of(root, found.now) for root in selected_sets(found.cluster, sets))
    checks = [check_gang_fit(snapshot, found.grounds.nodes.values(), found.grounds.tenants) for snapshot in snapshots]
    RENDERERS[output].show(
        page=lambda: topology_check_page(checks, found.grounds, verbose=verbose),
        document=lambda: topology_check_as_json(checks, found.grounds),
    )
    return DONE if all(check.is_success for check in checks) else FAIL_ON
