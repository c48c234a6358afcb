"""The image of deploy/Dockerfile without a container engine: unpacked, and its programs in a sandbox.

``python -m tests.cluster.image LAYOUT FOLDER`` unpacks an OCI image layout, and prints what the image holds. With that
folder in ``GROVE_TEST_IMAGE``, tests run the programs of the image in place of those of the checkout.
"""

import hashlib
import json
import os
import shlex
import shutil
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.cluster.api import Json

UNPACKED: Final = "GROVE_TEST_IMAGE"
"""The environment variable with the folder of the unpacked image."""
FILES: Final = "files"
CONFIG: Final = "config.json"
SITE_PACKAGES: Final = "opt/grove/lib/python3*/site-packages"
USER: Final = 65532
_REMOVED: Final = ".wh."
_EMPTIED: Final = ".wh..wh..opq"
_KEPT: Final = ("KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT")
_SCRIPT: Final = """
set -e
mount --bind "$1" "$1"
mount -o remount,bind,ro "$1"
mount --rbind /proc "$1/proc"
mount --rbind /dev "$1/dev"
mount -t tmpfs tmpfs "$1/tmp"
mkdir -p "$1"{shared}
mount --bind {shared} "$1"{shared}
files=$1
shift
exec env -i {variables} unshare --user --map-user={user} --map-group={user} --root="$files" --wd=/ "$@"
"""


def image_command(program: str) -> tuple[str, ...]:
    """Return the command that runs a program of the unpacked image with the user of a cluster and read-only files.

    ``/tmp`` can be written, as in the Deployments, and the machine's folder for temporary files, for the files of
    tests. The process keeps its id, so that signals reach the program.
    """
    folder = Path(os.environ[UNPACKED]).absolute()
    variables = [shlex.quote(one) for one in (*config_of(folder).get("Env", ()), "HOME=/")]
    variables += [f"${{{name}+{name}=${name}}}" for name in _KEPT]
    shared = shlex.quote(tempfile.gettempdir())
    script = _SCRIPT.format(shared=shared, variables=" ".join(variables), user=USER)
    return ("unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, "sh", str(folder / FILES), program)


def config_of(folder: Path) -> Json:
    """Return the configuration of the programs of an unpacked image."""
    found: Json = json.loads((folder / CONFIG).read_text(encoding="utf-8"))["config"]
    return found


def unpack(layout: Path, folder: Path) -> list[int]:
    """Unpack an OCI image layout, and return the sizes of its compressed layers.

    Raises:
        ValueError: a blob has another digest than its name says.
    """
    shutil.rmtree(folder, ignore_errors=True)
    files = folder / FILES
    files.mkdir(parents=True)
    index = json.loads((layout / "index.json").read_text(encoding="utf-8"))
    manifest = json.loads(_blob(layout, index["manifests"][0]).read_bytes())
    (folder / CONFIG).write_bytes(_blob(layout, manifest["config"]).read_bytes())
    for layer in manifest["layers"]:
        with tarfile.open(_blob(layout, layer)) as archive:
            archive.extractall(files, members=_kept_members(archive, files), filter="tar")
    (files / tempfile.gettempdir().lstrip("/")).mkdir(parents=True, exist_ok=True)
    return [layer["size"] for layer in manifest["layers"]]


def _blob(layout: Path, descriptor: Json) -> Path:
    algorithm, _, digest = str(descriptor["digest"]).partition(":")
    path = layout / "blobs" / algorithm / digest
    with path.open("rb") as content:
        if hashlib.file_digest(content, algorithm).hexdigest() != digest:
            raise ValueError(f"{path} has another digest")
    return path


def _kept_members(archive: tarfile.TarFile, files: Path) -> Iterator[tarfile.TarInfo]:
    """Yield what is unpacked; what a layer removes of those below it is removed."""
    for member in archive:
        place = files / member.name
        if place.name == _EMPTIED:
            shutil.rmtree(place.parent)
            place.parent.mkdir()
        elif place.name.startswith(_REMOVED):
            removed = place.with_name(place.name.removeprefix(_REMOVED))
            shutil.rmtree(removed) if removed.is_dir() and not removed.is_symlink() else removed.unlink(missing_ok=True)
        elif not member.isdev():
            yield member


def size_of(folder: Path) -> int:
    """Return the bytes of all files below a folder."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def distributions(files: Path) -> dict[str, str]:
    """Return the version of each distribution beside Grove's, by its name as an index normalizes it."""
    found = (path.name.removesuffix(".dist-info") for path in files.glob(f"{SITE_PACKAGES}/*.dist-info"))
    return {name.replace("_", "-").replace(".", "-").lower(): version for name, _, version in _parts(found)}


def _parts(names: Iterator[str]) -> Iterator[tuple[str, str, str]]:
    return (name.partition("-") for name in sorted(names))


def _report(layout: Path, folder: Path) -> Iterator[str]:
    layers = unpack(layout, folder)
    yield f"{sum(layers) / 1e6:7.1f} MB  to download; {layers[-1] / 1e6:.1f} MB of these in the layer of Grove"
    files = folder / FILES
    yield f"{size_of(files) / 1e6:7.1f} MB  unpacked"
    yield f"{size_of(files / 'opt/grove') / 1e6:7.1f} MB  of these below /opt/grove:"
    packages = [path for path in files.glob(f"{SITE_PACKAGES}/*") if path.is_dir() and path.suffix != ".dist-info"]
    yield from (f"{size / 1e6:7.1f} MB    {name}" for size, name in sorted(_sizes(packages), reverse=True)[:6])
    found = distributions(files)
    yield f"{len(found)} distributions: {', '.join(f'{name} {version}' for name, version in found.items())}"


def _sizes(folders: list[Path]) -> Iterator[tuple[int, str]]:
    return ((size_of(path), path.name) for path in folders)


if __name__ == "__main__":
    sys.stdout.writelines(f"{line}\n" for line in _report(Path(sys.argv[1]), Path(sys.argv[2])))
