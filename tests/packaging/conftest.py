"""One wheel, and one environment with it, for all tests of this folder: they run in one process."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.packaging.building import ROOT, Built, build


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    target = tmp_path_factory.mktemp("dist")
    build(ROOT, target)
    (wheel,), (archive,) = target.glob("*.whl"), target.glob("*.tar.gz")
    subprocess.run(["tar", "-xf", str(archive), "-C", str(target)], check=True, timeout=60)
    return Built(wheel, archive, target / archive.name.removesuffix(".tar.gz"))


@pytest.fixture(scope="session")
def programs(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the programs of a new environment: the wheel, and the packages that it needs from here."""
    home = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True, timeout=60)
    (packages,) = home.glob("lib/python*/site-packages")
    words = ["--python", str(home / "bin/python"), "install", "--no-deps", "--no-index", "--quiet", str(built.wheel)]
    subprocess.run([sys.executable, "-m", "pip", *words], check=True, capture_output=True, timeout=120)
    # Folders that a .pth file names are searched, and the .pth files in them, such as ours for this checkout, are not.
    needed = [path for path in sys.path if path.endswith(("site-packages", "dist-packages"))]
    (packages / "needed.pth").write_text("\n".join(needed), encoding="utf-8")
    return home / "bin"
