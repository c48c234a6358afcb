"""The image of deploy/Dockerfile: what it holds, and its programs as a cluster runs them.

With an image, the tests of this folder run the programs of the image.
"""

import os
import re
import subprocess
from importlib.metadata import metadata
from pathlib import Path
from typing import Final

import pytest

from grove_core.version import VERSION
from release.locked_wheels import LOCKED
from tests.cluster.image import FILES, SITE_PACKAGES, UNPACKED, USER, config_of, distributions, image_command
from tests.command_line.process import GROVE as CHECKOUT
from tests.command_line.process import ROOT

pytestmark = pytest.mark.skipif(not os.environ.get(UNPACKED), reason="needs an image: nox -s image")

ADDED: Final = {"cel-expr-python", "grove-plan"}
_BY_CONTENT: Final = (1).to_bytes(4, "little")
"""The flags of a compiled module that is used without a look at its source."""
_LOCKED: Final = re.compile(r"^([\w-]+)==(\S+)", re.MULTILINE)


@pytest.fixture(scope="module")
def folder() -> Path:
    return Path(os.environ[UNPACKED])


def run(*words: str, feed: str = "") -> "subprocess.CompletedProcess[str]":
    return subprocess.run(image_command(words[0]) + words[1:], check=False, capture_output=True, text=True, input=feed)


def test_rl017_the_image_holds_what_is_locked_and_grove(folder: Path) -> None:
    found = distributions(folder / FILES)
    assert found.keys() >= ADDED
    locked = dict(_LOCKED.findall(LOCKED.read_text(encoding="utf-8")))
    assert {name: version for name, version in found.items() if name not in ADDED} == locked
    assert found["grove-plan"] == VERSION


def test_rl018_the_image_says_what_it_is(folder: Path) -> None:
    config = config_of(folder)
    assert (config["User"], config["Entrypoint"]) == (f"{USER}:{USER}", ["grove"])
    labels = {name.rpartition(".")[2]: value for name, value in config["Labels"].items() if ".opencontainers." in name}
    about = metadata("grove-plan")
    assert (labels["version"], labels["licenses"]) == (VERSION, about["License-Expression"])


def test_rl019_every_user_can_read_the_files_and_write_none(folder: Path) -> None:
    below = folder / FILES / "opt" / "grove"
    found = [(path, path.stat().st_mode) for path in below.rglob("*") if not path.is_symlink()]
    assert found
    assert [path for path, mode in found if not mode & 0o004 or (path.is_dir() and not mode & 0o001)] == []
    assert [path for path, mode in found if mode & 0o022] == []


def test_rl020_compiled_modules_have_no_times(folder: Path) -> None:
    (packages,) = (folder / FILES).glob(SITE_PACKAGES)
    modules = list((packages / "grove_shell").rglob("*.py"))
    compiled = {path.name.partition(".")[0]: path.read_bytes()[4:8] for path in packages.rglob("grove_shell/**/*.pyc")}
    assert modules
    assert {path.stem for path in modules} == compiled.keys()
    assert set(compiled.values()) == {_BY_CONTENT}


@pytest.mark.req("MF-023")
def test_rl019_it_runs_as_the_user_and_cannot_write() -> None:
    code = "import os; print(os.getuid(), os.getgid(), os.access('/', os.W_OK), os.access('/opt/grove', os.W_OK))"
    assert run("python", "-c", code).stdout == f"{USER} {USER} False False\n"


def test_rl021_the_commands_answer_as_those_of_the_checkout() -> None:
    assert run("grove", "--version").stdout == f"grove {VERSION}\n"
    example = (ROOT / "examples" / "degraded.yaml").read_text(encoding="utf-8")
    asked = ("plan", "-f", "-", "--now", "dump")
    ran = run("grove", *asked, feed=example)
    expected = subprocess.run([*CHECKOUT, *asked], check=False, capture_output=True, text=True, input=example)
    assert (ran.returncode, ran.stdout) == (expected.returncode, expected.stdout)
    assert run("grove-initc", "--help").returncode == 0
