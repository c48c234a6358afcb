"""How the suite runs: Hypothesis profiles, what is counted, and the option that rewrites golden files."""

import gc
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import wraps
from importlib import import_module
from pkgutil import walk_packages
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadScopeScheduling

import grove_core
from tests.chains import OF_CLUSTERS, ClusterChains

# A slow or busy machine is no fault of a law, so no profile limits the time of an example. The examples of "ci" are the
# same at every run: four times as many as a mutant of the core is given (tests/mutation/profile.py).
_ANY_SPEED = (HealthCheck.too_slow,)

settings.register_profile("dev", max_examples=50, deadline=None, suppress_health_check=_ANY_SPEED)
settings.register_profile(
    "ci", max_examples=100, deadline=None, derandomize=True, print_blob=True, suppress_health_check=_ANY_SPEED
)
settings.register_profile(
    "night", max_examples=20_000, deadline=None, print_blob=True, suppress_health_check=_ANY_SPEED
)


LONG: Final = (
    "tests/exhaustive/",
    "tests/fault_injection/",
    "tests/integrations/",
    "tests/packaging/",
    "tests/simulation/test_crash_sweep.py",
    "tests/simulation/test_random_runs.py",
    "tests/test_benchmarks.py",
)
"""A run of the whole suite leaves them out unless ``--long`` is given: a quarter of its time is theirs."""


def _profile() -> str:
    """The profile that was asked for; else ``ci`` where ``CI`` is set, and ``dev`` at a desk."""
    in_ci = os.environ.get("CI", "").lower() in {"1", "true"}
    return os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if in_ci else "dev")


settings.load_profile(_profile())


COUNTED: Final = ("tests/golden/", "tests/property/")
UNCOUNTED: Final = (  # of the simulator, and long
    "tests/property/convergence/",
    "tests/golden/test_convergence.py",
    "tests/golden/test_simulation.py",
)


def _is_counted(node: pytest.Item | pytest.Collector) -> bool:
    """Laws and stories have to reach every line of the core."""
    return node.nodeid.startswith(COUNTED) and not node.nodeid.startswith(UNCOUNTED)


def _counting_of(config: pytest.Config) -> Any:
    """What counts lines, with ``pause`` and ``resume``; None without ``--cov``."""
    plugin = config.pluginmanager.getplugin("_cov")
    return None if plugin is None else plugin.cov_controller


@contextmanager
def _counted(node: pytest.Item | pytest.Collector) -> Iterator[None]:
    """Count lines meanwhile, in laws and stories; all else runs three times as fast without."""
    counting = _counting_of(node.config) if _is_counted(node) else None
    if counting is None or counting.started:
        yield
        return
    counting.resume()
    try:
        yield
    finally:
        if counting.started:
            counting.pause()


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Iterator[None]:
    """Collect without counting and without garbage collection, and exempt what is collected from it.

    All that pytest does takes three times as long while lines are counted. A module of the core that is imported
    meanwhile, or later by some other test, would count as not reached, so all are imported before.

    The collected tests and modules stay until the end; each full garbage collection would visit millions of objects
    for nothing.
    """
    counting = _counting_of(session.config)
    if counting is not None:
        if session.config.getoption("dist") == "no":  # else other processes collect
            for module in walk_packages(grove_core.__path__, "grove_core."):
                import_module(module.name)
        counting.pause()
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(request: pytest.FixtureRequest) -> Iterator[Any]:
    """Count lines of a fixture of laws and stories."""
    with _counted(request.node):
        return (yield)


def pytest_configure(config: pytest.Config) -> None:
    """Run whatever is named, long or not, and take interrupts.

    A shell starts background jobs with SIGINT ignored, and the programs under test inherit that.
    """
    if config.getoption("file_or_dir"):
        config.option.long = True
    in_main_thread = threading.current_thread() is threading.main_thread()
    if in_main_thread and signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Let each process of xdist count once: pytest-cov begins twice there, and a pause of the second is none."""
    counting = _counting_of(session.config)
    if hasattr(session.config, "workerinput") and counting is not None:
        counting.pause()


COUNTED_EXAMPLES: Final = 10
"""So many examples of a law are counted; the rest run at full speed. Counting takes two thirds of the time."""


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Count lines of laws and stories, but only of the first examples of a law."""
    with _counted(item), _first_examples(item):
        return (yield)


@contextmanager
def _first_examples(item: pytest.Item) -> Iterator[None]:
    """Count no lines of a law after some examples."""
    handle = getattr(getattr(item, "obj", None), "hypothesis", None)
    counting = _counting_of(item.config)
    if handle is None or counting is None or not counting.started:
        yield
        return
    tried, test = 0, handle.inner_test

    @wraps(test)
    def example(*args: Any, **kwargs: Any) -> Any:
        nonlocal tried
        tried += 1
        if tried == COUNTED_EXAMPLES + 1 and counting.started:
            counting.pause()
        return test(*args, **kwargs)

    handle.inner_test = example
    try:
        yield
    finally:
        handle.inner_test = test


_POLITENESS: Final = 10


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what takes long. Give processes without clusters a lower priority: those with clusters wait for others."""
    if item.nodeid.startswith(LONG) and not item.config.getoption("--long"):
        pytest.skip("takes long: CI=1 nox, or pytest --long")
    beside_clusters = hasattr(item.config, "workerinput") and item.config.getoption("--cluster")
    if beside_clusters and not item.nodeid.startswith(OF_CLUSTERS) and os.nice(0) < _POLITENESS:
        os.nice(_POLITENESS - os.nice(0))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadScopeScheduling | None:
    """Where clusters run too; else xdist decides."""
    return ClusterChains(config, log) if config.getoption("--cluster") else None


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--bless",
        action="store_true",
        help="rewrite the expected files of golden cases with what the program says now; review them like code",
    )
    parser.addoption(
        "--all-crashes", action="store_true", help="let the operator crash at every write of every recorded scenario"
    )
    parser.addoption("--all-faults", action="store_true", help="run every combination of faults, not every pair alone")
    parser.addoption(
        "--gangs",
        type=int,
        default=25,
        metavar="N",
        help="let the scheduler of a real control plane place so many drawn gangs",
    )
    parser.addoption(
        "--long", action="store_true", help="run what takes long too; files and folders that are named always run whole"
    )
    parser.addoption(
        "--cluster",
        action="store_true",
        help="run tests/cluster too, against real control planes (built by: python -m tests.cluster build)",
    )


@pytest.fixture
def bless(request: pytest.FixtureRequest) -> bool:
    """Whether expected files are to be rewritten instead of compared."""
    return bool(request.config.getoption("--bless"))
