"""What is checked, and how. ``nox`` without arguments lints, checks types and tests; ``CI=1 nox`` is what CI runs.

Each session installs what it needs into an environment of its own. With ``--no-venv`` nothing is installed and the
interpreter that runs nox is used, so ``pip install -e '.[test,lint]'`` must have gone before.

Rule for this file: ``tests`` comes last, so that the closing line of pytest is the last line of a good run.
"""

import logging
import os
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import nox

CHECKED: Final = (
    *("grove_core", "grove_shell", "tests", "benchmarks", "docs", "release"),
    *("examples/library", "examples/rule-sets", "noxfile.py"),
)
UNAVAILABLE: Final = 69  # of ``tests.cluster build``: no way to a package index or to Go modules; 1 is a failed build
CHAINS: Final = "2"  # processes that run clusters, each its own: tests/chains.py
TRACE: Final = "tests/golden/test_trace.py"

nox.needs_version = ">=2025.2.9"
nox.options.default_venv_backend = "virtualenv"
nox.options.reuse_venv = "yes"
nox.options.sessions = ["lint", "types", "tests"]


def prepare(session: nox.Session, *extras: str) -> None:
    """Install the project with these extras, unless the session runs in the environment of its caller."""
    if session.venv_backend != "none":
        session.install("-e", f".[{','.join(extras)}]")


def run(
    session: nox.Session,
    module: str,
    *args: str,
    env: dict[str, str] | None = None,
    success_codes: Iterable[int] | None = None,
) -> None:
    """Run a module with the interpreter of the session; the one that runs nox where there is none."""
    bare = session.venv_backend == "none"
    python = sys.executable if bare else "python"
    session.run(python, "-m", module, *args, env=env, success_codes=success_codes, external=bare)


def run_pytest(session: nox.Session, *args: str, profile: str = "ci") -> None:
    """Run pytest on all processors, with a Hypothesis profile that the environment may overrule.

    Compiled modules are kept, also where the environment says otherwise: tests start hundreds of processes, and each
    would compile the project again.
    """
    profile = os.environ.get("HYPOTHESIS_PROFILE") or profile
    env = {"HYPOTHESIS_PROFILE": profile, "PYTHONDONTWRITEBYTECODE": ""}
    run(session, "pytest", "-n", "auto", *args, *session.posargs, env=env)


def build_control_plane(session: nox.Session) -> None:
    """Build its programs; where nothing can be fetched it says why, and the tests that need them are skipped."""
    run(session, "tests.cluster", "build", success_codes=[0, UNAVAILABLE])


@nox.session
def lint(session: nox.Session) -> None:
    """Style, format, and the import contracts."""
    prepare(session, "lint")
    run(session, "ruff", "check", *CHECKED)
    run(session, "ruff", "format", "--check", *CHECKED)
    beside_python = shutil.which("lint-imports", path=str(Path(sys.executable).parent))
    command = (beside_python if session.venv_backend == "none" else None) or "lint-imports"
    session.run(command, "--no-cache", external=session.venv_backend == "none")


@nox.session
def types(session: nox.Session) -> None:
    """Types of the core, the shell, the tests and this file."""
    prepare(session, "test", "lint")
    run(session, "mypy", "--strict", *CHECKED)


@nox.session
def library_types(session: nox.Session) -> None:
    """The scripts of examples/library under mypy and pyright, with the wheel as a user installs it."""
    prepare(session, "test", "lint")
    if session.venv_backend != "none":
        session.install("pyright[nodejs]")
    run_pytest(session, "-n", "0", "tests/packaging", "-k", "TestLB022")


@nox.session
def golden(session: nox.Session) -> None:
    """Stories a user could have sent us."""
    prepare(session, "test")
    run_pytest(session, "tests/golden")


@nox.session(name="property")
def laws(session: nox.Session) -> None:
    """Laws, on clusters that Hypothesis generates."""
    prepare(session, "test")
    run_pytest(session, "tests/property")


@nox.session
def trace(session: nox.Session) -> None:
    """Is every sentence of specs/ linked to code, tests and stories?"""
    prepare(session, "test")
    run_pytest(session, "-n", "0", TRACE)


@nox.session
def night(session: nox.Session) -> None:
    """The same laws, on very many generated clusters."""
    prepare(session, "test")
    run_pytest(session, "tests/property", profile="night")


@nox.session
def worlds(session: nox.Session) -> None:
    """Generated clusters by the thousand, a crash at every write of every recorded scenario, all faults."""
    prepare(session, "test")
    all_areas = ["--seeds", "20000", "-j", "2", "--mnnvl", "--topologies"]
    run(session, "tests.simulation.random_runs", *(session.posargs or all_areas))
    if not session.posargs:
        run(session, "tests.simulation.random_runs", *all_areas, "--groups")
    run(session, "tests.property.domain_cliques.seed_sweep", "--seeds", "20000", "-j", "2")
    run_pytest(session, "tests/simulation/test_crash_sweep.py", "--all-crashes")
    run_pytest(session, "tests/fault_injection", "--all-faults")


@nox.session
def fuzz(session: nox.Session) -> None:
    """Damaged input at every border for ten minutes each, or at those that are named."""
    prepare(session, "test")
    run(session, "tests.fuzz", *session.posargs)


@nox.session
def cluster(session: nox.Session) -> None:
    """What only a real API server can show: its programs are built if need be, and run as two clusters at a time."""
    prepare(session, "test")
    build_control_plane(session)
    run_pytest(session, "-n", CHAINS, "--cluster", "tests/cluster")


@nox.session
def cluster_1_35(session: nox.Session) -> None:
    """Run the main parts of the cluster tests with Kubernetes 1.35, which serves no Workload API of groups."""
    prepare(session, "test")
    session.env["GROVE_TEST_KUBERNETES"] = "1.35"
    build_control_plane(session)
    parts = ("groups_not_served", "live", "mnnvl", "names", "operator_*", "rbac", "starting", "topology*", "webhooks")
    files = sorted(str(path) for part in parts for path in Path("tests/cluster").glob(f"test_{part}.py"))
    run_pytest(session, "-n", CHAINS, "--cluster", *files)


@nox.session
def helm(session: nox.Session) -> None:
    """The Helm chart by Helm itself, which is built if need be (minutes, once): offline, and on a control plane."""
    prepare(session, "test")
    build_control_plane(session)
    run(session, "tests.cluster", "build", "--helm", success_codes=[0, UNAVAILABLE])
    session.env["GROVE_TEST_HELM"] = "1"
    files = ("tests/manifests/test_helm.py", "tests/cluster/test_chart.py", "tests/cluster/test_helm_release.py")
    run_pytest(session, "-n", "0", "--cluster", *files)


@nox.session
def upgrade(session: nox.Session) -> None:
    """From the previous release to this one and back, on a control plane with 1,000 pods; ``-- COMMIT`` names another.

    The previous release is the newest tag before this commit. It is installed into an environment of its own.
    """
    prepare(session, "test")
    build_control_plane(session)
    commit = session.posargs[0] if session.posargs else newest_tag(session)
    session.env["GROVE_TEST_PREVIOUS"] = commit
    run(session, "pytest", "-n", "0", "--cluster", "tests/cluster/test_upgrade.py")


def newest_tag(session: nox.Session) -> str:
    """Return the newest tag before the commit; without one the session ends."""
    command = ("git", "describe", "--tags", "--abbrev=0", "HEAD^")
    found = str(session.run(*command, external=True, silent=True, success_codes=[0, 128]))
    if found.startswith("fatal: "):
        session.error("no tag is before this commit: name a commit of the previous release, nox -s upgrade -- COMMIT")
    return found.strip()


@nox.session
def image(session: nox.Session) -> None:
    """The image by buildah or podman: what it holds, and its programs against a control plane in a sandbox.

    Further arguments go to the build, such as ``-- --build-arg PYTHON_IMAGE=registry.example.com/python:3.13-slim``.
    """
    prepare(session, "test")
    build_control_plane(session)
    builder = shutil.which("buildah") or shutil.which("podman")
    if builder is None:
        session.skip("needs buildah or podman on the PATH")
    layout, unpacked = (Path("build", "image", name).absolute() for name in ("layout", "unpacked"))
    layout.parent.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(layout, ignore_errors=True)
    time = str(session.run("git", "log", "-1", "--format=%ct", external=True, silent=True)).strip()
    words = ("--file", "deploy/Dockerfile", "--format", "oci", "--timestamp", time, "--tag", "grove:session")
    session.run(builder, "build", *words, *session.posargs, ".", external=True)
    session.run(builder, "push", "--quiet", "grove:session", f"oci:{layout}", external=True)
    run(session, "tests.cluster.image", str(layout), str(unpacked))
    session.env["GROVE_TEST_IMAGE"] = str(unpacked)
    files = ("image", "starting", "operator_changes", "operator_leadership", "webhooks")
    run(session, "pytest", "-n", "0", "--cluster", *(f"tests/cluster/test_{one}.py" for one in files))


@nox.session
def browser(session: nox.Session) -> None:
    """Pages of ``--html`` and the documentation site in Chromium, which has to be installed (Debian: ``chromium``)."""
    prepare(session, "test", "browser", "docs")
    run_pytest(session, "-n", "0", "tests/browser")


@nox.session
def docs(session: nox.Session) -> None:
    """The documentation site, into ``site/``; a link that leads nowhere fails it."""
    prepare(session, "docs")
    without_advice = {"NO_MKDOCS_2_WARNING": "1"}  # of the theme: specs/decisions/0020
    run(session, "mkdocs", "build", "--strict", *session.posargs, env=without_advice)


@nox.session
def lowest(session: nox.Session) -> None:
    """Tests with the lowest version of each direct dependency; without `grove watch`, which needs newer ones."""
    if session.venv_backend != "none":
        session.install("uv", "packaging")
        session.run("uv", "pip", "install", "--resolution", "lowest-direct", "-e", ".[policies]")
        session.install("pytest>=8.3", "pytest-cov>=6", "pytest-xdist>=3.6", "hypothesis>=6.110")
        session.install("jsonschema>=4.23", "markdown-it-py>=3", "matplotlib>=3.10.8", "trustme>=1.2")
    run_pytest(session, "tests/golden", "tests/reading", "tests/command_line")


@nox.session
def release(session: nox.Session) -> None:
    """All files of a release into ``dist/``: wheel, single file, krew plugin, checksums; ``-- --help`` has options."""
    prepare(session, "release")
    run(session, "release", *session.posargs)


@nox.session
def audit(session: nox.Session) -> None:
    """Known vulnerabilities of what the single file holds; fails too if the service cannot be asked (needs network)."""
    prepare(session, "audit")
    run(session, "release.audit", *session.posargs)


@nox.session
def mutants(session: nox.Session) -> None:
    """Does some test fail where a line says something else? A tenth of all mutants, or what is asked for."""
    prepare(session, "test", "mutants")
    run(session, "tests.mutation", *(session.posargs or ["--share", "10", "-j", str(os.cpu_count() or 1)]))


@nox.session
def proofs(session: nox.Session) -> None:
    """Gang termination for all numbers and times, by z3 and CrossHair, and for every state of wide scopes (long)."""
    prepare(session, "test", "proofs")
    run(session, "tests.exhaustive", *session.posargs)
    run_pytest(session, "-n", "0", "tests/proofs")


@nox.session
def bench(session: nox.Session) -> None:
    """Times and memory, measured on this machine."""
    prepare(session, "test")
    run(session, "benchmarks", *session.posargs)


@nox.session
def tests(session: nox.Session) -> None:
    """The suite, with the branch coverage of the core.

    Where CI is set, with what takes long and with clusters too. They run beside all else, in two processes.
    """
    prepare(session, "test")
    if os.environ.get("CI", "").lower() in {"1", "true"}:
        build_control_plane(session)
        beside = str((os.cpu_count() or 1) + int(CHAINS))  # the processes with the clusters wait more than they work
        run_pytest(session, "-n", beside, "--cluster", "--long", "--cov")
    else:
        run_pytest(session, "--cov")
    logging.getLogger("nox").setLevel(logging.WARNING)  # nox reports only failures after this line
