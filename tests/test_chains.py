"""Every test runs once, those of clusters in two processes, also where a process crashes."""

from collections import Counter
from random import Random
from types import SimpleNamespace
from typing import Any, Final

from hypothesis import given
from hypothesis import strategies as st

from tests.chains import CHAINS, OF_CLUSTERS, ClusterChains

TESTS: Final = st.builds(
    lambda sizes, others: [
        *(f"{OF_CLUSTERS}test_{file}.py::test_{number}" for file, size in enumerate(sizes) for number in range(size)),
        *(f"tests/other/test_{number}.py::test" for number in range(others)),
    ],
    st.lists(st.integers(1, 5), max_size=7),
    st.integers(0, 30),
)
PROCESSES: Final = 4


class Process:
    """What a scheduler asks of a worker: it keeps the tests that it is sent until they are run."""

    def __init__(self, number: int) -> None:
        self.gateway = SimpleNamespace(id=f"gw{number}")
        self.shutting_down = False
        self.queue: list[int] = []
        self.ran: list[str] = []

    def send_runtest_some(self, indices: list[int]) -> None:
        self.queue += indices

    def shutdown(self) -> None:
        self.shutting_down = True


class Run:
    """A run of tests in some processes, whichever is done first."""

    def __init__(self, tests: list[str], chance: Random) -> None:
        options = SimpleNamespace(loadscopereorder=True)
        config: Any = SimpleNamespace(getvalue=lambda _: [f"{PROCESSES}*popen"], option=options)
        self.tests = tests
        self.chance = chance
        self.chains = ClusterChains(config)
        self.processes: list[Process] = []
        for _ in range(PROCESSES):
            self._add()
        self.chains.schedule()

    def step(self) -> bool:
        """Some process runs its next test; whether there was one."""
        busy: list[Any] = [one for one in self.chains.nodes if one.queue]
        if not busy:
            return False
        process = self.chance.choice(busy)
        process.ran.append(self.tests[process.queue[0]])
        self.chains.mark_test_complete(process, process.queue.pop(0))
        return True

    def crash(self) -> None:
        """Some process ends within a test, and another one takes its place."""
        busy: list[Any] = [one for one in self.chains.nodes if one.queue]
        if busy:
            process = self.chance.choice(busy)
            assert self.chains.remove_node(process) == self.tests[process.queue[0]]
            self._add()
            self.chains.schedule()

    def ran(self) -> Counter[str]:
        """How often each test was run."""
        return Counter(test for process in self.processes for test in process.ran)

    def _add(self) -> None:
        process: Any = Process(len(self.processes))
        self.processes.append(process)
        self.chains.add_node(process)
        self.chains.add_node_collection(process, self.tests)


def clusters(tests: list[str]) -> list[str]:
    """The files of clusters among these tests, in the order in which they were begun."""
    files = [test.partition("::")[0] for test in tests if test.startswith(OF_CLUSTERS)]
    return [file for at, file in enumerate(files) if files[at - 1 : at] != [file]]


@given(TESTS, st.randoms(use_true_random=False))
def test_every_test_runs_once_and_a_file_of_clusters_in_one_process(tests: list[str], chance: Random) -> None:
    run = Run(tests, chance)
    while run.step():
        pass
    assert run.ran() == Counter(tests)
    begun = Counter(file for process in run.processes for file in clusters(process.ran))
    assert set(begun.values()) <= {1}
    assert not run.chains.has_pending


@given(TESTS, st.randoms(use_true_random=False))
def test_two_processes_run_clusters_and_nothing_else_before(tests: list[str], chance: Random) -> None:
    run = Run(tests, chance)
    more = True
    while more:
        files_left = any(scope.startswith(OF_CLUSTERS) for scope in run.chains.workqueue)
        for number, process in enumerate(run.processes):
            sent = {tests[index].startswith(OF_CLUSTERS) for index in process.queue}
            assert sent <= {number < CHAINS} or (number < CHAINS and not files_left)
        more = run.step()


@given(TESTS, st.lists(st.integers(0, 9), max_size=3), st.randoms(use_true_random=False))
def test_what_a_crash_leaves_is_run_elsewhere(tests: list[str], crashes: list[int], chance: Random) -> None:
    run = Run(tests, chance)
    for steps in crashes:
        for _ in range(steps):
            run.step()
        run.crash()
    while run.step():
        pass
    assert run.ran() == Counter(tests)
