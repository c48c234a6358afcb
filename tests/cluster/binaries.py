"""The programs a control plane is made of: where they are, and how they are built.

They are tool dependencies of Go modules beside this file, locked by ``go.sum``; an environment variable chooses the
version of Kubernetes. What was built stands in the cache folder of the user under a name that changes with everything
that went into it, so nothing is built twice.
"""

import contextlib
import fcntl
import hashlib
import os
import platform
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

from tests.cluster.toolchain import LOCAL, not_built, toolchain

HERE: Final = Path(__file__).parent
ASSETS: Final = "KUBEBUILDER_ASSETS"
VERSION: Final = "GROVE_TEST_KUBERNETES"
"""The environment variable that chooses the version of Kubernetes."""
VERSIONS: Final[Mapping[str, tuple[int, int, int]]] = MappingProxyType({"1.37": (1, 37, 2), "1.35": (1, 35, 4)})
_CHOSEN: Final = os.environ.get(VERSION) or "1.37"
KUBERNETES: Final = VERSIONS[_CHOSEN]
FOLDERS: Final[Mapping[str, str]] = MappingProxyType({"1.37": "control_plane", "1.35": "control_plane_1_35"})
COMMAND: Final = "python -m tests.cluster build"

ETCD: Final = "etcd"
APISERVER: Final = "kube-apiserver"
CONTROLLERS: Final = "kube-controller-manager"
SCHEDULER: Final = "kube-scheduler"
KUBELET: Final = "kwok"

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Module:
    """A Go module, and the programs it is there for, each with its package."""

    folder: Path
    packages: Mapping[str, str]
    stamps: Mapping[str, str]

    @property
    def flags(self) -> list[str]:
        """The arguments of ``go build``, except where to put the result. No DWARF saves a fifth of the time."""
        stamps = "".join(f" -X {variable}={value}" for variable, value in self.stamps.items())
        return ["-trimpath", "-buildvcs=false", "-gcflags=all=-dwarf=false", f"-ldflags=-s -w{stamps}"]

    def home(self, cache: Path) -> Path:
        """Where its programs stand when they are built: another place for every other lock file, flag or machine."""
        digest = hashlib.sha256()
        for name in ("go.mod", "go.sum"):
            digest.update((self.folder / name).read_bytes())
        digest.update("\n".join([*self.flags, *self.packages, platform.system(), platform.machine()]).encode())
        return cache / f"{self.folder.name}-{digest.hexdigest()[:16]}"


_VERSION: Final = "k8s.io/component-base/version"
MODULES: Final = (
    Module(
        HERE / FOLDERS[_CHOSEN],
        {
            ETCD: "go.etcd.io/etcd/server/v3",
            APISERVER: "k8s.io/kubernetes/cmd/kube-apiserver",
            CONTROLLERS: "k8s.io/kubernetes/cmd/kube-controller-manager",
            SCHEDULER: "k8s.io/kubernetes/cmd/kube-scheduler",
        },
        {
            f"{_VERSION}.gitVersion": "v{}.{}.{}".format(*KUBERNETES),
            f"{_VERSION}.gitMajor": str(KUBERNETES[0]),
            f"{_VERSION}.gitMinor": str(KUBERNETES[1]),
        },
    ),
    Module(HERE / "kubelet", {KUBELET: "sigs.k8s.io/kwok/cmd/kwok"}, {}),
)
HELM: Final = "helm"
REGISTRY: Final = "registry"
HELM_MODULES: Final = (
    Module(
        HERE / "helm",
        {HELM: "helm.sh/helm/v4/cmd/helm", REGISTRY: "github.com/google/go-containerregistry/cmd/registry"},
        {},
    ),
)
"""Helm and a registry of artifacts: no part of a control plane, and built on request only."""


def cache_folder() -> Path:
    """The folder of the user's cache that is ours; it need not exist yet."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base).absolute() / "grove" / "control-plane"


def find(modules: tuple[Module, ...] = MODULES) -> dict[str, Path]:
    """Path of each program that is there. Assets named by the environment go before what was built."""
    cache = cache_folder()
    places = [(name, module.home(cache) / name) for module in modules for name in module.packages]
    if (assets := os.environ.get(ASSETS)) and modules is MODULES:
        places += [(name, Path(assets).absolute() / name) for name in (ETCD, APISERVER)]
    return {name: path for name, path in places if os.access(path, os.X_OK)}


def from_assets() -> bool:
    """Whether etcd and the API server are the user's own, of a version we do not know."""
    return bool(os.environ.get(ASSETS))


def serve_groups() -> bool:
    """Whether they serve CompositePodGroups, and place gangs in groups."""
    return not from_assets() and KUBERNETES >= (1, 37)


def build(say: Say, modules: tuple[Module, ...] = MODULES) -> dict[str, Path]:
    """Build what is missing, and give the path of every program. Two processes that build at once wait for each other.

    Args:
        say: receives short lines about what is done and how far it is.
        modules: whose programs are built.

    Raises:
        NotBuilt: with the reason.
    """
    cache = cache_folder()
    cache.mkdir(parents=True, exist_ok=True)
    for module in modules:
        if not module.home(cache).is_dir():
            with _locked(cache / "lock", say):
                _build(module, cache, say)
    return find(modules)


@contextlib.contextmanager
def _locked(path: Path, say: Say) -> Iterator[None]:
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another process builds; waiting for it")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _build(module: Module, cache: Path, say: Say) -> None:
    """Build into a folder beside, then rename it, so that a folder of that name always has all the programs."""
    home = module.home(cache)
    if home.is_dir():
        return
    go = toolchain(cache)
    partial = cache / f"{module.folder.name}.partial"
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir()
    started = time.monotonic()
    what = ", ".join(module.packages)
    say(f"building {what} (minutes, the first time)")
    _compile(module, go, partial, lambda count: say(f"building {what}: {count} packages compiled"))
    for name, package in module.packages.items():
        last = [part for part in package.split("/") if part != "v3"][-1]
        (partial / last).rename(partial / name)
    partial.rename(home)
    say(f"built {what} in {time.monotonic() - started:.0f} s")


def _compile(module: Module, go: Path, target: Path, tell: Callable[[int], None]) -> None:
    """Run ``go build``; ``-v`` names each package on a line of its own when it is compiled."""
    environment = {
        **os.environ,
        "CGO_ENABLED": "0",
        "GOFLAGS": "-mod=readonly",
        "GOTOOLCHAIN": LOCAL,
        "GOWORK": "off",
        "GOROOT": "",
    }
    command = [str(go), "build", "-v", *module.flags, "-o", f"{target}{os.sep}", *module.packages.values()]
    count, fault = 0, ""
    with subprocess.Popen(
        command, cwd=module.folder, env=environment, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    ) as process:
        for line in process.stderr or ():
            if " " in line:
                fault = fault or ("" if line.startswith(("go: downloading ", "# ")) else line.strip())
            else:
                count += 1
                if count % 100 == 0:
                    tell(count)
    if process.returncode:
        raise not_built(f"go build in tests/cluster/{module.folder.name} failed", fault or "no reason given")
