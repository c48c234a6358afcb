"""Which process of pytest-xdist runs which tests, where tests with control planes run beside all others."""

from collections import Counter
from functools import cached_property
from typing import Final

from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

OF_CLUSTERS: Final = "tests/cluster/"
CHAINS: Final = 2
"""So many processes run tests of clusters before all else, each with a control plane of its own; never more do."""
_GOLDEN: Final = "tests/golden/test_golden.py"
_TOGETHER: Final = ("tests/golden/test_trace.py", "tests/packaging/")


class ClusterChains(LoadScopeScheduling):  # type: ignore[misc]  # xdist says no types
    """Some processes run the clusters, which wait more than they work, a file at a time; others do the rest.

    A file of clusters stays in one process, so what its fixtures start is started once. Whichever process is done takes
    the next file, so all end at about the same time. Files with few tests come first: they have the longest.

    The tests of a file or folder whose fixture takes long run in one process too, so that it is made once, and so do
    the tests of a golden case, so that its plan is computed once.
    """

    def _split_scope(self, nodeid: str) -> str:
        file, _, test = nodeid.partition("::")
        if file.startswith(OF_CLUSTERS):
            return file
        together = next((part for part in _TOGETHER if file.startswith(part)), "")
        case = test.partition("[")[2]
        return together or (f"{file}[{case}" if file == _GOLDEN and case else nodeid)

    def _assign_work_unit(self, node: WorkerController) -> None:
        """Give a process what is meant for it; without anything of that it ends."""
        found = self._next_for(node)
        if found is None:
            node.shutdown()
            return
        self.workqueue.move_to_end(found, last=False)
        super()._assign_work_unit(node)

    def _next_for(self, node: WorkerController) -> str | None:
        """The next file of clusters for a chain, as long as there is one, else the next of all other tests."""
        chains = [one for one in self.nodes if not one.shutting_down][:CHAINS]
        file = next((file for file in self._files if file in self.workqueue), None) if node in chains else None
        return file or next((scope for scope in self.workqueue if scope not in self._files), None)

    @cached_property
    def _files(self) -> dict[str, int]:
        """How many tests each file of clusters has; the file with the fewest first."""
        files = Counter(nodeid.partition("::")[0] for nodeid in self.collection if nodeid.startswith(OF_CLUSTERS))
        return dict(reversed(files.most_common()))

    def mark_test_complete(self, node: WorkerController, item_index: int, duration: float = 0) -> None:
        """Forget a scope that is done: after each test xdist counts what is left in all that it remembers."""
        scope = self._split_scope(self.registered_collections[node][item_index])
        super().mark_test_complete(node, item_index, duration)
        if all(self.assigned_work[node][scope].values()):
            del self.assigned_work[node][scope]
