"""What is released: the wheel and the archive hold what they should, and the wheel does what the README shows."""

import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from email import message_from_string
from email.message import Message
from pathlib import Path
from typing import Final

import pytest
from packaging.version import Version

from docs.generator.man_pages import man_pages
from grove_core.version import VERSION
from grove_shell.catalogue.examples import EXAMPLES
from grove_shell.catalogue.specification_rules import RETIRED_FILE, parse_specification_rules
from grove_shell.policies.ready_policies import ready_policy_names
from release.shared_files import COMPLETIONS
from tests.packaging.building import ROOT, Built, build, run

README: Final = (ROOT / "README.md").read_text(encoding="utf-8")
PACKAGES: Final = ("grove_core", "grove_shell")
PROGRAMS: Final = {"grove", "kubectl-grove", "kubectl_complete-grove", "grove-initc"}
READ_AT_RUN_TIME: Final = {
    "grove_core/py.typed",
    "grove_shell/converge/model/costs.yaml",
    *(f"grove_shell/html/templates/{path.name}" for path in (ROOT / "grove_shell" / "html" / "templates").iterdir()),
    "grove_shell/manifests/definitions.json",
    "grove_shell/manifests/pod_spec.json",
    *(f"grove_shell/policies/ready/{name}.yaml" for name in ready_policy_names()),
    "grove_shell/py.typed",
}
RULES: Final = {
    f"grove_shell/catalogue/specs/{path.name}"
    for path in (ROOT / "specs").glob("*.md")
    if parse_specification_rules(path.read_text("utf-8"), "") or path.name == RETIRED_FILE
}
FOR_USERS: Final = {f"grove_shell/catalogue/examples/{name}.yaml" for name in EXAMPLES}
IN_THE_ARCHIVE: Final = {
    *("CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "NOTICE", "README.md", "noxfile.py", "pyproject.toml"),
    *("benchmarks", "deploy", "docs", "examples", "release", "specs", "tests", *PACKAGES),
}
NOT_IN_THE_ARCHIVE: Final = {".ci", ".git", ".github", "site", "dist", "build"}
SHARED: Final = f"grove_plan-{VERSION}.data/data/"
LARGE: Final = 1 << 20
TYPES_S: Final = 600  # what a type checker may take beside other tests
COMMAND: Final = re.compile(r"^\$ (grove .*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
BLOCK: Final = re.compile(r"```console\n(.*?)```", re.DOTALL)


def sources_of(package: str) -> set[str]:
    """Every file of a package as it stands here; caches come and go."""
    files = (path for path in (ROOT / package).rglob("*") if path.is_file())
    return {path.relative_to(ROOT).as_posix() for path in files if path.parent.name != "__pycache__"}


def names_in(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as opened:
        return set(opened.namelist())


def metadata_of(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as opened:
        (name,) = (name for name in opened.namelist() if name.endswith(".dist-info/METADATA"))
        return message_from_string(opened.read(name).decode())


def test_the_wheel_holds_both_packages_and_nothing_else(built: Built) -> None:
    names = {name for name in names_in(built.wheel) if not name.startswith(SHARED)}
    about = {name.partition(".dist-info/")[2] for name in names if ".dist-info/" in name}
    assert about == {"METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE", "licenses/NOTICE"}
    assert {name for name in names if ".dist-info/" not in name} == {
        *sources_of("grove_core"),
        *sources_of("grove_shell"),
        *RULES,
        *FOR_USERS,
    }
    assert {name for name in names if not name.endswith(".py") and ".dist-info/" not in name} == {
        *READ_AT_RUN_TIME,
        *RULES,
        *FOR_USERS,
    }


class TestRL005:
    """The wheel MUST install manual pages and completions of bash, zsh and fish in those folders of its prefix where
    these programs look for them.
    """

    def test_they_are_below_the_prefix(self, built: Built) -> None:
        names = {name.removeprefix(SHARED) for name in names_in(built.wheel) if name.startswith(SHARED)}
        assert names == {
            "share/bash-completion/completions/grove",
            "share/fish/vendor_completions.d/grove.fish",
            "share/zsh/site-functions/_grove",
            *(f"share/man/man1/{name}" for name in man_pages()),
        }

    def test_a_completion_is_what_the_command_prints(self, built: Built, programs: Path, tmp_path: Path) -> None:
        with zipfile.ZipFile(built.wheel) as opened:
            for shell, path in COMPLETIONS.items():
                printed = run(programs / "grove", "completion", shell, cwd=tmp_path).stdout
                assert opened.read(SHARED + path).decode() == printed.removesuffix("\n")

    @pytest.mark.skipif(shutil.which("man") is None, reason="man is not installed")
    def test_man_finds_them_by_the_path_of_the_program(self, programs: Path, tmp_path: Path) -> None:
        environment = {"PATH": f"{programs}:/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
        found = subprocess.run(
            ("man", "-w", "grove-plan"), env=environment, capture_output=True, text=True, check=False
        )
        assert found.stdout == f"{programs.parent}/share/man/man1/grove-plan.1\n"


def test_the_archive_holds_what_is_needed_to_work_on_it(built: Built) -> None:
    assert {path.name for path in built.unpacked.iterdir()} >= IN_THE_ARCHIVE
    assert {path.name for path in built.unpacked.iterdir()} & NOT_IN_THE_ARCHIVE == set()
    files = [path for path in built.unpacked.rglob("*") if path.is_file()]
    assert {path.name for path in files} & {"__pycache__", ".coverage"} == set()
    assert [path.name for path in files if path.suffix == ".pyc"] == []
    assert [path.name for path in files if path.stat().st_size > LARGE] == []


def test_the_archive_makes_the_same_wheel(built: Built, tmp_path: Path) -> None:
    build(built.unpacked, tmp_path, "--target", "wheel")
    (again,) = tmp_path.glob("*.whl")
    assert again.name == built.wheel.name
    assert again.read_bytes() == built.wheel.read_bytes()


def test_the_image_is_built_from_files_that_make_the_same_wheel(built: Built, tmp_path: Path) -> None:
    """What the first stage of the Dockerfile copies is all that the wheel is made of."""
    for line in (ROOT / "deploy/Dockerfile").read_text("utf-8").splitlines():
        if line.startswith("COPY ") and "/source" in line:
            *sources, target = line.split()[1:]
            for one in sources:
                place = tmp_path / target.lstrip("/") / (one if target.endswith("/") else "")
                place.parent.mkdir(parents=True, exist_ok=True)
                copy = shutil.copytree if (ROOT / one).is_dir() else shutil.copy
                copy(ROOT / one, place)
    build(tmp_path / "source", tmp_path / "made", "--target", "wheel")
    (again,) = (tmp_path / "made").glob("*.whl")
    assert names_in(again) == names_in(built.wheel)


def test_the_wheel_says_what_it_is(built: Built, programs: Path, tmp_path: Path) -> None:
    about = metadata_of(built.wheel)
    reported = (about["Name"], about["Version"], about["License-Expression"])
    assert reported == ("grove-plan", str(Version(VERSION)), "Apache-2.0")
    assert about.get_all("License-File") == ["LICENSE", "NOTICE"]
    assert {path.name for path in programs.iterdir()} >= PROGRAMS
    for program in ("grove", "kubectl-grove"):
        assert run(programs / program, "--version", cwd=tmp_path).stdout == f"grove {VERSION}\n"
    where = run(programs / "python", "-c", "import grove_core; print(grove_core.__file__)", cwd=tmp_path)
    assert where.stdout.startswith(str(programs.parent))


def test_it_does_what_the_readme_shows(built: Built, programs: Path, tmp_path: Path) -> None:
    """Each command, away from the checkout, beside the examples of the archive."""
    (tmp_path / "examples").symlink_to(built.unpacked / "examples")
    shown = [found for block in BLOCK.findall(README) for found in COMMAND.findall(block)]
    assert {shlex.split(command)[1] for command, _ in shown} >= {"plan", "explain", "validate", "simulate", "topology"}
    for command, says in shown:
        done = run(programs / "grove", *shlex.split(command)[1:], cwd=tmp_path)
        assert (command, done.stderr + done.stdout) == (command, says)


def test_the_library_example_runs(built: Built, programs: Path, tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(built.unpacked / "examples")
    code = re.search(r"```python\n(.*?)```", README, re.DOTALL)
    assert code is not None
    done = run(programs / "python", "-c", code[1], "examples/real-cluster.yaml", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "llm-serving/qwen qwen replica 1: the input lacks Nodes" in done.stdout


class TestLB022:
    """``mypy --strict`` and pyright MUST accept every script of ``examples/library`` with the installed wheel."""

    def test_mypy(self, programs: Path, scripts: Path) -> None:
        pytest.importorskip("mypy")
        words = (sys.executable, "-m", "mypy", "--strict", "--cache-dir", scripts.parent / "cache")
        found = ("--python-executable", programs / "python")
        done = run(*words, *found, *sorted(scripts.glob("*.py")), cwd=scripts, timeout=TYPES_S)
        assert (done.returncode, done.stderr) == (0, ""), done.stdout
        (scripts / "wrong.py").write_text("import grove_shell as grove\n\ngrove.plan(5)\n", encoding="utf-8")
        done = run(*words, *found, "wrong.py", cwd=scripts, timeout=TYPES_S)
        assert 'incompatible type "int"; expected "Cluster"' in done.stdout

    def test_pyright(self, programs: Path, scripts: Path) -> None:
        pyright = shutil.which("pyright")
        if pyright is None:
            pytest.skip("pyright is not installed; nox -s library_types installs it")
        done = run(
            pyright, "--pythonpath", programs / "python", *sorted(scripts.glob("*.py")), cwd=scripts, timeout=TYPES_S
        )
        assert done.returncode == 0, done.stdout
        (scripts / "wrong.py").write_text("import grove_shell as grove\n\ngrove.plan(5)\n", encoding="utf-8")
        assert (
            "reportArgumentType"
            in run(pyright, "--pythonpath", programs / "python", "wrong.py", cwd=scripts, timeout=TYPES_S).stdout
        )


@pytest.fixture
def scripts(tmp_path: Path) -> Path:
    """The scripts of ``examples/library``, away from the checkout."""
    return Path(shutil.copytree(ROOT / "examples" / "library", tmp_path / "scripts"))


def test_cl118_it_has_the_examples_with_it(programs: Path, tmp_path: Path) -> None:
    shown = run(programs / "grove", "example", "two-cliques", cwd=tmp_path)
    assert (shown.stdout, shown.stderr) == ((ROOT / "examples/write-a-set/2-two-cliques.yaml").read_text("utf-8"), "")


def test_cl040_it_has_the_rules_with_it(programs: Path, tmp_path: Path) -> None:
    rule = run(programs / "grove", "rules", "GT-033", cwd=tmp_path)
    assert (rule.returncode, rule.stderr) == (0, "")
    assert rule.stdout == run(sys.executable, "-m", "grove_shell", "rules", "GT-033", cwd=ROOT).stdout
    assert "given up; CL-009 has it now" in run(programs / "grove", "rules", "CL-042", cwd=tmp_path).stdout


def test_cl040_a_checkout_reads_its_own(tmp_path: Path) -> None:
    """An editable installation is a path to the checkout."""
    imported = "from grove_shell.catalogue.specification_rules import specification_folder"
    code = f"import sys; sys.path.insert(0, sys.argv[1]); {imported}"
    done = run(sys.executable, "-c", f"{code}; print(specification_folder())", ROOT, cwd=tmp_path)
    assert done.stdout.strip() == str(ROOT / "specs")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete_its_commands(shell: str, programs: Path, tmp_path: Path) -> None:
    script = run(programs / "grove", "completion", shell, cwd=tmp_path)
    assert (script.returncode, script.stderr) == (0, "")
    assert "grove" in script.stdout
    if shell == "bash":
        path = tmp_path / "completion"
        path.write_text(script.stdout, encoding="utf-8")
        loaded = run("bash", "-n", path, cwd=tmp_path)
        assert (loaded.returncode, loaded.stderr) == (0, "")
