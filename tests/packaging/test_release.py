"""The parts of a release: bytes, the single file, the krew plugin, checksums. ``nox -s release`` makes all of them."""

import hashlib
import json
import os
import shutil
import stat
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from io import BytesIO
from pathlib import Path
from typing import Final

import pytest
import yaml
from packaging.requirements import Requirement

from grove_core.version import VERSION
from release.__main__ import KEY, arguments_of, main, problems_before, report
from release.artifacts import differing_artifacts, holds_something_else, replace_release
from release.bill_of_materials import bill_of_materials
from release.checksums import NAMESPACE, SIGNATURE, SIGNER, SUMS, sign_checksums, write_checksums
from release.fixed_archives import packed_tar, packed_zip
from release.krew_plugin import ARCHIVE, krew_archive, krew_manifest
from release.locked_wheels import LOCKED, ROOT, locked_text
from release.single_file import packages_of, single_file_content
from release.source_commit import commit_time, differing_files, export_commit

HERE: Final = f"{sys.version_info.major}.{sys.version_info.minor}"
OTHER: Final = "3.9"
SECONDS: Final = 1_764_000_000
MAIN: Final = """\
import sys

import compiled


def main():
    print("ran", sys.argv[1:], compiled.PYTHON, __file__)
    sys.exit(3)
"""


def wheel(folder: Path, name: str, files: dict[str, str], tag: str = "py3-none-any") -> Path:
    """A wheel with these files, and a program that is not for site-packages."""
    path = folder / f"{name}-1.0-{tag}.whl"
    about = {
        f"{name}-1.0.dist-info/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        f"{name}-1.0.data/scripts/{name}": "#!/bin/sh\n",
        f"{name}-1.0.data/purelib/{name}_extra.py": "",
    }
    with zipfile.ZipFile(path, "w") as opened:
        opened.mkdir(f"{name}-1.0.dist-info")
        for inner, text in {**files, **about}.items():
            opened.writestr(inner, text)
    return path


@pytest.fixture
def wheels(tmp_path: Path) -> dict[str, list[Path]]:
    """A package for every Python, and a compiled one for each of two."""
    plain = wheel(tmp_path, "grove_plan", {"grove_shell/__init__.py": "", "grove_shell/__main__.py": MAIN})
    return {
        python: [plain, wheel(tmp_path, "compiled", {"compiled.py": f"PYTHON = '{python}'\n"}, tag)]
        for python, tag in ((HERE, "cp000-cp000-here"), (OTHER, "cp39-cp39-there"))
    }


@pytest.fixture
def single(tmp_path: Path, wheels: dict[str, list[Path]]) -> Path:
    path = tmp_path / "grove.pyz"
    path.write_bytes(single_file_content(wheels, SECONDS))
    path.chmod(0o755)
    return path


def run(path: Path, cache: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {"XDG_CACHE_HOME": str(cache), "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"}
    return subprocess.run((path, *words), env=environment, capture_output=True, text=True, check=False, timeout=60)


class TestRL002:
    """The session MUST refuse a working tree that differs from its commit, unless `--dirty` is given, and name the
    files that differ.
    """

    @pytest.fixture
    def checkout(self, tmp_path: Path) -> Path:
        git = ("git", "-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false")
        (tmp_path / "known").write_text("1")
        for words in (("init", "-q"), ("add", "known"), ("commit", "-q", "-m", "One")):
            environment = os.environ | {"GIT_COMMITTER_DATE": f"{SECONDS} +0000"}
            subprocess.run((*git, *words), cwd=tmp_path, env=environment, check=True)
        return tmp_path

    def test_files_that_differ_are_named(self, checkout: Path) -> None:
        assert differing_files(checkout) == []
        (checkout / "known").write_text("2")
        (checkout / "new").write_text("2")
        assert sorted(differing_files(checkout)) == ["known", "new"]
        exported = export_commit(checkout, checkout / "exported")
        assert {path.name: path.read_text() for path in exported.iterdir()} == {"known": "1"}

    @pytest.mark.req("RL-003")
    def test_the_time_is_that_of_the_commit(self, checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
        assert commit_time(checkout) == SECONDS
        monkeypatch.setenv("SOURCE_DATE_EPOCH", "5")
        assert commit_time(checkout) == 5

    def test_without_a_commit(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
        monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
        assert differing_files(tmp_path) == ["all: this is no checkout of a commit"]
        with pytest.raises(ValueError, match="set SOURCE_DATE_EPOCH"):
            commit_time(tmp_path)


class TestRL003:
    """Artifacts of one commit MUST have the same bytes whenever and wherever in the file system they are made: their
    time is that of the commit, their order and modes are fixed.
    """

    @pytest.mark.parametrize("packed", [packed_zip, packed_tar])
    def test_order_makes_no_difference(self, packed: object) -> None:
        assert callable(packed)
        assert packed({"a": b"1", "b": b"2"}, SECONDS) == packed({"b": b"2", "a": b"1"}, SECONDS)
        assert packed({"a": b"1"}, SECONDS) != packed({"a": b"1"}, SECONDS + 2)

    def test_folders_make_no_difference(self, tmp_path: Path, wheels: dict[str, list[Path]]) -> None:
        (tmp_path / "elsewhere").mkdir()
        moved = {
            python: [Path(shutil.copy(path, tmp_path / "elsewhere")) for path in reversed(paths)]
            for python, paths in wheels.items()
        }
        assert single_file_content(moved, SECONDS) == single_file_content(wheels, SECONDS)

    def test_a_difference_is_found(self, tmp_path: Path) -> None:
        for name, text in (("first/a", "1"), ("second/a", "1"), ("first/b", "1"), ("second/b", "2"), ("second/c", "1")):
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text(text)
        assert differing_artifacts(tmp_path / "first", tmp_path / "second") == ["b", "c"]


class TestRL006:
    """The single file MUST run with every version of Python it was made for, on Linux with glibc on its processor.
    Elsewhere it exits with 1, its requirements and what it found there.
    """

    def test_it_runs_with_the_packages_for_this_python(self, single: Path, tmp_path: Path) -> None:
        done = run(single, tmp_path / "cache", "plan", "-f", "x")
        assert (done.returncode, done.stderr) == (3, "")
        assert done.stdout.startswith(f"ran ['plan', '-f', 'x'] {HERE} {tmp_path / 'cache' / 'grove'}/")

    def test_another_python(self, tmp_path: Path, wheels: dict[str, list[Path]]) -> None:
        path = tmp_path / "old.pyz"
        path.write_bytes(single_file_content({OTHER: wheels[OTHER]}, SECONDS))
        path.chmod(0o755)
        done = run(path, tmp_path / "cache")
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr == (
            f"grove: this file needs Python 3.9 on Linux with glibc (x86_64); here is Python {HERE}\n"
        )
        assert not (tmp_path / "cache").exists()


class TestRL007:
    """The single file MUST unpack itself into the user's cache at its first run, and run from there afterwards. No
    process sees a half unpacked folder, and no other user can write to it.
    """

    def test_it_unpacks_once(self, single: Path, tmp_path: Path) -> None:
        cache = tmp_path / "cache"
        assert run(single, cache).returncode == 3
        (folder,) = (cache / "grove").iterdir()
        (folder / "compiled.py").write_text("PYTHON = 'kept as it is'\n")
        assert " kept as it is " in run(single, cache).stdout
        assert sorted(path.name for path in folder.iterdir() if path.name != "__pycache__") == [
            *("compiled-1.0.dist-info", "compiled.py", "compiled_extra.py"),
            *("grove_plan-1.0.dist-info", "grove_plan_extra.py", "grove_shell"),
        ]
        assert stat.S_IMODE(folder.parent.stat().st_mode) == stat.S_IMODE(folder.stat().st_mode) == 0o700

    def test_many_at_once(self, single: Path, tmp_path: Path) -> None:
        environment = {"XDG_CACHE_HOME": str(tmp_path / "cache"), "PATH": os.environ["PATH"]}
        many = [subprocess.Popen((single,), env=environment, stdout=subprocess.DEVNULL) for _ in range(4)]
        assert [one.wait(60) for one in many] == [3] * 4
        assert len(list((tmp_path / "cache" / "grove").iterdir())) == 1

    def test_a_folder_of_others_is_refused(self, single: Path, tmp_path: Path) -> None:
        shared = tmp_path / "cache" / "grove"
        shared.mkdir(parents=True)
        shared.chmod(0o777)
        done = run(single, tmp_path / "cache")
        assert (done.returncode, done.stdout) == (1, "")
        assert "others can write to it; set XDG_CACHE_HOME to a folder of yours that can be written" in done.stderr

    def test_a_place_that_cannot_be_written(self, single: Path, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        done = run(single, tmp_path / "file")
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith(f"grove: cannot unpack into {tmp_path / 'file' / 'grove'}: Not a directory; set")


class TestRL008:
    """The krew manifest MUST have the version, the digest of the archive beside it, and a selector for each platform
    that the archive runs on and no other.
    """

    def test_the_manifest_is_that_of_the_archive(self) -> None:
        archive = krew_archive(b"#!/usr/bin/env python3\n", {"LICENSE": b"1", "NOTICE": b"2"}, SECONDS)
        manifest = yaml.safe_load(krew_manifest(archive, "https://example.com/a/", "https://example.com"))
        assert manifest["metadata"]["name"] == "grove"
        assert manifest["spec"]["version"] == f"v{VERSION}"
        (platform,) = manifest["spec"]["platforms"]
        assert platform["selector"] == {"matchLabels": {"os": "linux", "arch": "amd64"}}
        assert platform["sha256"] == hashlib.sha256(archive).hexdigest()
        assert platform["uri"] == f"https://example.com/a/{ARCHIVE}"
        with tarfile.open(fileobj=BytesIO(archive)) as opened:
            assert sorted(entry["from"] for entry in platform["files"]) == opened.getnames()
            assert opened.getmember(platform["bin"]).mode == 0o755
        assert len(manifest["spec"]["shortDescription"]) <= 50

    def test_an_unknown_homepage_is_left_out(self) -> None:
        assert "homepage" not in yaml.safe_load(krew_manifest(b"", "https://example.com"))["spec"]


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="OpenSSH is not installed")
class TestRL009:
    """`SHA256SUMS` MUST list every other artifact. With a key it is signed, and the signature is verified before the
    session ends. Without a key the session reports that nothing is signed, and fails with `--signed`.
    """

    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        made = tmp_path / "made"
        made.mkdir()
        (made / "a").write_text("1")
        (made / "b").write_text("2")
        write_checksums(made)
        return made

    @pytest.fixture
    def key(self, tmp_path: Path) -> Path:
        subprocess.run(("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / "key"), check=True)
        return tmp_path / "key"

    def test_a_user_can_check_them(self, folder: Path) -> None:
        done = subprocess.run(("sha256sum", "-c", SUMS), cwd=folder, capture_output=True, text=True, check=True)
        assert done.stdout == "a: OK\nb: OK\n"

    def test_a_user_can_check_the_signature(self, folder: Path, key: Path, tmp_path: Path) -> None:
        (tmp_path / "allowed_signers").write_text(sign_checksums(folder, key))
        words = (
            "ssh-keygen",
            "-Y",
            "verify",
            "-f",
            "../allowed_signers",
            "-I",
            SIGNER,
            "-n",
            NAMESPACE,
            "-s",
            SIGNATURE,
        )
        sums = (folder / SUMS).read_bytes()
        assert subprocess.run(words, cwd=folder, input=sums, capture_output=True, check=False).returncode == 0
        changed = subprocess.run(words, cwd=folder, input=sums.replace(b"a", b"c"), capture_output=True, check=False)
        assert changed.returncode != 0
        first = (folder / SIGNATURE).read_bytes()
        sign_checksums(folder, key)
        assert (folder / SIGNATURE).read_bytes() == first

    def test_a_key_that_is_none(self, folder: Path, tmp_path: Path) -> None:
        (tmp_path / "key").write_text("no key")
        with pytest.raises(subprocess.CalledProcessError):
            sign_checksums(folder, tmp_path / "key")

    def test_without_a_key(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        report(folder, "", is_twice=False)
        assert capsys.readouterr().out.splitlines()[-1] == f"nothing is signed: {KEY} is not set"
        words = ["--signed", "--dirty", "--out", str(folder)]
        assert problems_before(arguments_of(words), "") == [
            f"--signed: set {KEY} to the file of a private key of OpenSSH"
        ]
        assert problems_before(arguments_of(words), "/no/key") == [f"{KEY}: there is no file /no/key"]


def test_rl001_a_folder_of_something_else_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine").write_text("1")
    assert main(["--dirty", "--out", str(tmp_path)]) == 1
    assert capsys.readouterr().err == f"{tmp_path} is not empty and holds no release: name another folder with --out\n"
    assert (tmp_path / "mine").read_text() == "1"


def test_rl001_a_release_takes_the_place_of_the_earlier_one(tmp_path: Path) -> None:
    old, new = tmp_path / "dist", tmp_path / "new"
    for folder, name in ((old, "grove-0.0.1"), (new, "grove-0.0.2")):
        folder.mkdir()
        (folder / name).touch()
        write_checksums(folder)
    assert not holds_something_else(old)
    replace_release(old, new)
    assert sorted(path.name for path in old.iterdir()) == [SUMS, "grove-0.0.2"]


def test_rl010_the_bill_of_materials_lists_what_is_packed(wheels: dict[str, list[Path]], tmp_path: Path) -> None:
    pytest.importorskip("cyclonedx_py")
    needed = wheels[HERE][1:]
    document = bill_of_materials(needed)
    assert {one["name"]: one["version"] for one in document["components"]} == {"compiled": "1.0"}
    itself = document["metadata"]["component"]
    assert (itself["name"], itself["version"], document["bomFormat"]) == ("grove-plan", VERSION, "CycloneDX")
    assert json.dumps(document) == json.dumps(bill_of_materials(needed))
    misnamed = needed[0].rename(tmp_path / "other-1.0-py3-none-any.whl")
    with pytest.raises(ValueError, match="the bill of materials and the single file differ"):
        bill_of_materials([misnamed])


@pytest.mark.req("RL-003")
def test_what_is_locked_is_what_the_project_needs() -> None:
    lines = [line.split(" ")[0] for line in LOCKED.read_text("utf-8").splitlines() if "==" in line]
    versions = dict(line.split("==") for line in lines)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    for needed in map(Requirement, project["dependencies"]):
        assert needed.specifier.contains(versions[needed.name.lower()]), needed


def test_the_lock_has_each_digest_once_and_one_version(wheels: dict[str, list[Path]], tmp_path: Path) -> None:
    found = [path for paths in wheels.values() for path in paths]
    text = locked_text(found)
    assert [line for line in text.splitlines() if "==" in line] == ["compiled==1.0 \\", "grove-plan==1.0 \\"]
    assert text.count("--hash=sha256:") == 3
    (tmp_path / "compiled-2.0-py3-none-any.whl").touch()
    with pytest.raises(ValueError, match=r"two versions of compiled: 1\.0 and 2\.0"):
        locked_text([*found, tmp_path / "compiled-2.0-py3-none-any.whl"])


def test_programs_of_a_wheel_are_left_out(wheels: dict[str, list[Path]]) -> None:
    assert sorted(packages_of(wheels[HERE][1:])) == [
        "compiled-1.0.dist-info/METADATA",
        "compiled.py",
        "compiled_extra.py",
    ]
