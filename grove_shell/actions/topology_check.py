"""``grove topology check``: whether the gangs of sets have a place, by their own topology and by each other one."""

from collections.abc import Iterator

from grove_core.check_topology import Check, check_topology
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.actions.situation import sets_missing
from grove_shell.actions.source import Source
from grove_shell.actions.topology import Read, read
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
    missing = sets_missing(sets, (root.ref for root in found.cluster.sets))
    if missing:
        complain(f"not in the input: {missing}")
        return USAGE
    checks = [_checked(found, snapshot) for snapshot in _chosen(found, sets)]
    if output == "human":
        show(check_page(checks, found.grounds, verbose=verbose))
    else:
        write(as_text(check_as_json(checks, found.grounds), output))
    return DONE if all(check.is_success for check in checks) else FAIL_ON


def _chosen(found: Read, sets: tuple[str, ...]) -> Iterator[Snapshot]:
    wanted = set(sets)
    for root in found.cluster.sets:
        if not wanted or wanted & {root.ref.name, f"{root.ref.namespace}/{root.ref.name}"}:
            yield found.cluster.snapshot_of(root, found.now)


def _checked(found: Read, snapshot: Snapshot) -> Check:
    return check_topology(snapshot, found.grounds.nodes.values(), found.grounds.tenants)
